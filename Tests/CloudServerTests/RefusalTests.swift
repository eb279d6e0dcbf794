import Cloud
import CloudAPI
import CloudServer
import Domain
import Foundation
import Hummingbird
import HummingbirdTesting
import MeterTestKit
import ServerKit
import StoreTestKit
import Testing

/// What the routes do not do, and how they say so: each code of `CloudErrorCode` that they answer with.
@Suite(.timeLimit(.minutes(10)))
struct RefusalTests {
    private let bench: CloudBench

    init() throws { bench = try CloudBench() }

    private func expect(
        _ answer: Answer, _ status: Int, _ code: CloudErrorCode, _ message: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(
            answer.headers[.contentType] == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        #expect(answer.error?.code == code, sourceLocation: sourceLocation)
        #expect(answer.error?.message == message, sourceLocation: sourceLocation)
    }

    // MARK: Who asks

    @Test(arguments: Medium.allCases)
    func noToken_is401_andSaysWhatIsMissing(medium: Medium) async throws {
        try await bench.test(medium) { browser in
            let answer = try await browser.request(.get, "/v1/account")

            expect(
                answer, 401, .notAuthenticated,
                "/v1/account needs a token: the header Authorization: Bearer mgt_…")
            #expect(answer.headers[.wwwAuthenticate] == "Bearer")
        }
    }

    @Test(arguments: Medium.allCases)
    func unknownToken_is401(medium: Medium) async throws {
        try await bench.test(medium) { browser in
            expect(
                try await browser.request(.get, "/v1/account", token: "mgt_unknown"), 401, .notAuthenticated,
                "this token is unknown here; join with one of this cloud")
            expect(
                try await browser.request(.get, "/v1/account", token: "something"), 401, .notAuthenticated,
                "the Authorization header holds no token of this cloud; one is Bearer mgt_…")
        }
    }

    @Test(arguments: Medium.allCases)
    func revokedToken_is401_fromThenOn(medium: Medium) async throws {
        let host = try await bench.host("a")
        try await bench.test(medium) { [service = bench.service] browser in
            #expect(try await browser.request(.get, "/v1/account", token: host.token).status == 200)

            try await service.revokeCredential(host.credential)

            let answer = try await browser.request(.get, "/v1/account", token: host.token)
            #expect(answer.status == 401)
            #expect(answer.error?.code == .notAuthenticated)
        }
    }

    /// Whatever somebody sent, the answer is short, and the end of it is there.
    @Test func endlessText_isNotEchoedWhole() async throws {
        let host = try await bench.host("a")
        let long = String(repeating: "x", count: 20_000)
        try await bench.test(.router) { browser in
            let answers = [
                try await browser.post(
                    "/v1/hosts", token: host.token, JoinRequest(hostID: long, hostName: "a", machine: "m")),
                try await browser.request(.get, "/v1/\(long)", token: host.token),
                try await browser.request(
                    .get, "/v1/zones/home/changes?type=DeviceSettings&limit=\(long)", token: host.token),
            ]
            for (answer, end) in zip(answers, ["one is a UUID", "Not Found", "it takes a whole number"]) {
                #expect(answer.text.utf8.count <= 2100)
                #expect(answer.error?.message.hasSuffix(end) == true, "\(answer.text)")
            }
        }
    }

    @Test func tokenOfAnotherZone_is403_everywhere_andNothingShows() async throws {
        let (stranger, host) = (try await bench.host("b", in: "other"), try await bench.host("a"))
        try await bench.test(.router) { browser in
            _ = try await browser.post(CloudBench.lease("acquire"), token: host.token, CloudBench.acquire("1"))
            for route in CloudRoute.allCases where route.path.contains("{zone}") {
                let path = route.path.replacing("{zone}", with: "home")
                    .replacing("{meter}", with: CloudBench.meter.replacing(":", with: "%3A"))
                    .replacing("{request}", with: CloudBench.uuid("4"))
                let query = route == .changes ? "?type=DeviceSettings" : ""
                let answer = try await browser.request(
                    route.method, path + query, token: stranger.token, Self.body(for: route))

                #expect(answer.status == 403, "\(route): \(answer.text)")
                #expect(answer.error?.code == .permissionDenied)
                #expect(answer.error?.lease == nil)
                #expect(!answer.text.contains("host-a"))
            }
        }
    }

    /// Of all routes there are, so that a new one has to say what it needs.
    @Test func hostThatMayOnlyLook_isRefusedWhereSomethingChanges_andNowhereElse() async throws {
        let (looker, host) = (try await bench.host("b", as: .readOnly), try await bench.host("a"))
        try await bench.test(.router) { browser in
            _ = try await browser.post(CloudBench.lease("acquire"), token: host.token, CloudBench.acquire("1"))
            for route in CloudRoute.allCases where route.needsToken && !Self.isStream(route) {
                let path = route.path.replacing("{zone}", with: "home").replacing("{host}", with: host.id)
                    .replacing("{meter}", with: CloudBench.meter.replacing(":", with: "%3A"))
                    .replacing("{request}", with: CloudBench.uuid("4"))
                let query = route == .changes ? "?type=DeviceSettings" : ""
                let body =
                    route == .join
                    ? #"{"hostID":"\#(looker.id)","hostName":"page","machine":"machine-b"}"# : Self.body(for: route)
                let answer = try await browser.request(route.method, path + query, token: looker.token, body)

                switch route {
                case .join, .account, .createZone, .modifyRecords, .changes, .leases, .meterLog, .answerLog:
                    #expect(answer.status == 200, "\(route): \(answer.text)")
                default:
                    #expect(answer.status == 403, "\(route): \(answer.text)")
                    #expect(answer.error?.code == .readOnly)
                    #expect(answer.error?.message.contains("metercloud token create") == true)
                }
            }
            let leases = try await browser.request(.get, "/v1/zones/home/leases", token: looker.token)
            #expect(try leases.decode(LeaseList.self).leases.map(\.holderID) == [host.id])
            let zone = try await browser.request(.get, "/v1/account", token: host.token)
            #expect(zone.status == 200, "the host is not retired")
        }
    }

    private static func isStream(_ route: CloudRoute) -> Bool { route == .events || route == .watchReadings }

    @Test func hostThatMayOnlyLook_bringsItsOwnHostRecord_andIsToldOfTheOthersOneByOne() async throws {
        let looker = try await bench.host("b", as: .readOnly)
        let stamp = Stamp(
            milliseconds: UInt64(CloudBench.start.millisecondsSince1970), counter: 0,
            host: try #require(HostID(looker.id)))
        let records = [(RecordType.host, looker.id), (.deviceSettings, CloudBench.meter)].map { type, name in
            SyncRecord(
                key: RecordKey(type: type, name: name),
                properties: ["name": Register(value: .string("n"), stamp: stamp)])
        }
        try await bench.test(.router) { browser in
            let answer = try await browser.post(
                "/v1/zones/home/records/modify", token: looker.token, ModifyRequest(records: records))

            #expect(answer.status == 200)
            #expect(try answer.decode(ModifyAnswer.self).results.map(\.error?.code) == [nil, .readOnly])
        }
    }

    private static func body(for route: CloudRoute) -> String? {
        switch route {
        case .modifyRecords: #"{"records":[]}"#
        case .renewLeases: #"{"session":"\#(CloudBench.uuid("1"))","leases":[]}"#
        case .acquireLease:
            #"{"requestID":"\#(CloudBench.uuid("2"))","session":"\#(CloudBench.uuid("3"))","transport":"usb"}"#
        case .relayReadings:
            #"{"session":"\#(CloudBench.uuid("1"))","token":1,"number":1,"missed":0,"readings":[]}"#
        case .commandMeter:
            #"{"requestID":"\#(CloudBench.uuid("4"))","token":1,"action":{"kind":"stopRecording"}}"#
        case .claimCommand: #"{"session":"\#(CloudBench.uuid("1"))","token":1}"#
        case .answerCommand: #"{"token":1,"answer":{"outcome":"done"}}"#
        case .answerLog: #"{"lines":[]}"#
        case .releaseLease: #"{"session":"\#(CloudBench.uuid("1"))","token":1}"#
        default: nil
        }
    }

    /// What copies tell each other takes their own secret: no host's token, and nothing like it.
    @Test func copiesRoutes_areForCopiesAlone() async throws {
        let host = try await bench.host("a")
        try await bench.test(.router) { browser in
            for route in CloudRoute.allCases where route.isForCopies {
                let news = #"{"from":"\#(CloudBench.uuid("1"))","to":"\#(CloudBench.uuid("2"))","address":"https://x"}"#
                for headers in ["Copy \(String(repeating: "0", count: 64))", "Copy", "Copy  ", "Bearer \(host.token)"] {
                    let answer = try await browser.request(route.method, route.path, authorization: headers, news)
                    #expect(answer.status == 401, "\(route) with \(headers.prefix(8))")
                    #expect(answer.error?.code == .notAuthenticated)
                }
            }
        }
    }

    @Test(arguments: Medium.allCases)
    func enrolmentToken_isForJoiningOnly(medium: Medium) async throws {
        let enrolment = try await bench.token(.enrolment)
        try await bench.test(medium) { browser in
            let answer = try await browser.request(.get, "/v1/zones/home/leases", token: enrolment.text)

            #expect(answer.status == 403)
            #expect(answer.error?.code == .permissionDenied)
        }
    }

    @Test func hostIDOfAnotherMachine_is409() async throws {
        _ = try await bench.host("a")
        let enrolment = try await bench.token(.enrolment)
        let host = try await bench.host("a")
        let join = JoinRequest(hostID: host.id, hostName: "copy", machine: "another")
        try await bench.test(.router) { browser in
            let answer = try await browser.post("/v1/hosts", token: enrolment.text, join)

            #expect(answer.status == 409)
            #expect(answer.error?.code == .duplicateHost)
        }
    }

    // MARK: What is asked

    @Test(arguments: Medium.allCases)
    func heldLease_is409_andSaysWhoHasIt(medium: Medium) async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        try await bench.test(medium) { browser in
            _ = try await browser.post(CloudBench.lease("acquire"), token: a.token, CloudBench.acquire("1"))

            let answer = try await browser.post(
                CloudBench.lease("acquire"), token: b.token, CloudBench.acquire("2"))

            #expect(answer.status == 409)
            let error = try #require(answer.error)
            #expect(error.code == .leaseHeld)
            #expect(error.reason == "held")
            #expect(error.lease?.holderName == "host-a")
            #expect(error.lease?.session == nil)
            #expect(answer.headers[.retryAfter] == "135")
        }
    }

    @Test func changeToken_ofAnotherStore_is410_withTheEpoch() async throws {
        let host = try await bench.host("a")
        let token = ChangeToken(epoch: "before", sequence: 3).description
        try await bench.test(.router) { browser in
            let answer = try await browser.request(
                .get, "/v1/zones/home/changes?type=Host&since=\(token)", token: host.token)

            #expect(answer.status == 410)
            #expect(answer.error?.code == .changeTokenExpired)
            #expect(try await answer.error?.epoch == bench.engine.epoch)
        }
    }

    @Test(arguments: Medium.allCases)
    func unknownPath_is404_inTheSameForm(medium: Medium) async throws {
        try await bench.test(medium) { browser in
            expect(
                try await browser.request(.get, "/v1/nothing"), 404, .notFound, "GET /v1/nothing: Not Found")
        }
    }

    @Test(arguments: Medium.allCases)
    func otherMethod_is405_andNamesThoseThereAre(medium: Medium) async throws {
        try await bench.test(medium) { browser in
            let answer = try await browser.request(.put, CloudBench.lease("queue"))

            expect(
                answer, 405, .notFound,
                "/v1/zones/home/leases/02%3A00%3A00%3A00%3A25%3A0C/queue does not take PUT; it takes DELETE, POST")
            #expect(answer.headers[.allow] == "DELETE, POST")
        }
    }

    @Test(arguments: [
        ("{", "it is not valid JSON"), ("", "it is not valid JSON"), ("[]", "the whole has the wrong type"),
        ("{}", "records is missing"),
        (#"{"records":[{"name":"x"}]}"#, "records.Index 0.type is missing"),
        (
            #"{"records":[{"type":"Host","name":"x","properties":{"p":{"value":null,"stamp":"1.2"}}}]}"#,
            "records.Index 0.properties.p.stamp: \"1.2\" is not a stamp; one is <milliseconds>.<counter>.<host>"
        ),
        ("\u{FF}", "it is not valid JSON"),
    ])
    func brokenBody_is400_andSaysWhere(body: String, words: String) async throws {
        let host = try await bench.host("a")
        try await bench.test(.router) { browser in
            expect(
                try await browser.request(.post, "/v1/zones/home/records/modify", token: host.token, body), 400,
                .badRequest, "the request's JSON cannot be read: \(words)")
        }
    }

    @Test(arguments: [
        ("", "/v1/zones/home/changes needs the query parameter type"),
        ("?type=", "/v1/zones/home/changes needs the query parameter type"),
        ("?type=Host&limit=many", "limit cannot be \"many\"; it takes a whole number"),
        ("?type=Host&limit=0", "a page has 1 to 400 records"),
        ("?type=Host&since=x", "\"x\" is not a change token of this cloud; send it as it was given"),
    ])
    func brokenQuery_is400(query: String, message: String) async throws {
        let host = try await bench.host("a")
        try await bench.test(.router) { browser in
            expect(
                try await browser.request(.get, "/v1/zones/home/changes\(query)", token: host.token), 400, .badRequest,
                message)
        }
    }

    @Test(arguments: ["%", "%2", "%zz", "%ff%fe"])
    func brokenPercentEncoding_is400(zone: String) async throws {
        let host = try await bench.host("a")
        try await bench.test(.router) { browser in
            expect(
                try await browser.request(.get, "/v1/zones/\(zone)/leases", token: host.token), 400, .badRequest,
                "\"\(zone)\" is not properly percent-encoded; encode % as %25")
        }
    }

    /// Whoever leaves within a request, or sends a broken one, writes no errors into the cloud's log.
    @Test func bodyThatBreaksOff_isNoErrorOfTheCloud() async throws {
        let host = try await bench.host("a")
        try await bench.test(.socket) { browser in
            let socket = try RawSocket(port: try #require(browser.client.port))
            try socket.send(
                "POST /v1/zones/home/records/modify HTTP/1.1\r\nHost: cloud\r\n"
                    + "Authorization: Bearer \(host.token)\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n")
            _ = await socket.drain()
        }
        #expect(bench.log.entries(saying: "request failed") == [])
    }

    // MARK: Too much

    @Test(arguments: Medium.allCases)
    func oversizedBody_is413(medium: Medium) async throws {
        let host = try await bench.host("a")
        let body = #"{"records":[],"x":""# + String(repeating: "x", count: (1 << 20) + 70_000) + #""}"#
        try await bench.test(medium) { browser in
            expect(
                try await browser.request(.post, "/v1/zones/home/records/modify", token: host.token, body), 413,
                .limitExceeded, "the request's body is longer than 1114112 bytes; split it")
        }
    }

    @Test(arguments: Medium.allCases)
    func recordBeyondTheQuota_isRefusedByItself(medium: Medium) async throws {
        let host = try await bench.host("a")
        let one = QuotaAmount(bytes: 1 << 20, records: 1)
        try await bench.engine.setQuota(ZoneQuota(zone: one, host: one), of: "home")
        let stamp = Stamp(milliseconds: 1_780_000_000_000, counter: 0, host: HostID(high: 1, low: 1))
        let records = ["00:00:00:00:00:01", "00:00:00:00:00:02"].map { name in
            SyncRecord(
                key: RecordKey(type: .deviceSettings, name: name),
                properties: ["a": Register(value: .int(1), stamp: stamp)])
        }
        try await bench.test(medium) { browser in
            let answer = try await browser.post(
                "/v1/zones/home/records/modify", token: host.token, ModifyRequest(records: records))

            #expect(answer.status == 200)
            let results = try answer.decode(ModifyAnswer.self).results
            #expect(results.map(\.error?.code) == [nil, .quotaExceeded])
            #expect(
                results.last?.error?.message
                    == "the zone home has 1 of 1 records, and 00:00:00:00:00:02 needs 1 more; delete what is not needed, or "
                    + "have the limit raised on the cloud's machine: metercloud zone set home --max-records N")
        }
    }

    @Test func bodyOfOneMebibyte_isTaken() async throws {
        let host = try await bench.host("a")
        let body = #"{"records":[],"x":""# + String(repeating: "x", count: (1 << 20) - 20) + #""}"#
        try await bench.test(.router) { browser in
            let answer = try await browser.request(
                .post, "/v1/zones/home/records/modify", token: host.token, body)

            #expect(answer.status == 200)
        }
    }

    @Test func tooManyRecords_is413() async throws {
        let host = try await bench.host("a")
        let records = (0...400).map { SyncRecord(key: RecordKey(type: .host, name: "\($0)")) }
        try await bench.test(.router) { browser in
            expect(
                try await browser.post(
                    "/v1/zones/home/records/modify", token: host.token, ModifyRequest(records: records)),
                413, .limitExceeded, "401 records are too many for one request; send 400")
        }
    }

    @Test(arguments: Medium.allCases)
    func tooManyRequests_are429_untilTimePasses(medium: Medium) async throws {
        var limits = RequestGate.Limits()
        limits.perCredential = Rate(perSecond: 0.5, burst: 3)
        let bench = try CloudBench(limits: limits)
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        try await bench.test(medium) { browser in
            for _ in 0..<3 { #expect(try await browser.request(.get, "/v1/account", token: a.token).status == 200) }

            let answer = try await browser.request(.get, "/v1/account", token: a.token)

            expect(answer, 429, .rateLimited, "too many requests with this token; try again in 2000 ms")
            #expect(answer.error?.retryAfter == 2)
            #expect(answer.headers[.retryAfter] == "2")
            #expect(try await browser.request(.get, "/v1/account", token: b.token).status == 200)
            bench.clock.advance(by: .seconds(2))
            #expect(try await browser.request(.get, "/v1/account", token: a.token).status == 200)
        }
    }

    @Test(arguments: Medium.allCases)
    func guesser_is429_whileGoodTokensWorkFromTheSameAddress(medium: Medium) async throws {
        var limits = RequestGate.Limits()
        limits.perAddress = Rate(perSecond: 1, burst: 2)
        let bench = try CloudBench(limits: limits)
        let host = try await bench.host("a")
        try await bench.test(medium) { browser in
            let statuses = [
                try await browser.request(.get, "/v1/account").status,
                try await browser.request(.get, "/v1/account", token: "mgt_guess").status,
                try await browser.request(.get, "/v1/account", token: "mgt_guess2").status,
                try await browser.request(.get, "/v1/health").status,
                try await browser.request(.get, "/v1/account", token: host.token).status,
            ]

            #expect(statuses == [401, 401, 429, 429, 200])
        }
    }

    // MARK: The cloud itself

    @Test(arguments: Medium.allCases)
    func storeThatFails_is503(medium: Medium) async throws {
        let host = try await bench.host("a")
        bench.engine.fail(with: CloudFailure(.serviceUnavailable, "the disk is full", retryAfter: .milliseconds(2500)))
        try await bench.test(medium) { browser in
            // What a look at the store throws is told to whoever looks after it; when to look again is its own word.
            for (path, token, wait) in [("/v1/account", host.token as String?, 2.5), ("/v1/health", nil, 10)] {
                let answer = try await browser.request(.get, path, token: token)

                expect(answer, 503, .serviceUnavailable, "the disk is full")
                #expect(answer.error?.retryAfter == wait)
                #expect(answer.headers[.retryAfter] == "\(Int(wait.rounded(.up)))")
            }
        }
    }

    @Test func everyCode_hasAStatusOfItsKind() {
        let statuses = CloudErrorCode.allCases.map { CloudErrorStatus.of($0).code }

        #expect(statuses == [401, 403, 403, 404, 410, 410, 410, 413, 429, 503, 507, 422, 400, 409, 409, 404, 409, 500])
    }
}
