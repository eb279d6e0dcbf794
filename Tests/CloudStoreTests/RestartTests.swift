import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import MeterTestKit
import StoreTestKit
import Testing

/// Leases over a restart of the cloud (Docs/Leases.md#rule-5).
struct RestartTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private let over = LeaseTerms.standard.over
    /// The clock of all lease times begins anew at each boot.
    private let restart = MonotonicTime.origin + .seconds(5)

    private func makeCloud(_ body: (SQLiteCloudEngine) async throws -> Void) async throws {
        let engine = try folder.openCloud(now: .origin + .seconds(50_000))
        _ = try await engine.createZone("home", terms: .standard)
        try await body(engine)
        try engine.close()
    }

    @Test func heldLease_goesToNobodyElse_forItsWholeTimeAfterAStart() async throws {
        try await makeCloud { _ = try await $0.acquire(Sample.acquire(1), at: .origin + .seconds(1)) }

        let engine = try folder.openCloud(now: restart)

        let early = try await engine.acquire(Sample.acquire(2), at: restart + over - .milliseconds(1))
        let late = try await engine.acquire(Sample.acquire(2), at: restart + over)
        #expect(early.reason == .held)
        #expect(late.token == FencingToken(rawValue: 2))
    }

    @Test func command_isKnown_afterAStart_andItsMarkIsGivenOnce() async throws {
        let command = StoredCommand(
            CommandWish(author: .numbered(2), meter: Sample.meter, token: 1, action: RelayActionBody(kind: "command")),
            holder: .numbered(1), holderName: "Host 1", outcome: RelayCommandAnswer(.done))
        func store(_ engine: SQLiteCloudEngine) async throws -> StoredCommand? {
            try await engine.decideCommand(.numbered(7), under: nil, in: "home") { stored, _ in
                CommandDecision(stored, storing: stored == nil ? command : nil)
            }
        }
        try await makeCloud { _ = try await store($0) }

        let engine = try folder.openCloud(now: restart)
        #expect(try await store(engine) == command)
        let seen = try await engine.commandMarks()
        try await engine.forget(seen)
        #expect(try await store(engine) == nil)
        try await engine.forget(seen)
        #expect(try await store(engine) == command, "another one under its id")
    }

    @Test func renewal_isServedAtOnce_afterAStart() async throws {
        try await makeCloud { _ = try await $0.acquire(Sample.acquire(1)) }

        let engine = try folder.openCloud(now: restart)
        let renewals = try await engine.renewLeases(
            [(Sample.meter, FencingToken(rawValue: 1))], session: .numbered(1), in: "home", under: .keep,
            at: restart + .seconds(100))

        guard case .renewed(let record) = renewals.first else {
            Issue.record("\(renewals)")
            return
        }
        #expect(record.renewedAt == restart + .seconds(100))
        #expect(record.holder?.hostName == "Host 1")
        #expect(try await engine.acquire(Sample.acquire(2), at: restart + over).reason == .held)
    }

    @Test func restartedHost_takesItsOwnLease_afterAStart() async throws {
        try await makeCloud { _ = try await $0.acquire(Sample.acquire(1)) }

        let engine = try folder.openCloud(now: restart)
        var request = Sample.acquire(1, previous: 1)
        request.session = .numbered(9)
        request.requestID = .numbered(9)

        #expect(try await engine.acquire(request, at: restart).token == FencingToken(rawValue: 2))
    }

    @Test func sameRequest_getsTheSameToken_afterAStart() async throws {
        try await makeCloud { _ = try await $0.acquire(Sample.acquire(1)) }

        let engine = try folder.openCloud(now: restart)

        #expect(try await engine.acquire(Sample.acquire(1), at: restart).token == FencingToken(rawValue: 1))
    }

    @Test func grantsBeforeTheLast_areRemembered_afterAStart() async throws {
        try await makeCloud {
            for host in UInt64(1)...4 { _ = try await $0.acquire(Sample.acquire(host), takesOver: true) }
        }

        let engine = try folder.openCloud(now: restart)

        #expect(try await engine.acquire(Sample.acquire(1), takesOver: true, at: restart).reason == .held)
        #expect(
            try await engine.lease(of: Sample.meter, in: "home")?.grants
                == (1...4).map { LeaseGrant(requestID: .numbered($0), token: FencingToken(rawValue: $0)) })
    }

    /// As the first version left it, which remembered one grant.
    @Test func storeOfTheFirstVersion_isTakenOver_withItsLastGrant() async throws {
        try await makeCloud { _ = try await $0.acquire(Sample.acquire(1)) }
        try folder.file.edit(
            """
            ALTER TABLE lease DROP COLUMN earlier_grants;
            DELETE FROM grdb_migrations WHERE identifier LIKE '2 leases%';
            """)

        let engine = try folder.openCloud(now: restart)

        #expect(try await engine.acquire(Sample.acquire(1), at: restart).token == FencingToken(rawValue: 1))
    }

    @Test func release_isTerminal_afterAStart() async throws {
        try await makeCloud {
            _ = try await $0.acquire(Sample.acquire(1))
            try await $0.release(FencingToken(rawValue: 1), session: 1)
        }

        let engine = try folder.openCloud(now: restart)
        let renewals = try await engine.renewLeases(
            [(Sample.meter, FencingToken(rawValue: 1))], session: .numbered(1), in: "home", under: .keep, at: restart)

        guard case .lost(.released, _) = renewals.first else {
            Issue.record("\(renewals)")
            return
        }
        #expect(try await engine.acquire(Sample.acquire(2), at: restart).token == FencingToken(rawValue: 2))
    }

    @Test func revocation_isNotForgotten_byAStart() async throws {
        try await makeCloud {
            _ = try await $0.acquire(Sample.acquire(1))
            _ = try await $0.decideLease(of: Sample.meter, in: "home") { LeaseRules.revoke($0) }
        }

        let engine = try folder.openCloud(now: restart)
        let renewals = try await engine.renewLeases(
            [(Sample.meter, FencingToken(rawValue: 1))], session: .numbered(1), in: "home", under: .keep, at: restart)

        guard case .lost(.revoking, _) = renewals.first else {
            Issue.record("\(renewals)")
            return
        }
    }

    @Test func tokens_grow_overManyStarts() async throws {
        try await makeCloud { _ in }
        var last = FencingToken(rawValue: 0)

        for host in UInt64(1)...10 {
            let engine = try folder.openCloud(now: restart)
            let answer = try await engine.acquire(Sample.acquire(host), takesOver: true, at: restart)
            let token = try #require(answer.token)
            #expect(token > last)
            last = token
            if host % 2 == 0 { try await engine.release(token, session: host) }
            try engine.close()
        }
    }

    @Test func acquires_ofOneMeter_areGrantedToOneAtATime() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)

        // Each of 32 tasks asks again and again, and releases what it got.
        let tokens = try await withThrowingTaskGroup(of: [FencingToken].self) { group in
            for task in UInt64(0)..<32 {
                group.addTask {
                    var won: [FencingToken] = []
                    for _ in 0..<10 {
                        var request = Sample.acquire(task + 1)
                        request.requestID = .numbered(UInt64(won.count) * 1000 + task)
                        guard let token = try await engine.acquire(request).token else { continue }
                        won.append(token)
                        try await engine.release(token, session: task + 1)
                    }
                    return won
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }

        #expect(Set(tokens).count == tokens.count, "no token was won twice")
        #expect(
            Set(tokens) == Set((1...UInt64(tokens.count)).map { FencingToken(rawValue: $0) }), "and none was left out")
    }
}
