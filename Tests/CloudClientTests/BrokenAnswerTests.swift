import CloudClient
import Domain
import Gateway
import Testing

/// Answers that no metercloud gives: each is a failure with words, and none a trap or a wait without end.
@Suite(.timeLimit(.minutes(10)))
struct BrokenAnswerTests {
    private let meter = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))

    private func withServer(
        _ reply: WireServer.Reply, patience: Duration = .seconds(30),
        _ body: (CloudClient, WireServer) async throws -> Void
    ) async throws {
        let server = try await WireServer.start(reply)
        let membership = CloudMembership(
            urls: ["http://127.0.0.1:\(server.port)"], zone: "home/é", token: Secret("mgt_x"), pin: nil)
        let client = try CloudClient(membership, patience: patience)
        try await closing(client) { try await body(client, server) }
        try await server.stop()
    }

    private func failure(_ reply: WireServer.Reply, patience: Duration = .seconds(30)) async throws -> SyncFailure? {
        var failure: SyncFailure?
        try await withServer(reply, patience: patience) { client, _ in
            do throws(SyncFailure) {
                _ = try await client.account()
            } catch {
                failure = error
            }
        }
        return failure
    }

    private static func answer(_ status: String, _ body: String, length: Int? = nil, headers: String = "") -> String {
        "HTTP/1.1 \(status)\r\n\(headers)content-length: \(length ?? body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(
        arguments: [
            ("SSH-2.0-OpenSSH_10.0\r\n", .network), ("", .network), ("HTTP/1.1 200 OK\r\ncontent-le", .network),
            (answer("200 OK", #"{"zone":"#, length: 4000), .network), (answer("200 OK", "{}"), .other),
            (answer("200 OK", "<html>hello</html>"), .other), (answer("200 OK", "\u{FFFD}"), .other),
            (
                answer(
                    "200 OK", #"{"epoch":"e","hostID":"pi","hostName":"pi","policy":"keep","serverTime":-1,"zone":"z"}"#
                ), .other
            ),
            (answer("409 Conflict", #"{"error":{"code":"leaseHe"#, length: 400), .network),
            (answer("401 Unauthorized", #"{"error":"#, length: 400), .network),
            (answer("302 Found", "", headers: "location: http://127.0.0.1:1/\r\n"), .other),
            (answer("401 Unauthorized", ""), .notAuthenticated), (answer("403 Forbidden", "no"), .permissionDenied),
            (answer("404 Not Found", "<html>"), .other), (answer("413 Too Large", "{}"), .limitExceeded),
            (answer("429 Slow", ""), .rateLimited), (answer("502 Bad Gateway", "<html>nginx"), .serviceUnavailable),
            (
                answer("410 Gone", #"{"error":{"code":"changeTokenExpired","message":"m"}}"#),
                .changeTokenExpired(epoch: "")
            ),
            (answer("400 Bad", #"{"error":{"code":"ofTheFuture","message":"m"}}"#), .other),
            (
                answer("503 Busy", #"{"error":{"code":"serviceUnavailable","message":"m","retryAfter":1e300}}"#),
                .serviceUnavailable
            ),
        ] as [(String, SyncFailure.Kind)])
    func answer_isAFailure(text: String, kind: SyncFailure.Kind) async throws {
        let failure = try await failure(.closing(text))

        #expect(failure?.kind == kind, "\(failure?.message ?? "no failure")")
    }

    @Test func wait_isADayAtMost_whateverIsAskedFor() async throws {
        let body = #"{"error":{"code":"rateLimited","message":"m","retryAfter":1e300}}"#

        let failure = try await failure(.closing(Self.answer("429 Slow", body)))

        #expect(failure?.retryAfter == .seconds(86_400))
    }

    @Test func silence_isAFailure_afterThePatience() async throws {
        let failure = try await failure(.keeping(""), patience: .milliseconds(50))

        #expect(failure?.kind == .network)
        #expect(failure?.message.hasSuffix("no answer in time") == true)
    }

    @Test func answerThatDripsForEver_isAFailure_afterThePatience() async throws {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{"

        #expect(try await failure(.dripping(head), patience: .milliseconds(200))?.kind == .network)
    }

    /// A cloud that failed may have stored the claim before. What it refuses, it told nobody.
    @Test(
        arguments: [
            ("429 Slow", "rateLimited", nil), ("409 Conflict", "leaseLost", nil),
            ("500 Oops", "internalError", .serviceUnavailable), ("503 Busy", "serviceUnavailable", .serviceUnavailable),
        ] as [(String, String, SyncFailure.Kind?)])
    func refusedCommand_wasNotDone_unlessTheCloudFailed(
        status: String, code: String, kind: SyncFailure.Kind?
    ) async throws {
        let body = #"{"error":{"code":"\#(code)","message":"m"}}"#
        try await withServer(.closing(Self.answer(status, body))) { client, _ in
            var found: (outcome: RelayOutcome?, kind: SyncFailure.Kind?)
            do throws(SyncFailure) {
                found.outcome = try await client.command(
                    RequestID(high: 1, low: 1), .stopRecording, of: meter, token: FencingToken(rawValue: 1))
            } catch {
                found.kind = error.kind
            }
            #expect(found.kind == kind)
            #expect(found.outcome == (kind == nil ? .notDone("m") : nil))
        }
    }

    @Test func answerAboutSomethingElse_isAFailure() async throws {
        let lease = #"{"meter":"02:00:00:00:00:01","result":"released"}"#
        try await withServer(.closing(Self.answer("200 OK", #"{"results":[\#(lease)]}"#))) { client, _ in
            let failure = await #expect(throws: SyncFailure.self) {
                try await client.renew(
                    [HeldLease(meter: meter, token: FencingToken(rawValue: 1))], session: SessionID(high: 1, low: 1))
            }
            #expect(failure?.kind == .other)
        }
        let record = #"{"type":"Host","name":"x"}"#
        let sent = SyncRecord(key: RecordKey(type: .host, name: "y"))
        for answer in [#"{"results":[\#(record)],"serverTime":1}"#, #"{"results":[],"serverTime":1}"#] {
            try await withServer(.closing(Self.answer("200 OK", answer))) { client, _ in
                let failure = await #expect(throws: SyncFailure.self) {
                    try await client.modify(OutboxBatch(records: [sent]))
                }
                #expect(failure?.kind == .other)
            }
        }
    }

    @Test func leaseWithAbsurdTimes_isTakenToWhatIsLegal() async throws {
        let body = """
            {"leases":[{"meter":"\(meter)","state":"held","token":7,"ttl":9223372036854775807,"lockDelay":-1,\
            "policy":"keep","remaining":9223372036854775807,"waiting":[]},\
            {"meter":"x","state":"held","token":7,"ttl":1,"lockDelay":1,"policy":"keep","remaining":1,"waiting":[]}]}
            """
        try await withServer(.closing(Self.answer("200 OK", body))) { client, _ in
            let leases = try await client.leases()

            #expect(leases.map(\.meter) == [meter])
            #expect(leases.first?.terms.timeToLive == .seconds(600))
            #expect(leases.first?.remaining == .seconds(600))
        }
    }

    @Test func zoneAndNames_areOnePartOfThePathEach() async throws {
        try await withServer(.closing(Self.answer("200 OK", #"{"leases":[]}"#))) { client, server in
            _ = try await client.leases()

            #expect(server.received.hasPrefix("GET /v1/zones/home%2F%C3%A9/leases HTTP/1.1\r\n"))
        }
    }

    // MARK: - Event streams

    private static let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

    /// What came, and the error that the stream ended with.
    private func events(_ text: String) async throws -> (events: [CloudEvent], failure: SyncFailure?) {
        var events: [CloudEvent] = []
        var failure: SyncFailure?
        try await withServer(.closing(Self.stream + text)) { client, _ in
            do {
                for try await event in client.events() { events.append(event) }
            } catch {
                failure = error as? SyncFailure
            }
        }
        return (events, failure)
    }

    @Test func unknownEvents_arePassedOver_untilTheStreamBreaks() async throws {
        let (events, failure) = try await events(
            """
            event: weather
            data: sunny

            event: offer
            data: {"offer":{"meter":"nobody","reserved":1}}

            event: offer
            data: {"offer":{"meter":"\(meter)","reserved":9223372036854775807}}

            event: ping
            data: {"serverTime":-5}

            event: ping
            data: {"serverTime":5}


            """)

        #expect(events == [.opened, .offer(meter: meter, reserved: .seconds(86_400)), .ping(serverTime: 5)])
        #expect(failure?.kind == .network)
    }

    @Test(arguments: [
        "event: lease\ndata: {\n\n", "event: ping\ndata: [\"\n\n", "data:x\n\nevent: change\ndata: 5\n\n",
    ])
    func eventThatCannotBeRead_endsTheStream(text: String) async throws {
        let (events, failure) = try await events(text)

        #expect(events == [.opened])
        #expect(failure?.kind == .other)
    }

    @Test func eventWithoutEnd_endsTheStream() async throws {
        let (_, failure) = try await events("data: " + String(repeating: "x", count: 2 << 20))

        #expect(failure?.kind == .other)
    }

    @Test func stream_isRefused_asAnyCallIs() async throws {
        var failure: SyncFailure?
        try await withServer(.closing(Self.answer("401 Unauthorized", ""))) { client, _ in
            do {
                for try await _ in client.events() {}
            } catch {
                failure = error as? SyncFailure
            }
        }

        #expect(failure?.kind == .notAuthenticated)
    }
}
