import Cloud
import CloudAPI
import Domain

extension CloudEngineContract {
    /// Clauses about the identities of zones, and about the store and sequence in change tokens.
    static var timelineClauses: [Clause] {
        [
            Clause("zone_isMadeWithTheIdentityThatIsKnown_andKeepsIt") { engine in
                let known = Zone.ID(high: 7, low: 8)
                let made = try await engine.createZone(zone, id: known, terms: .standard)
                let again = try await engine.createZone(zone, id: Zone.ID(high: 1, low: 1), terms: .standard)
                let other = try await engine.createZone("lab", terms: .standard)
                try ContractViolation.requireEqual([made.id, again.id], [known, known], "identities")
                try ContractViolation.require(other.id != known, "the identity of another zone")
                try ContractViolation.requireEqual(await engine.zone(zone)?.id, known, "read")
                try ContractViolation.requireEqual(await engine.zones().map(\.id), [known, other.id], "listed")
            },
            inZone("token_isAnotherZones_whenReadThere") { engine in
                let lab = try await engine.createZone("lab", terms: .standard)
                _ = try await engine.modify([record("m1"), record("m2")], in: zone, now: now)
                let token = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 1).token
                let failure = try await failure(of: token, in: "lab", engine)
                try ContractViolation.requireEqual(failure.code, .anotherZone, "code")
                try ContractViolation.requireEqual(failure.zoneID, lab.id.description, "the zone that was asked")
                try ContractViolation.requireEqual(failure.epoch, await engine.epoch, "the epoch")
            },
            inZone("token_staysGood_overTheFirstChange_andThoseAfterIt") { engine in
                let before = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 1)
                let id = try await engine.zone(zone)?.id
                try ContractViolation.requireEqual(before.zoneID, id, "the page's zone")
                try ContractViolation.requireEqual(before.token.origin?.mark, 0, "before the first mark")
                _ = try await engine.modify([record("m1"), record("m2")], in: zone, now: now)
                let page = try await engine.changes(of: .deviceSettings, in: zone, after: before.token, limit: 1)
                try ContractViolation.requireEqual(page.token.origin?.mark, 1, "the first mark")
                try ContractViolation.requireEqual(page.token.origin?.readAt, 2, "read at")
                _ = try await engine.modify([record("m2", at: 1)], in: zone, now: now)
                let rest = try await readAll(engine, after: page.token)
                try ContractViolation.requireEqual(rest.records, [record("m2", at: 1)], "the rest")
                try ContractViolation.requireEqual(rest.token.origin?.mark, 1, "one mark in a run")
            },
            inZone("token_ofTheFirstForm_isServed") { engine in
                _ = try await engine.modify([record("m1"), record("m2")], in: zone, now: now)
                let old = ChangeToken(epoch: try await engine.epoch, sequence: 1)
                let page = try await engine.changes(of: .deviceSettings, in: zone, after: old, limit: 9)
                try ContractViolation.requireEqual(page.records, [record("m2")], "records")
                try ContractViolation.requireEqual(page.token.origin?.mark, 1, "the answer has the new form")
            },
            inZone("timeline_isLost_whenTheTokenIsOfAFutureThatThisStoreLacks") { engine in
                let first = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 9).token
                _ = try await engine.modify([record("m1"), record("m2")], in: zone, now: now)
                let good = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 1).token
                let origin = try ContractViolation.requireSome(good.origin, "an origin")
                let changes: [(String, (inout ChangeToken.Origin) -> Void)] = [
                    ("another id", { $0.markID ^= 1 }), ("a later mark", { $0.mark += 1 }),
                    ("the last mark of all", { $0.mark = .max }), ("a page of the future", { $0.readAt = 3 }),
                    ("no mark, and changes", { ($0.mark, $0.markID) = (0, 0) }),
                    ("no mark, with an id", { ($0.mark, $0.markID, $0.readAt) = (0, 5, 0) }),
                ]
                for (name, change) in changes {
                    var token = first
                    token.origin = origin
                    if let changed = token.origin.map({ origin in
                        var origin = origin
                        change(&origin)
                        return origin
                    }) {
                        token.origin = changed
                    }
                    let failure = try await failure(of: token, in: zone, engine)
                    try ContractViolation.requireEqual(failure.code, .timelineLost, name)
                    try ContractViolation.requireEqual(failure.zoneID, origin.zone, "\(name): the zone")
                    try ContractViolation.requireEqual(failure.epoch, good.epoch, "\(name): the epoch")
                }
                var beyond = good
                beyond.sequence = .max
                let failure = try await failure(of: beyond, in: zone, engine)
                try ContractViolation.requireEqual(failure.code, .timelineLost, "a sequence of the future")
            },
            inZone("floor_isJudgedBeforeTheMark") { engine in
                _ = try await engine.modify([record("m1")], in: zone, now: now)
                var token = try await readAll(engine).token
                token.origin?.markID ^= 1
                _ = try await engine.modify([record("old", [:], deletedAt: 0)], in: zone, now: now)
                _ = try await engine.purgeTombstones(before: now + .seconds(1))
                let failure = try await failure(of: token, in: zone, engine)
                try ContractViolation.requireEqual(failure.code, .changeTokenExpired, "code")
            },
        ]
    }

    private static func failure(
        of token: ChangeToken, in zone: String, _ engine: any CloudEngine
    ) async throws -> CloudFailure {
        do {
            _ = try await engine.changes(of: .deviceSettings, in: zone, after: token, limit: 9)
        } catch let failure as CloudFailure {
            return failure
        }
        throw ContractViolation(description: "\(token) is served")
    }
}
