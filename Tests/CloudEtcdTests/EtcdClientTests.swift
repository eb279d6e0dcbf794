import Cloud
import Domain
import Logging
import MeterTestKit
import Synchronization
import Testing

@testable import CloudEtcd

/// How members are asked: in which order, how often, with which ticket, and what is believed. On virtual time, with
/// members that answer from a list.
struct EtcdClientTests {
    /// Time that passes only where somebody waits.
    private final class Waits: Sendable {
        private let time = Mutex<(now: MonotonicTime, pauses: [Duration])>((.origin, []))

        var pauses: [Duration] { time.withLock { $0.pauses } }

        var clock: CloudClock {
            CloudClock(
                now: { [self] in time.withLock { $0.now } }, wallNow: { WallTime(millisecondsSince1970: 0) },
                sleep: { [self] until in
                    time.withLock { time in
                        time.pauses.append(until - time.now)
                        time.now = until
                    }
                })
        }
    }

    private let waits = Waits()

    /// - Parameter user: whether etcd has users.
    private func withClient(
        _ members: [ScriptedMember], patience: Duration = .seconds(8), answerTimeout: Duration = .seconds(60),
        user: Bool = false, _ body: (EtcdClient) async throws -> Void
    ) async throws {
        var settings = EtcdSettings(urls: members.map(\.url))
        settings.patience = patience
        settings.answerTimeout = answerTimeout
        if user { (settings.user, settings.password) = ("u", "p") }
        let client = try EtcdClient(
            settings, clock: waits.clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await body(client)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
        for member in members { try await member.close() }
    }

    private let anything = EtcdTransaction()

    private static func done(_ revision: Int64 = 5) -> ScriptedMember.Answer {
        .init(#"{"header":{"revision":"\#(revision)"},"succeeded":true}"#)
    }

    private static let noTicket = ScriptedMember.Answer(401, #"{"error":"etcdserver: invalid auth token"}"#)
    private static let noLeader = ScriptedMember.Answer(503, #"{"error":"etcdserver: no leader"}"#)

    @Test(arguments: [("/certificate.pem", nil), (nil, "/key.pem")] as [(String?, String?)])
    func certificateAndKey_goTogether(certificate: String?, key: String?) {
        var settings = EtcdSettings(urls: ["https://127.0.0.1:1"])
        (settings.certificate, settings.key) = (certificate, key)

        let error = #expect(throws: EtcdError.self) {
            _ = try EtcdClient(
                settings, clock: waits.clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }

        #expect(error?.code == .badSetting)
        #expect(error?.message.contains("Give both files") == true)
    }

    // MARK: Members

    /// Each member once, then a pause, which doubles up to half a second; and no longer than there is patience.
    @Test(arguments: [(8000, 14), (1120, 0), (1121, 1), (2120, 2)])
    func members_areAskedInTurn_untilPatienceEnds(patience: Int, long: Int) async throws {
        let members = [try await ScriptedMember([]), try await ScriptedMember([])]
        try await withClient(members, patience: .milliseconds(patience)) { client in
            let life = client.life

            let error = await failure { _ = try await client.commit(anything) }

            #expect(error?.isWorthAnotherTry == true)
            let pauses = [20, 40, 80, 160, 320] + Array(repeating: 500, count: long)
            #expect(waits.pauses == pauses.map { .milliseconds($0) })
            for member in members { #expect(member.requests.count == pauses.count + 1) }
            #expect(client.life - life == UInt64(2 * (pauses.count + 1)), "the store may have gone back")
        }
    }

    /// However many ask: while two requests are under way, the keys of the others gather for the next.
    @Test func readsOfManyCallers_areTwoRequests_untilOneIsAnswered() async throws {
        let member = try await ScriptedMember { $0.body.contains("request_range") ? .silence : Self.done() }
        @Sendable func count() -> Int { member.requests.count { $0.body.contains("request_range") } }
        try await withClient([member], patience: .zero) { client in
            let work = SharedWork()
            let reads = SharedReads(client: client, work: work)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 as Range<UInt8> {
                    group.addTask { _ = await failure { _ = try await reads.entry([number]) } }
                    if number < 2 { try await eventually("it is asked") { count() == Int(number) + 1 } }
                }
                // By then a further one had come as well.
                for _ in 0..<20 { _ = try await client.commit(anything) }
                #expect(count() == 2)
                await work.end()
            }
        }
    }

    @Test func memberThatAnswers_isAskedFromThenOn_andPausesBeginAnew() async throws {
        let (first, second) = (
            try await ScriptedMember([Self.done()]),
            try await ScriptedMember([Self.noLeader, Self.noLeader, Self.done(), Self.done(), Self.noLeader])
        )
        try await withClient([first, second]) { client in
            #expect(try await !client.commit(anything).mayBeDoneBefore)
            let answer = try await client.commit(anything)
            #expect(answer.mayBeDoneBefore, "it may have arrived where nobody answered")
            #expect(waits.pauses == [.milliseconds(20), .milliseconds(40)])
            #expect((first.requests.count, second.requests.count) == (4, 3))
            #expect(try await !client.commit(anything).mayBeDoneBefore)
            #expect((first.requests.count, second.requests.count) == (4, 4), "the one that answered last")
            _ = await failure { _ = try await client.commit(anything) }
            #expect(waits.pauses[2] == .milliseconds(20))
        }
    }

    /// It may be carried out yet. The client's deadline is in real time, and on a busy machine opening a connection takes
    /// some of it.
    @Test func silence_isTooLate_andNotOutOfReach() async throws {
        let member = try await ScriptedMember { _ in .silence }
        try await withClient([member], patience: .zero, answerTimeout: .seconds(5)) { client in
            let error = await failure { _ = try await client.commit(anything) }

            #expect(error?.code == .timedOut, "\(error?.message ?? "")")
            #expect(error?.message.contains("does not answer in time") == true)
        }
    }

    @Test func refusal_isNotAskedAgain() async throws {
        let member = try await ScriptedMember([
            .init(403, #"{"error":"etcdserver: permission denied"}"#), Self.noTicket, Self.done(),
        ])
        try await withClient([member]) { client in
            #expect(await failure { _ = try await client.commit(anything) }?.code == .permissionDenied)
            #expect(await failure { _ = try await client.commit(anything) }?.code == .notAuthenticated)
            #expect(member.requests.count == 2)
            #expect(waits.pauses.isEmpty)
        }
    }

    // MARK: Tickets

    /// Asked for once, and anew where it is not good any more: once a call.
    @Test func ticket_isAskedForAnew_onceACall() async throws {
        func ticket(_ text: String) -> ScriptedMember.Answer { .init(#"{"header":{},"token":"\#(text)"}"#) }
        let member = try await ScriptedMember([
            ticket("t1"), Self.noTicket, ticket("t2"), Self.done(), Self.done(), Self.noTicket, ticket("t3"),
            Self.noTicket, Self.done(),
        ])
        try await withClient([member], user: true) { client in
            _ = try await client.commit(anything)
            _ = try await client.commit(anything)
            #expect(await failure { _ = try await client.commit(anything) }?.code == .notAuthenticated)
            _ = try await client.commit(anything)

            #expect(
                member.requests.map { $0.ticket ?? "-" } == ["-", "t1", "-", "t2", "t2", "t2", "-", "t3", "t3"])
            let login = try #require(member.requests.first)
            #expect(login.path == "/v3/auth/authenticate")
            #expect(login.body.contains(#""name":"u""#) && login.body.contains(#""password":"p""#))
            #expect(member.requests[1].path == "/v3/kv/txn")
        }
    }

    @Test func refusedPassword_isToldApart_fromAMemberWithoutALeader() async throws {
        let wrong = ScriptedMember.Answer(400, #"{"error":"etcdserver: authentication failed"}"#)
        let member = try await ScriptedMember([
            wrong, wrong, Self.noLeader, .init(#"{"header":{},"token":"t"}"#), Self.done(),
        ])
        try await withClient([member], user: true) { client in
            let error = await failure { _ = try await client.commit(anything) }
            #expect(error?.code == .notAuthenticated)
            #expect(error?.message.contains("the user or the password") == true)
            #expect(member.requests.count == 2)
            let answer = try await client.commit(anything)
            #expect(answer.succeeded)
        }
    }

    // MARK: What is believed

    @Test func storeThatWentBack_isNeverAskedAgain() async throws {
        let without = ScriptedMember.Answer(#"{"header":{},"succeeded":true}"#)
        let member = try await ScriptedMember([
            Self.done(5), Self.done(5), Self.done(7), without, Self.done(6), Self.done(9),
        ])
        try await withClient([member]) { client in
            for revision in [5, 5, 7, 0] {
                let answer = try await client.commit(anything)
                #expect(answer.revision == revision)
            }
            for _ in 0..<2 {
                let error = await failure { _ = try await client.commit(anything) }
                #expect(error?.code == .wentBack)
                #expect(error?.message.contains("is at revision 6, and 7 was seen before") == true)
            }
            #expect(member.requests.count == 5)
        }
    }

    /// Whoever restores a store, or makes another, begins another life of it; so does each new leader.
    @Test func life_isAnother_whenMembersOrTheirTermAre() async throws {
        func answer(_ reign: String) -> ScriptedMember.Answer { .init(#"{"header":{"revision":"1"\#(reign)}}"#) }
        let rows: [(reign: String, isAnother: Bool)] = [
            (#","cluster_id":"7","raft_term":"2""#, false), (#","cluster_id":"7","raft_term":"2""#, false),
            (#","cluster_id":"7","raft_term":"3""#, true), (#","cluster_id":"7","raft_term":"3""#, false), ("", false),
            (#","cluster_id":"8","raft_term":"3""#, true), (#","cluster_id":"7","raft_term":"3""#, true),
        ]
        let member = try await ScriptedMember(rows.map { answer($0.reign) })
        try await withClient([member]) { client in
            for (index, row) in rows.enumerated() {
                let before = client.life
                _ = try await client.commit(anything)
                #expect((client.life != before) == row.isAnother, "row \(index)")
            }
        }
    }

    // MARK: Reading

    private func page(_ revision: Int64, _ keys: [String], more: Bool) -> ScriptedMember.Answer {
        let entries = keys.map { #"{"key":"\#($0)"}"# }.joined(separator: ",")
        return .init(
            #"{"header":{"revision":"\#(revision)"},"succeeded":true,"responses":[{"response_range":{"kvs":[\#(entries)],"#
                + #""more":\#(more)}}]}"#)
    }

    /// The second page begins behind the last key of the first: in the same state, or in the present one.
    @Test(arguments: [true, false])
    func pages_followOneAnother(isOfOneState: Bool) async throws {
        let member = try await ScriptedMember([
            page(9, ["YQ==", "Yg=="], more: true), page(12, ["Yw=="], more: false), page(20, [], more: false),
        ])
        try await withClient([member]) { client in
            var keys: [[UInt8]] = []
            let range = EtcdRange(prefix: Array("a".utf8))

            let revision = try await client.readAll(range, isOfOneState: isOfOneState) { keys.append($0.key) }

            #expect(revision == 9)
            #expect(keys == ["a", "b", "c"].map { Array($0.utf8) })
            let bodies = member.requests.map(\.body)
            #expect(bodies.count == 2)
            #expect(bodies.allSatisfy { $0.contains(#""limit":"2000""#) && $0.contains(#""range_end":"Yg==""#) })
            #expect(bodies[0].contains(#""key":"YQ==""#) && !bodies[0].contains(#""revision""#))
            #expect(bodies[1].contains(#""key":"YgA=""#))
            #expect(bodies[1].contains(#""revision":"9""#) == isOfOneState)
        }
    }

    @Test func answer_ofFewerRangesThanAsked_isGarbage() async throws {
        let member = try await ScriptedMember([page(9, [], more: false), page(9, [], more: false)])
        try await withClient([member]) { client in
            let range = EtcdRange(key: [1])
            #expect(await failure { _ = try await client.read([range, range]) }?.code == .garbage)
            let found = try await client.read([range])
            #expect(found.ranges.count == 1)
        }
    }

    // MARK: Watching

    struct Watch: CustomStringConvertible, Sendable {
        var status = 200
        var lines: [String]
        var begins = 0
        var events = 0
        var code: EtcdError.Code?
        /// Whether the next call goes to the other member.
        var isGivenUp: Bool

        var description: String { "\(status) \(lines.last ?? "")" }
    }

    private static let created = #"{"result":{"header":{},"created":true}}"#
    private static let event = #"{"result":{"header":{},"events":[{"kv":{"key":"YQ=="}},{"kv":{"key":"Yg=="}}]}}"#
    private static let canceled = #"{"result":{"header":{},"canceled":true,"cancel_reason":"old"}}"#

    private static let watches = [
        Watch(lines: [created, event, "{}", event], begins: 1, events: 4, isGivenUp: true),
        Watch(lines: [created, canceled], begins: 1, isGivenUp: false),
        Watch(lines: [canceled, created], code: .refused, isGivenUp: false),
        Watch(lines: [#"{"error":{"message":"etcdserver: no leader"}}"#], code: .noLeader, isGivenUp: true),
        Watch(
            lines: [#"{"error":{"message":"etcdserver: invalid auth token"}}"#], code: .notAuthenticated,
            isGivenUp: false),
        // Words that JSON has to escape.
        Watch(
            lines: [#"{"error":{"message":"user \"u\": permission denied"}}"#], code: .permissionDenied,
            isGivenUp: false),
        Watch(lines: [created, "hello", event], begins: 1, isGivenUp: true),
        Watch(lines: ["hello"], code: .garbage, isGivenUp: true), Watch(lines: [], code: .unreachable, isGivenUp: true),
        Watch(status: 404, lines: [created], code: .refused, isGivenUp: false),
    ]

    @Test(arguments: watches)
    func watch_tellsWhatItHears_andHowItEnded(_ watch: Watch) async throws {
        let lines = watch.lines.map { $0 + "\n" }.joined()
        let members = [
            try await ScriptedMember([.init(watch.status, lines), Self.done()]),
            try await ScriptedMember([Self.done()]),
        ]
        try await withClient(members) { client in
            let life = client.life
            var (begins, events) = (0, 0)

            let error = await failure {
                try await client.watch(
                    EtcdRange(prefix: Array("w/".utf8)), onStart: { begins += 1 }, { events += $0.count })
            }

            #expect(error?.code == watch.code)
            #expect(begins == watch.begins)
            #expect(events == watch.events)
            #expect((client.life != life) == watch.isGivenUp)
            let request = try #require(members[0].requests.first)
            #expect(request.path == "/v3/watch")
            #expect(request.body == #"{"create_request":{"key":"dy8=","range_end":"dzA="}}"#)
            _ = try await client.commit(anything)
            #expect(members.map(\.requests.count) == (watch.isGivenUp ? [1, 1] : [2, 0]))
        }
    }

    @Test func watchThatIsRefused_forgetsItsTicket() async throws {
        let member = try await ScriptedMember([
            .init(#"{"header":{},"token":"t1"}"#),
            .init(#"{"error":{"message":"etcdserver: invalid auth token"}}"# + "\n"),
            .init(#"{"header":{},"token":"t2"}"#), .init(Self.created + "\n"), Self.done(),
        ])
        try await withClient([member], user: true) { client in
            let range = EtcdRange(key: [1])
            #expect(await failure { try await client.watch(range, onStart: {}, { _ in }) }?.code == .notAuthenticated)
            #expect(await failure { try await client.watch(range, onStart: {}, { _ in }) } == nil)
            _ = try await client.commit(anything)
            #expect(member.requests.map { $0.ticket ?? "-" } == ["-", "t1", "-", "t2", "t2"])
        }
    }
}
