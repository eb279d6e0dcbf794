import Cloud
import CoreTestKit
import Domain

extension CloudEngineContract {
    private static let first = "AA:BB:CC:DD:EE:01"
    private static let second = "AA:BB:CC:DD:EE:02"
    private static let third = "AA:BB:CC:DD:EE:03"

    /// - Parameter meter: meter that the id belongs to; nil ends the alias.
    private static func alias(
        _ engine: any CloudEngine, _ id: String, _ meter: String?, write: Int64 = 0, at time: MonotonicTime = start
    ) async throws -> RecordOutcome.Fate? {
        let value: SettingValue = meter.map { .string($0) } ?? .null
        let record = SyncRecord(
            key: RecordKey(type: .meterAlias, name: id),
            properties: ["meter": Register(value: value, stamp: stamp(write))])
        return try await engine.modify([record], in: zone, now: now, leaseTime: time).first?.fate
    }

    private static func requireAlias(
        _ engine: any CloudEngine, _ id: String, _ meter: String?, write: Int64 = 0, at time: MonotonicTime = start
    ) async throws {
        let fate = try await alias(engine, id, meter, write: write, at: time)
        guard case .changed = fate else {
            throw ContractViolation(description: "\(id) as \(meter ?? "itself"): \(String(describing: fate))")
        }
    }

    private static func grant(
        _ engine: any CloudEngine, _ request: LeaseAcquire, _ meter: String, at time: MonotonicTime = start
    ) async throws -> FencingToken {
        try ContractViolation.requireSome(
            token(try await decide(engine, request, meter: meter, at: time)), "the grant of \(meter)")
    }

    private static func refusal(_ answer: LeaseAnswer) throws -> LeaseAnswer.Refusal {
        guard case .refused(let refusal) = answer else { throw ContractViolation(description: "\(answer)") }
        return refusal
    }

    private static func renew(
        _ engine: any CloudEngine, _ meter: String, _ token: FencingToken, session: UInt64
    ) async throws -> String {
        let renewals = try await engine.renewLeases(
            [(meter, token)], session: .numbered(session), in: zone, under: .keep, at: start)
        return switch renewals.first {
        case .renewed: "renewed"
        case .lost(let loss, _): loss.rawValue
        case nil: "none"
        }
    }

    static var aliasClauses: [Clause] { followingClauses + aliasTokenClauses + aliasChangeClauses }

    private static var followingClauses: [Clause] {
        [
            inZone("everyRequest_followsAnAlias") { engine in
                try await requireAlias(engine, first, second)
                let token = try await grant(engine, acquire(1), first)
                try ContractViolation.requireEqual(
                    await engine.heldLeases(in: zone).map(\.meter), [second], "what is leased")
                for id in [first, second] {
                    let refused = try refusal(try await decide(engine, acquire(2), meter: id))
                    try ContractViolation.requireEqual(refused.record?.token, token, "who has it, under \(id)")
                    try ContractViolation.requireEqual(
                        await engine.standing(of: id, in: zone).meter, second, "the meter of \(id)")
                    try ContractViolation.requireEqual(
                        try await renew(engine, id, token, session: 1), "renewed", "under \(id)")
                }
                let taken = try ContractViolation.requireSome(
                    Self.token(try await takeOver(engine, by: 2, meter: first)), "the take-over")
                try ContractViolation.requireEqual(
                    try await renew(engine, second, token, session: 1), "takenOver", "the loser")
                let revoked = try await engine.decideLease(of: first, in: zone) { LeaseRules.revoke($0) }
                guard case .revoking? = revoked.record?.state else {
                    throw ContractViolation(description: "\(revoked)")
                }
                try ContractViolation.requireEqual(
                    try await renew(engine, second, taken, session: 2), "revoking", "the revoked one")
                _ = try await release(engine, taken, session: 2, meter: first)
                try ContractViolation.require(await engine.heldLeases(in: zone).isEmpty, "released under the alias")
            },
            inZone("twoIds_areNeverHeldByTwoHosts_whoeverComesFirst") { engine in
                for (round, ids) in [(first, second), (second, first)].enumerated() {
                    let write = Int64(round * 10)
                    let token = try await grant(engine, acquire(1, request: UInt64(round) + 50), ids.1)
                    try await requireAlias(engine, ids.0, ids.1, write: write)
                    let refused = try refusal(try await decide(engine, acquire(2, request: 90), meter: ids.0))
                    try ContractViolation.requireEqual(refused.reason, .held, "the other id")
                    _ = try await release(engine, token, session: 1, meter: ids.1)
                    try await requireAlias(engine, ids.0, nil, write: write + 1)
                }
            },
            inZone("aliases_areFollowedInOneHop") { engine in
                try await requireAlias(engine, first, second)
                try await requireAlias(engine, second, third)
                try ContractViolation.requireEqual(
                    await engine.standing(of: first, in: zone).meter, third, "the alias of an alias")
                try await requireAlias(engine, second, nil, write: 1)
                try ContractViolation.requireEqual(
                    await engine.standing(of: first, in: zone).meter, second, "once its meter is itself again")
            },
            inZone("aliasesInACircle_meanTheSmallestId") { engine in
                try await requireAlias(engine, third, second)
                try await requireAlias(engine, second, first)
                try await requireAlias(engine, first, third)
                for id in [first, second, third] {
                    try ContractViolation.requireEqual(
                        await engine.standing(of: id, in: zone).meter, first, "the meter of \(id)")
                }
            },
            inZone("alias_isOfItsZoneAlone") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                try await requireAlias(engine, first, second)
                try ContractViolation.requireEqual(
                    await engine.standing(of: first, in: "other").meter, first, "in another zone")
            },
            inZone("whatMeansNoMeter_isNoAlias") { engine in
                for (write, meter) in [first, "", "?"].enumerated() {
                    try await requireAlias(engine, first, meter, write: Int64(write))
                    try ContractViolation.requireEqual(
                        await engine.standing(of: first, in: zone).meter, first, "as \"\(meter)\"")
                }
            },
        ]
    }

    private static var aliasTokenClauses: [Clause] {
        [
            inZone("alias_raisesTheFloorOfBothIds_andLeavesTheHolderItsToken") { engine in
                for round in UInt64(1)...5 {
                    let token = try await grant(engine, acquire(round), first)
                    _ = try await release(engine, token, session: round, meter: first)
                }
                let held = try await grant(engine, acquire(9), second)
                try await requireAlias(engine, first, second)
                try ContractViolation.requireEqual(
                    await engine.lease(of: first, in: zone)?.token, held, "the holder's token")
                try ContractViolation.requireEqual(
                    try await renew(engine, second, held, session: 9), "renewed", "the holder")
                let again = try await grant(engine, acquire(9), second)
                try ContractViolation.requireEqual(again, held, "the holder asks again")
                _ = try await release(engine, held, session: 9, meter: second)
                let next = try await grant(engine, acquire(2, request: 60), second)
                try ContractViolation.require(next.rawValue > 5, "\(next) is above all tokens of both ids")
                _ = try await release(engine, next, session: 2, meter: second)
                try await requireAlias(engine, first, nil, write: 1)
                for id in [first, second] {
                    let token = try await grant(engine, acquire(3, request: 70), id)
                    try ContractViolation.require(token > next, "\(token) of \(id) is above \(next)")
                }
            },
            inZone("alias_ofIdsThatWereNeverLeased_raisesNothing") { engine in
                try await requireAlias(engine, first, second)
                try ContractViolation.requireEqual(
                    await engine.standing(of: first, in: zone).floor, FencingToken(rawValue: 0), "floor")
            },
            inZone("tokenOfTheIdThatWent_meansNothingForTheOther") { engine in
                let old = try await grant(engine, acquire(1), first)
                _ = try await release(engine, old, session: 1, meter: first)
                let held = try await grant(engine, acquire(1, request: 61), second)
                try ContractViolation.requireEqual(held, old, "the same number under both ids")
                try await requireAlias(engine, first, second)
                try ContractViolation.requireEqual(
                    try await renew(engine, first, old, session: 1), "released", "a late renewal")
                let change = try await release(engine, old, session: 1, meter: first)
                guard case .unchanged = change else {
                    throw ContractViolation(description: "a late release: \(change)")
                }
                let taken = try refusal(
                    try await decide(engine, acquire(2, request: 62, takeover: old), meter: first))
                try ContractViolation.requireEqual(taken.reason, .held, "a take-over aimed at the old grant")
                let own = try refusal(try await decide(engine, acquire(1, request: 63), meter: first))
                try ContractViolation.requireEqual(own.reason, .held, "the holder itself, under the other id")
                try ContractViolation.requireEqual(
                    try await renew(engine, second, held, session: 1), "renewed", "the holder")
            },
            inZone("requestGrantedUnderTheIdThatWent_isNotDecidedAnew") { engine in
                let token = try await grant(engine, acquire(1, request: 64), first)
                _ = try await release(engine, token, session: 1, meter: first)
                try await requireAlias(engine, first, second)
                let late = try refusal(try await decide(engine, acquire(1, request: 64), meter: first))
                try ContractViolation.requireEqual(late.reason, .released, "the late one")
                try ContractViolation.require(await engine.heldLeases(in: zone).isEmpty, "nobody has it")
            },
        ]
    }

    private static var aliasChangeClauses: [Clause] {
        [
            inZone("alias_isRefused_whileTheIdThatGoesIsHeld") { engine in
                let token = try await grant(engine, acquire(1), first)
                let sequence = try await engine.zone(zone)?.sequence
                let fate = try await alias(engine, first, second)
                try ContractViolation.requireEqual(
                    fate, .leaseHeld(meter: first, by: "Host 1 – ü"), "while it is held")
                let key = RecordKey(type: .meterAlias, name: first)
                try ContractViolation.requireEqual(await engine.record(key, in: zone), nil, "the refused record")
                try ContractViolation.requireEqual(await engine.zone(zone)?.sequence, sequence, "the zone's sequence")
                try ContractViolation.requireEqual(
                    try await renew(engine, first, token, session: 1), "renewed", "the holder")
                _ = try await release(engine, token, session: 1, meter: first)
                try await requireAlias(engine, first, second)
            },
            inZone("aliasIsRemoved_onlyWhileTheMeterIsFree") { engine in
                try await requireAlias(engine, first, second)
                let token = try await grant(engine, acquire(1), first)
                let fate = try await alias(engine, first, nil, write: 1)
                try ContractViolation.requireEqual(fate, .leaseHeld(meter: second, by: "Host 1 – ü"), "to none")
                let other = try await alias(engine, first, third, write: 1)
                try ContractViolation.requireEqual(other, .leaseHeld(meter: second, by: "Host 1 – ü"), "to another")
                let deleted = SyncRecord(
                    key: RecordKey(type: .meterAlias, name: first), deletion: Deletion(stamp: stamp(1)))
                let outcome = try await engine.modify([deleted], in: zone, now: now, leaseTime: start).first
                try ContractViolation.requireEqual(
                    outcome?.fate, .leaseHeld(meter: second, by: "Host 1 – ü"), "deleted")
                _ = try await release(engine, token, session: 1, meter: first)
                _ = try await engine.modify([deleted], in: zone, now: now, leaseTime: start)
                try ContractViolation.requireEqual(
                    await engine.standing(of: first, in: zone).meter, first, "once it was free")
            },
            inZone("leaseThatIsOver_isInNoAliasesWay") { engine in
                let token = try await grant(engine, acquire(1), first)
                let over = start + LeaseTerms.standard.over
                let early = try await alias(engine, first, second, at: over + .milliseconds(-1))
                try ContractViolation.requireEqual(early, .leaseHeld(meter: first, by: "Host 1 – ü"), "before that")
                try await requireAlias(engine, first, second, at: over)
                try ContractViolation.require(await engine.heldLeases(in: zone).isEmpty, "nobody has it")
                try ContractViolation.requireEqual(
                    try await renew(engine, first, token, session: 1), "released", "a renewal that comes late")
                try ContractViolation.require(
                    try await grant(engine, acquire(2), second, at: over) > token, "the next token")
            },
            inZone("aliasAndAcquire_neverBothSucceed_forAnIdThatGoes") { engine in
                for round in 0..<30 {
                    let ids = (1...2).map { "AA:BB:CC:DD:\(10 + round):0\($0)" }
                    // Pass the clock's origin, at which no lease has expired: a retry uses the engine's own clock,
                    // which may be far from `start`.
                    async let written = alias(engine, ids[0], ids[1], at: .origin)
                    async let one = decide(engine, acquire(1), meter: ids[0], at: .origin)
                    async let two = decide(engine, acquire(2), meter: ids[1], at: .origin)
                    let granted = [try await one, try await two].compactMap(token).count
                    if case .changed = try await written {
                        try ContractViolation.requireEqual(granted, 1, "hosts with the meter")
                    } else {
                        try ContractViolation.requireEqual(granted, 2, "hosts, each with its own meter")
                    }
                }
            },
            inZone("meter_hasSoManyIds_andNoMore") { engine in
                for number in 1..<AliasBook.idsPerMeter {
                    try await requireAlias(engine, "AA:BB:CC:DD:\(10 + number):00", first)
                }
                let fate = try await alias(engine, second, first)
                try ContractViolation.requireEqual(fate, .tooManyAliases, "one more")
                try await requireAlias(engine, "AA:BB:CC:DD:11:00", nil, write: 1)
                try await requireAlias(engine, second, first)
            },
        ]
    }
}
