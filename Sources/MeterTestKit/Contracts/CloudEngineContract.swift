package import Cloud
import CloudAPI
import CoreTestKit
import Domain

/// Contract of `CloudEngine`. Each clause needs an empty engine.
package enum CloudEngineContract {
    package typealias Clause = ContractClause<any CloudEngine>

    package static var clauses: [Clause] {
        zoneClauses + credentialClauses + recordClauses + quotaClauses + changeClauses + tokenClauses + timelineClauses
            + purgeClauses + believedDateClauses + leaseClauses + renewalClauses + aliasClauses + commandClauses
            + lineClauses + copyClauses
    }

    static let zone = "home"
    static let now = WallTime(millisecondsSince1970: 1_795_000_000_000)
    static let start = MonotonicTime.origin + .seconds(1000)

    static func inZone(
        _ name: String, _ check: @escaping @Sendable (any CloudEngine) async throws -> Void
    ) -> Clause {
        Clause(name) { engine in
            _ = try await engine.createZone(zone, terms: .standard)
            try await check(engine)
        }
    }

    static func requireFailure(
        _ code: CloudErrorCode, _ what: String, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let failure as CloudFailure {
            try ContractViolation.requireEqual(failure.code, code, what)
            try ContractViolation.require(!failure.message.isEmpty, "\(what): no message")
            return
        }
        throw ContractViolation(description: "\(what): nothing was thrown")
    }

    private static var zoneClauses: [Clause] {
        [
            Clause("zones_areNone_atFirst") { engine in
                try ContractViolation.requireEqual(await engine.zones(), [], "zones")
                try ContractViolation.requireEqual(await engine.zone(zone), nil, "zone")
                try ContractViolation.require(!(await engine.epoch).isEmpty, "an epoch")
            },
            Clause("zone_staysAsItIs_whenMadeAgain") { engine in
                let strict = LeaseTerms(timeToLive: .seconds(60), lockDelay: .seconds(20), policy: .strict)
                let made = try await engine.createZone(zone, terms: strict)
                let again = try await engine.createZone(zone, terms: .standard)
                try ContractViolation.requireEqual(made, Zone(name: zone, id: made.id, terms: strict), "zone")
                try ContractViolation.requireEqual(again, made, "made again")
            },
            Clause("zones_comeByName") { engine in
                for name in ["b", "a", "c"] { _ = try await engine.createZone(name, terms: .standard) }
                try ContractViolation.requireEqual(await engine.zones().map(\.name), ["a", "b", "c"], "names")
            },
            Clause("terms_change") { engine in
                _ = try await engine.createZone(zone, terms: .standard)
                let strict = LeaseTerms(timeToLive: .seconds(600), lockDelay: .seconds(20), policy: .strict)
                try await engine.setTerms(strict, of: zone)
                try ContractViolation.requireEqual(await engine.zone(zone)?.terms, strict, "terms")
            },
            inZone("probe_findsASoundStoreWell_andChangesNothing") { engine in
                _ = try await engine.modify([record("m")], in: zone, now: now)
                let before = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 9)
                for writes in [false, true] { try await engine.probe(writes: writes) }
                let after = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 9)
                try ContractViolation.requireEqual(after.records, before.records, "records")
                try ContractViolation.requireEqual(after.token, before.token, "token")
                try ContractViolation.requireEqual(await engine.zones().map(\.name), [zone], "zones")
            },
            Clause("everyCall_saysThatTheZoneIsMissing") { engine in
                let key = RecordKey(type: .host, name: "x")
                let calls: [(String, () async throws -> Void)] = [
                    ("setTerms", { try await engine.setTerms(.standard, of: zone) }),
                    ("setQuota", { try await engine.setQuota(.standard, of: zone) }),
                    ("usage", { _ = try await engine.usage(of: zone) }),
                    ("add", { try await engine.add(credential("1")) }),
                    ("modify", { _ = try await engine.modify([], in: zone, now: now) }),
                    ("changes", { _ = try await engine.changes(of: .host, in: zone, after: nil, limit: 1) }),
                    ("record", { _ = try await engine.record(key, in: zone) }),
                    ("records", { _ = try await engine.records(in: zone, type: nil) }),
                    (
                        "decideLease",
                        { try await engine.decideLease(of: "m", in: zone) { _ in .init(record: nil, answer: ()) } }
                    ),
                    (
                        "renewLeases",
                        {
                            _ = try await engine.renewLeases(
                                [], session: .numbered(1), in: zone, under: .keep, at: start)
                        }
                    ),
                    ("leases", { _ = try await engine.leases(in: zone) }),
                    ("heldLeases", { _ = try await engine.heldLeases(in: zone) }),
                    ("standing", { _ = try await engine.standing(of: "m", in: zone) }),
                    (
                        "decideCommand",
                        { try await engine.decideCommand(.numbered(1), under: nil, in: zone) { _, _ in .init(()) } }
                    ),
                    ("commandCounts", { _ = try await engine.commandCounts(of: .numbered(1), in: zone) }),
                    ("changeQueue", { _ = try await engine.changeQueue(at: place) { $0 } }),
                ]
                for (name, call) in calls { try await requireFailure(.zoneNotFound, name, call) }
            },
        ]
    }
}
