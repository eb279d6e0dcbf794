import Cloud
import CloudAPI
import CloudServer
import Domain
import Foundation
import Hummingbird
import HummingbirdTesting
import MeterTestKit
import ServerKit
import Testing

/// What the routes answer when all is well, on the router and on a socket.
@Suite(.timeLimit(.minutes(10)))
struct RoutesTests {
    private let bench: CloudBench

    init() throws { bench = try CloudBench() }

    @Test(arguments: Medium.allCases)
    func health_needsNoToken(medium: Medium) async throws {
        try await bench.test(medium) { browser in
            let answer = try await browser.request(.get, "/v1/health")

            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == "application/json; charset=utf-8")
            #expect(answer.text == #"{"status":"ok","version":"1.2.3"}"#)
        }
    }

    @Test(arguments: Medium.allCases)
    func metrics_countWhatWasAnswered(medium: Medium) async throws {
        try await bench.test(medium) { browser in
            _ = try await browser.request(.get, "/v1/health")
            _ = try await browser.request(.get, "/v1/account")
            _ = try await browser.request(.get, "/v1/zones/evil%22%0A/leases", token: "mgt_x")
            _ = try await browser.request(.get, "/nothing/like/it")

            let page = try await browser.request(.get, "/metrics")

            #expect(page.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = page.text.split(separator: "\n")
            for line in [
                #"metercloud_requests_total{route="account",status="401"} 1"#,
                #"metercloud_requests_total{route="health",status="200"} 1"#,
                #"metercloud_requests_total{route="leases",status="401"} 1"#,
                #"metercloud_requests_total{route="none",status="404"} 1"#,
                #"metercloud_request_duration_seconds_count{route="health"} 1"#,
                "metercloud_streams 0", "metercloud_records 7", "# TYPE metercloud_records gauge",
            ] {
                #expect(lines.contains { $0 == line }, "\(line) is missing in\n\(page.text)")
            }
            #expect(!page.text.contains("evil"))
        }
    }

    @Test(arguments: Medium.allCases)
    func host_joinsWithAnEnrolmentToken_andUsesItsOwn(medium: Medium) async throws {
        let enrolment = try await bench.token(.enrolment)
        let join = JoinRequest(hostID: CloudBench.uuid("a"), hostName: "Bench Pi", machine: "m1")
        try await bench.test(medium) { browser in
            let joined = try await browser.post("/v1/hosts", token: enrolment.text, join)

            #expect(joined.status == 200)
            let answer = try joined.decode(JoinAnswer.self)
            #expect(answer.zone == "home")
            let token = try #require(answer.token)
            let account = try await browser.request(.get, "/v1/account", token: token)
            let (epoch, zone) = (try await bench.engine.epoch, try #require(await bench.engine.zone("home")))
            #expect(
                account.text
                    == #"{"epoch":"\#(epoch)","hostID":"\#(CloudBench.uuid("a"))","hostName":"Bench Pi","policy":"keep","#
                    + #""role":"full","serverTime":1780000000000,"zone":"home","zoneID":"\#(zone.id)"}"#)
        }
    }

    @Test(arguments: Medium.allCases)
    func zone_isThere_howeverOftenItIsMade(medium: Medium) async throws {
        let host = try await bench.host("a")
        try await bench.test(medium) { browser in
            for _ in 0..<2 {
                let answer = try await browser.request(.put, "/v1/zones/home", token: host.token)

                #expect(answer.status == 200)
                #expect(try answer.decode(AccountBody.self).zone == "home")
            }
        }
    }

    @Test(arguments: Medium.allCases)
    func record_thatOneHostWrites_isThereForAnother(medium: Medium) async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        let stamp = Stamp(milliseconds: 1_780_000_000_000, counter: 0, host: try #require(HostID(a.id)))
        let record = SyncRecord(
            key: RecordKey(type: .deviceSettings, name: CloudBench.meter),
            properties: ["name": Register(value: .string("Bench"), stamp: stamp)])
        try await bench.test(medium) { browser in
            let modified = try await browser.post(
                "/v1/zones/home/records/modify", token: a.token, ModifyRequest(records: [record]))
            #expect(modified.status == 200)
            #expect(
                modified.text
                    == #"{"results":[{"name":"02:00:00:00:25:0C","type":"DeviceSettings"}],"serverTime":1780000000000}"#
            )

            let page = try await browser.request(
                .get, "/v1/zones/home/changes?type=DeviceSettings&limit=10", token: b.token
            ).decode(ChangesBody.self)
            #expect(page.records == [record])
            #expect(!page.moreComing)
            let rest = try await browser.request(
                .get, "/v1/zones/home/changes?type=DeviceSettings&since=\(page.changeToken)", token: b.token
            ).decode(ChangesBody.self)
            #expect(rest.records.isEmpty)
        }
    }

    @Test(arguments: Medium.allCases)
    func lease_isTaken_renewed_listed_andGivenBack(medium: Medium) async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        let clock = bench.clock
        try await bench.test(medium) { browser in
            let acquired = try await browser.post(
                CloudBench.lease("acquire"), token: a.token, CloudBench.acquire("1"))
            #expect(acquired.status == 200)
            let lease = try acquired.decode(LeaseBody.self)
            #expect(lease.state == "held")
            #expect(lease.remaining == 120_000)

            clock.advance(by: .seconds(30))
            let renewal = RenewRequest(
                session: CloudBench.uuid("1"), leases: [.init(meter: CloudBench.meter, token: lease.token)])
            let renewed = try await browser.post("/v1/zones/home/leases/renew", token: a.token, renewal)
            #expect(try renewed.decode(RenewAnswer.self).results.map(\.result) == ["renewed"])

            let listed = try await browser.request(.get, "/v1/zones/home/leases", token: b.token)
            let others = try listed.decode(LeaseList.self).leases
            #expect(others.map(\.holderName) == ["host-a"])
            #expect(others.map(\.session) == [nil])

            let release = ReleaseRequest(session: CloudBench.uuid("1"), token: lease.token)
            let released = try await browser.post(CloudBench.lease("release"), token: a.token, release)
            #expect(try released.decode(LeaseBody.self).state == "free")
        }
    }

    @Test(arguments: Medium.allCases)
    func lease_isRevoked_byAnyHostOfTheZone(medium: Medium) async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        try await bench.test(medium) { browser in
            _ = try await browser.post(CloudBench.lease("acquire"), token: a.token, CloudBench.acquire("1"))

            let revoked = try await browser.request(.post, CloudBench.lease("revoke"), token: b.token)

            #expect(revoked.status == 200)
            #expect(try revoked.decode(LeaseBody.self).state != "held")
        }
    }

    @Test(arguments: Medium.allCases)
    func waitingHost_isListed_andLeaves(medium: Medium) async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        let listening = try await bench.service.events(in: "home", by: b.principal)
        try await bench.test(medium) { browser in
            _ = try await browser.post(CloudBench.lease("acquire"), token: a.token, CloudBench.acquire("1"))

            let waiting = try await browser.request(.post, CloudBench.lease("queue"), token: b.token)
            let gone = try await browser.request(.delete, CloudBench.lease("queue"), token: b.token)

            #expect(try waiting.decode(LeaseBody.self).waiting == ["host-b"])
            #expect(try gone.decode(LeaseBody.self).waiting.isEmpty)
        }
        withExtendedLifetime(listening) {}
    }

    @Test func everyRoute_isOnTheRouter_withItsTokenRule() async throws {
        try await bench.test(.router) { browser in
            for route in CloudRoute.allCases {
                let path = route.path.replacing("{zone}", with: "home").replacing("{meter}", with: "m")
                let answer = try await browser.request(route.method, path)

                #expect(answer.status == (route.needsToken || route.isForCopies ? 401 : 200), "\(route)")
            }
        }
    }
}
