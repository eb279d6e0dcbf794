import Cloud
import CoreTestKit
import Domain
import Synchronization

extension CloudEngineContract {
    static let meter = "AA:BB:CC:DD:EE:FF"

    static func acquire(
        _ host: UInt64, session: UInt64? = nil, request: UInt64? = nil, previous: UInt64? = nil,
        takeover: FencingToken? = nil
    ) -> LeaseAcquire {
        LeaseAcquire(
            requestID: .numbered(request ?? host), host: .numbered(host), hostName: "Host \(host) – ü",
            session: .numbered(session ?? host), previousSession: previous.map { .numbered($0) },
            timeToLive: .seconds(120), transport: .ble, policy: .keep, takeover: takeover)
    }

    static func circumstances(at time: MonotonicTime = start) -> LeaseCircumstances {
        LeaseCircumstances(now: time, wallNow: now, terms: .standard)
    }

    static func decide(
        _ engine: any CloudEngine, _ request: LeaseAcquire, meter: String = meter, at time: MonotonicTime = start
    ) async throws -> LeaseAnswer {
        try await engine.decideLease(of: meter, in: zone) {
            LeaseRules.acquire(request, of: $0, in: circumstances(at: time))
        }
    }

    static func takeOver(
        _ engine: any CloudEngine, by host: UInt64, meter: String = meter
    ) async throws -> LeaseAnswer {
        try await engine.decideLease(of: meter, in: zone) {
            LeaseRules.acquire(acquire(host, takeover: $0.record?.token), of: $0, in: circumstances())
        }
    }

    static func release(
        _ engine: any CloudEngine, _ token: FencingToken, session: UInt64, meter: String = meter
    ) async throws -> LeaseChange {
        try await engine.decideLease(of: meter, in: zone) {
            LeaseRules.release(token, session: .numbered(session), of: $0)
        }
    }

    static func token(_ answer: LeaseAnswer) -> FencingToken? {
        if case .granted(let record) = answer { record.token } else { nil }
    }

    static var leaseClauses: [Clause] {
        [
            inZone("lease_isNone_atFirst") { engine in
                try ContractViolation.requireEqual(await engine.lease(of: meter, in: zone), nil, "lease")
                try ContractViolation.require(await engine.leases(in: zone).isEmpty, "no leases")
                try ContractViolation.require(await engine.heldLeases(in: zone).isEmpty, "no held leases")
            },
            inZone("lease_comesBackWhole") { engine in
                let answer = try await decide(engine, acquire(1))
                guard case .granted(let granted) = answer else {
                    throw ContractViolation(description: "\(answer)")
                }
                try ContractViolation.requireEqual(await engine.lease(of: meter, in: zone), granted, "lease")
                let revoked = try await engine.decideLease(of: meter, in: zone) { LeaseRules.revoke($0) }
                try ContractViolation.requireEqual(
                    await engine.lease(of: meter, in: zone), revoked.record, "revoking")
                let freed = try await release(engine, granted.token, session: 1)
                try ContractViolation.requireEqual(freed.record?.state, .free, "freed")
                // Compare single fields, because an engine may drop a free lease's renewal time.
                let left = try await engine.lease(of: meter, in: zone)
                try ContractViolation.requireEqual(left?.state, .free, "state")
                try ContractViolation.requireEqual(left?.token, granted.token, "token")
                try ContractViolation.requireEqual(left?.grants, granted.grants, "grants")
            },
            inZone("grants_areRemembered_theLastOfThem") { engine in
                var last: LeaseAnswer?
                for host in UInt64(1)...10 { last = try await takeOver(engine, by: host) }
                guard case .granted(let granted) = last else { throw ContractViolation(description: "\(last as Any)") }
                try ContractViolation.requireEqual(granted.grants.count, LeaseRecord.grantsMax, "remembered")
                let stored = try await engine.lease(of: meter, in: zone)
                try ContractViolation.requireEqual(stored?.grants, granted.grants, "stored")
                let again = try await decide(engine, acquire(5))
                try ContractViolation.requireEqual(token(again), nil, "not decided anew")
                try ContractViolation.requireEqual(await engine.lease(of: meter, in: zone), stored, "lease")
            },
            inZone("takeover_isGrantedToOne_whenManyAimAtOneGrant") { engine in
                guard let first = token(try await decide(engine, acquire(100))) else { return }
                let answers = try await atOnce(32) { try await decide(engine, acquire($0 + 1, takeover: first)) }
                try ContractViolation.requireEqual(answers.compactMap(token).count, 1, "granted")
            },
            inZone("lease_staysAsItIs_whenTheRuleStoresNothing") { engine in
                _ = try await decide(engine, acquire(1))
                let before = try await engine.lease(of: meter, in: zone)
                let seen = try await engine.decideLease(of: meter, in: zone) {
                    LeaseDecision(record: nil, answer: $0.record)
                }
                try ContractViolation.requireEqual(seen, before, "what the rule is given")
                try ContractViolation.requireEqual(await engine.lease(of: meter, in: zone), before, "lease")
            },
            inZone("leases_comeByMeter_freedOnesToo") { engine in
                for name in ["c", "a", "b"] { _ = try await decide(engine, acquire(1), meter: name) }
                let freed = try await engine.lease(of: "b", in: zone)
                _ = try await release(engine, freed?.token ?? .max, session: 1, meter: "b")
                let (all, held) = (try await engine.leases(in: zone), try await engine.heldLeases(in: zone))
                try ContractViolation.requireEqual(all.map(\.meter), ["a", "b", "c"], "all")
                try ContractViolation.requireEqual(held.map(\.meter), ["a", "c"], "held")
                try ContractViolation.requireEqual(
                    all.map(\.record.state), [held[0].record.state, .free, held[1].record.state], "states")
            },
            inZone("leases_areEachZonesOwn") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                _ = try await decide(engine, acquire(1))
                try ContractViolation.requireEqual(await engine.lease(of: meter, in: "other"), nil, "lease")
                try ContractViolation.require(await engine.heldLeases(in: "other").isEmpty, "held")
                try ContractViolation.require(await engine.leases(in: "other").isEmpty, "all")
            },
            inZone("token_growsForEver") { engine in
                var last = FencingToken(rawValue: 0)
                for round in UInt64(1)...20 {
                    let answer = try await decide(engine, acquire(round % 3 + 1, session: round, request: round))
                    guard let token = token(answer) else { throw ContractViolation(description: "\(answer)") }
                    try ContractViolation.require(token > last, "\(token) after \(last)")
                    last = token
                    _ = try await release(engine, token, session: round)
                }
            },
            inZone("acquire_isGrantedToOne_whenManyAskAtOnce") { engine in
                for round in UInt64(0)..<5 {
                    let answers = try await atOnce(32) { task in
                        let number = round * 100 + task
                        return try await decide(engine, acquire(number, request: number))
                    }
                    let winners = answers.compactMap(token)
                    try ContractViolation.requireEqual(winners.count, 1, "winners of round \(round)")
                    let holder = try await engine.lease(of: meter, in: zone)?.holder?.session
                    guard let holder, let winner = winners.first else {
                        throw ContractViolation(description: "nobody holds it")
                    }
                    _ = try await engine.decideLease(of: meter, in: zone) {
                        LeaseRules.release(winner, session: holder, of: $0)
                    }
                }
            },
            inZone("tokens_areNeverUsedTwice_whenManyTakeOverAtOnce") { engine in
                let answers = try await atOnce(32) { try await takeOver(engine, by: $0 + 1) }
                let tokens = answers.compactMap(token)
                try ContractViolation.requireEqual(tokens.count, 32, "granted")
                try ContractViolation.requireEqual(Set(tokens).count, 32, "different tokens")
                try ContractViolation.requireEqual(
                    await engine.lease(of: meter, in: zone)?.token, tokens.max(), "the last one holds it")
            },
            Clause("limits_leaveEverythingOpen_atFirst") { engine in
                try ContractViolation.requireEqual(
                    await engine.leaseLimits(at: start), LeaseLimits(tokenFloor: FencingToken(rawValue: 0)), "limits")
            },
        ]
    }

    static var renewalClauses: [Clause] {
        [
            inZone("renewals_areAnsweredInOrder") { engine in
                var tokens: [FencingToken] = []
                for name in ["a", "b", "c"] {
                    guard let token = token(try await decide(engine, acquire(1), meter: name)) else { continue }
                    tokens.append(token)
                }
                _ = try await release(engine, tokens[1], session: 1, meter: "b")
                _ = try await takeOver(engine, by: 2, meter: "c")
                let later = start + .seconds(60)
                let renewals = try await engine.renewLeases(
                    [("c", tokens[2]), ("a", tokens[0]), ("d", tokens[0]), ("b", tokens[1])], session: .numbered(1),
                    in: zone, under: .keep, at: later)
                let words = renewals.map { renewal in
                    switch renewal {
                    case .renewed: "renewed"
                    case .lost(let loss, _): loss.rawValue
                    }
                }
                try ContractViolation.requireEqual(words, ["takenOver", "renewed", "unknown", "released"], "results")
                try ContractViolation.requireEqual(
                    await engine.lease(of: "a", in: zone)?.renewedAt, later, "the renewed one")
                let others = try await engine.renewLeases(
                    [("a", tokens[0])], session: .numbered(2), in: zone, under: .keep, at: later)
                try ContractViolation.requireEqual(others.first.map(isLost), true, "by another session")
            },
            inZone("renewal_isSeenByTheNextDecision") { engine in
                guard let token = token(try await decide(engine, acquire(1))) else { return }
                let renewedAt = start + .seconds(100)
                _ = try await engine.renewLeases(
                    [(meter, token)], session: .numbered(1), in: zone, under: .keep, at: renewedAt)
                let early = try await decide(engine, acquire(2), at: start + .seconds(200))
                let late = try await decide(engine, acquire(2), at: renewedAt + LeaseTerms.standard.over)
                try ContractViolation.requireEqual(Self.token(early), nil, "before it is over")
                try ContractViolation.require(Self.token(late) != nil, "once it is over: \(late)")
            },
            inZone("renewal_andAcquireOfAnOverLease_neverBothSucceed") { engine in
                for round in UInt64(0)..<40 {
                    let name = "m\(round)"
                    guard let token = token(try await decide(engine, acquire(1), meter: name)) else { return }
                    let late = start + .seconds(1000)
                    async let renewals = engine.renewLeases(
                        [(name, token)], session: .numbered(1), in: zone, under: .keep, at: late)
                    async let answer = decide(engine, acquire(2), meter: name, at: late)
                    let isRenewed = try await !(renewals.first.map(isLost) ?? true)
                    let isGranted = Self.token(try await answer) != nil
                    try ContractViolation.require(isRenewed != isGranted, "renewed \(isRenewed), granted \(isGranted)")
                }
            },
        ]
    }

    private static func isLost(_ renewal: LeaseRenewal) -> Bool {
        if case .lost = renewal { true } else { false }
    }

    static func atOnce<Value: Sendable>(
        _ count: UInt64, _ body: @escaping @Sendable (UInt64) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for number in 0..<count { group.addTask { try await body(number) } }
            var values: [Value] = []
            for try await value in group { values.append(value) }
            return values
        }
    }
}
