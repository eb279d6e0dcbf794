import Cloud
import CloudAPI
import CoreTestKit
import Domain

extension CloudEngineContract {
    private static func note(
        _ name: String, bytes: Int, at after: Int64 = 0, host: UInt64 = 1, broughtBy: HostID? = nil
    ) -> SyncRecord {
        let text = SettingValue.string(String(repeating: "x", count: bytes))
        let register = Register(value: text, stamp: stamp(after, host: host), broughtBy: broughtBy)
        return SyncRecord(key: RecordKey(type: .deviceSettings, name: name), properties: ["note": register])
    }

    private static func deletion(of name: String, at after: Int64, host: UInt64 = 1, broughtBy: HostID? = nil)
        -> SyncRecord
    {
        SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            deletion: Deletion(stamp: stamp(after, host: host), broughtBy: broughtBy))
    }

    private static func counted(_ engine: any CloudEngine) async throws -> ZoneUsage {
        var usage = ZoneUsage()
        for record in try await engine.records(in: zone, type: nil) { usage.add(ZoneUsage(of: record)) }
        return usage
    }

    private static func limit(_ engine: any CloudEngine, bytes: Int = 1 << 20, records: Int = 1000) async throws {
        let amount = QuotaAmount(bytes: bytes, records: records)
        try await engine.setQuota(ZoneQuota(zone: amount, host: amount), of: zone)
    }

    private static func isRefused(_ outcome: RecordOutcome?) -> Bool {
        if case .quotaExceeded = outcome?.fate { true } else { false }
    }

    static var quotaClauses: [Clause] { usageClauses + limitClauses + shareClauses + leaseLimitClauses }

    private static func limitLeases(_ engine: any CloudEngine, to leases: Int) async throws {
        try await engine.setQuota(ZoneQuota(zone: ZoneQuota.standard.zone, leases: leases), of: zone)
    }

    private static func create(_ engine: any CloudEngine, _ meter: String, by host: UInt64) async throws -> Bool {
        do {
            return token(try await decide(engine, acquire(host), meter: meter)) != nil
        } catch let failure as CloudFailure where failure.code == .leaseHeld && failure.reason == "exhausted" {
            return false
        }
    }

    private static var leaseLimitClauses: [Clause] {
        [
            inZone("leaseBeyondTheLimit_isNotCreated_andThoseThatExistLiveOn") { engine in
                try await limitLeases(engine, to: 4)
                var created: [Bool] = []
                for host in UInt64(1)...6 { created.append(try await create(engine, "m\(host)", by: host)) }
                try ContractViolation.requireEqual(created, [true, true, true, true, false, false], "created")
                try ContractViolation.requireEqual(await engine.leaseCount(of: zone), 4, "counted")
                try await limitLeases(engine, to: 1)
                try ContractViolation.requireEqual(
                    token(try await decide(engine, acquire(1), meter: "m1"))?.rawValue, 1, "asked again")
                let renewed = try await engine.renewLeases(
                    [("m2", FencingToken(rawValue: 1)), ("m5", FencingToken(rawValue: 1))], session: .numbered(2),
                    in: zone, under: .keep, at: start)
                try ContractViolation.requireEqual(
                    renewed.map { if case .renewed = $0 { true } else { false } }, [true, false], "renewed")
                try ContractViolation.requireEqual(
                    token(try await takeOver(engine, by: 9, meter: "m3"))?.rawValue, 2, "taken over")
                let freed = try await release(engine, FencingToken(rawValue: 1), session: 4, meter: "m4")
                try ContractViolation.requireEqual(freed.record?.state, .free, "released")
                try ContractViolation.requireEqual(
                    token(try await decide(engine, acquire(8), meter: "m4"))?.rawValue, 2, "had again")
                try ContractViolation.requireEqual(await engine.lease(of: "m5", in: zone), nil, "m5")
                try await limitLeases(engine, to: 5)
                try ContractViolation.requireEqual(await create(engine, "m5", by: 9), true, "with more room")
                try ContractViolation.requireEqual(await engine.leaseCount(of: zone), 5, "counted, free ones too")
            },
            inZone("host_createsNoMoreThanItsShareOfLeases") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                try await limitLeases(engine, to: 8)
                var created: [Bool] = []
                for (number, host) in ([1, 1, 1, 2, 2, 2] as [UInt64]).enumerated() {
                    created.append(try await create(engine, "m\(number)", by: host))
                }
                try ContractViolation.requireEqual(created, [true, true, false, true, true, false], "created")
                let there = try await engine.decideLease(of: "m2", in: "other") {
                    LeaseRules.acquire(acquire(1), of: $0, in: circumstances())
                }
                try ContractViolation.requireEqual(token(there)?.rawValue, 1, "in another zone")
                // An engine may execute both creations in one transaction. It must refuse only that of host 1, which is
                // at its limit.
                async let one = create(engine, "m9", by: 1)
                async let two = create(engine, "m9", by: 3)
                let (first, second) = (try await one, try await two)
                try ContractViolation.require(!first && second, "refused is only who has no room: \(first) \(second)")
            },
            inZone("leasesAreCounted_whenManyAreCreatedAtOnce") { engine in
                try await limitLeases(engine, to: 40)
                let created = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<120 {
                        group.addTask { try await create(engine, "m\(number % 60)", by: UInt64(number % 60 % 12)) }
                    }
                    return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                try ContractViolation.requireEqual(await engine.leases(in: zone).count, 40, "leases")
                // The same host acquires each of the 40 meters twice.
                try ContractViolation.requireEqual(created, 80, "grants")
            },
        ]
    }

    private static var usageClauses: [Clause] {
        [
            inZone("usage_isWhatItsRecordsCount_whateverHappensToThem") { engine in
                try ContractViolation.requireEqual(await engine.usage(of: zone), ZoneUsage(), "of an empty zone")
                let steps: [[SyncRecord]] = [
                    [note("a", bytes: 100), note("b", bytes: 10, host: 2), record("c", ["p": 1, "q": 2])],
                    [note("a", bytes: 300, at: 1), note("a", bytes: 7, at: 2), note("b", bytes: 5, at: 3, host: 3)],
                    [note("a", bytes: 7, at: 2), note("a", bytes: 999, at: 1)],
                    [note("d", bytes: 50, host: 4, broughtBy: .numbered(1)), deletion(of: "c", at: 4)],
                    [deletion(of: "b", at: 5, host: 4, broughtBy: .numbered(2)), deletion(of: "never", at: 5)],
                    [note("c", bytes: 30, at: 6, host: 2)],
                ]
                for (number, step) in steps.enumerated() {
                    _ = try await engine.modify(step, in: zone, now: now)
                    try ContractViolation.requireEqual(
                        await engine.usage(of: zone), try await counted(engine), "after step \(number)")
                }
                try ContractViolation.requireEqual(await engine.usage(of: zone).total.records, 5, "records")
            },
            inZone("purgedTombstones_countNoLonger") { engine in
                _ = try await engine.modify(
                    (0..<100).map { deletion(of: "m\($0)", at: 0, host: UInt64($0 % 40)) } + [note("kept", bytes: 9)],
                    in: zone, now: now)
                try ContractViolation.requireEqual(
                    await engine.purgeTombstones(before: now + .seconds(1)), 100, "purged")
                try ContractViolation.requireEqual(
                    await engine.usage(of: zone), ZoneUsage(of: note("kept", bytes: 9)), "usage")
            },
            inZone("usage_isExact_whenManyWriteAtOnce") { engine in
                try await limit(engine, records: 60)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 1...10 {
                        group.addTask {
                            for number in 0..<4 {
                                let batch = (0..<4).map { place in
                                    note(
                                        "m\((writer * 7 + number * 5 + place) % 80)", bytes: 10 * writer,
                                        at: Int64(writer))
                                }
                                _ = try await engine.modify(batch, in: zone, now: now)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let usage = try await engine.usage(of: zone)
                try ContractViolation.requireEqual(usage, try await counted(engine), "usage")
                try ContractViolation.requireEqual(usage.total.records, 60, "records, which may be no more")
            },
            inZone("zones_shareNoQuota") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                try await limit(engine, records: 0)
                let there = try await engine.modify([note("m", bytes: 9)], in: "other", now: now)
                try ContractViolation.requireEqual(there.map(sequence), [1], "in the other zone")
                try ContractViolation.requireEqual(await engine.usage(of: zone), ZoneUsage(), "usage")
            },
        ]
    }

    private static var limitClauses: [Clause] {
        [
            inZone("quota_isStandardAtFirst_andIsKept_beside_theTerms") { engine in
                try ContractViolation.requireEqual(await engine.zone(zone)?.quota, .standard, "at first")
                let quota = ZoneQuota(
                    zone: QuotaAmount(bytes: 7, records: 8), host: QuotaAmount(bytes: 5, records: 6))
                try await engine.setQuota(quota, of: zone)
                try await engine.setTerms(.standard, of: zone)
                try ContractViolation.requireEqual(await engine.zone(zone)?.quota, quota, "of the zone")
                try ContractViolation.requireEqual(await engine.zones().map(\.quota), [quota], "in the list")
            },
            inZone("recordBeyondTheQuota_isRefused_andTheOthersAreTaken") { engine in
                let first = note("a", bytes: 1000)
                try await limit(engine, bytes: ZoneUsage(of: first).total.bytes + 300)
                let batch = [first, note("b", bytes: 1000), note("c", bytes: 100)]
                let outcomes = try await engine.modify(batch, in: zone, now: now)
                let used = ZoneUsage(of: first).total.bytes
                let excess = QuotaExcess(
                    resource: .bytes, limit: used + 300, used: used,
                    needed: ZoneUsage(of: batch[1]).total.bytes, isHostsShare: false)
                try ContractViolation.requireEqual(
                    outcomes.map(\.fate), [.changed(sequence: 1), .quotaExceeded(excess), .changed(sequence: 2)],
                    "fates")
                try ContractViolation.requireEqual(
                    await engine.records(in: zone, type: nil), [batch[0], batch[2]], "records")
                try ContractViolation.requireEqual(await engine.usage(of: zone), try await counted(engine), "usage")
            },
            inZone("propertyBeyondTheQuota_leavesTheRecordAsItIs") { engine in
                let small = note("a", bytes: 10)
                _ = try await engine.modify([small], in: zone, now: now)
                try await limit(engine, bytes: ZoneUsage(of: small).total.bytes + 50)
                let outcome = try await engine.modify([note("a", bytes: 100, at: 1)], in: zone, now: now).first
                try ContractViolation.require(isRefused(outcome), "it was taken: \(String(describing: outcome))")
                try ContractViolation.requireEqual(outcome?.record, small, "as stored")
                try ContractViolation.requireEqual(await engine.record(small.key, in: zone), small, "record")
            },
            inZone("fullZone_canBeEmptied_byAnyHost") { engine in
                _ = try await engine.modify(
                    [note("a", bytes: 100), note("b", bytes: 100), note("c", bytes: 100)], in: zone, now: now)
                try await limit(engine, bytes: 10, records: 1)
                let batch = [
                    note("a", bytes: 100, at: 1, host: 2), note("b", bytes: 3, at: 1),
                    deletion(of: "c", at: 1, host: 2),
                    note("a", bytes: 101, at: 2), note("d", bytes: 1),
                ]
                let outcomes = try await engine.modify(batch, in: zone, now: now)
                try ContractViolation.requireEqual(
                    outcomes.map { isRefused($0) }, [false, false, false, true, true], "refused")
                try ContractViolation.requireEqual(await engine.usage(of: zone), try await counted(engine), "usage")
            },
            inZone("limit_holdsFromTheNextChangeOn") { engine in
                try await limit(engine, records: 1)
                let first = try await engine.modify([note("a", bytes: 1), note("b", bytes: 1)], in: zone, now: now)
                try await limit(engine, records: 2)
                let second = try await engine.modify([note("b", bytes: 1), note("c", bytes: 1)], in: zone, now: now)
                try ContractViolation.requireEqual(first.map { isRefused($0) }, [false, true], "with one")
                try ContractViolation.requireEqual(second.map { isRefused($0) }, [false, true], "with two")
            },
        ]
    }

    private static var shareClauses: [Clause] {
        [
            inZone("hostsShare_isOfWhatItWroteAndBroughtItself") { engine in
                try await engine.setQuota(
                    ZoneQuota(
                        zone: QuotaAmount(bytes: 1 << 20, records: 100), host: QuotaAmount(bytes: 1 << 20, records: 2)),
                    of: zone)
                let own = try await engine.modify((0..<3).map { note("own\($0)", bytes: 9) }, in: zone, now: now)
                try ContractViolation.requireEqual(own.map { isRefused($0) }, [false, false, true], "own")
                // After a restore, a host may send other hosts' records even beyond its quota.
                let brought = (0..<9).map { note("their\($0)", bytes: 9, host: 5, broughtBy: .numbered(1)) }
                let outcomes = try await engine.modify(brought, in: zone, now: now)
                try ContractViolation.require(!outcomes.contains { isRefused($0) }, "what it brought is refused")
                let other = try await engine.modify([note("other", bytes: 9, host: 2)], in: zone, now: now)
                try ContractViolation.requireEqual(other.map(sequence), [12], "another host's")
                let shares = try await engine.usage(of: zone).hosts.mapValues(\.records)
                try ContractViolation.requireEqual(shares, [.numbered(1): 2, .numbered(2): 1], "shares")
            },
            inZone("zonesLimit_holdsForWhatIsBroughtToo") { engine in
                try await limit(engine, records: 3)
                let brought = (0..<4).map { note("m\($0)", bytes: 9, host: 5, broughtBy: .numbered(1)) }
                let outcomes = try await engine.modify(brought, in: zone, now: now)
                try ContractViolation.requireEqual(
                    outcomes.map { isRefused($0) }, [false, false, false, true], "refused")
            },
            inZone("share_movesToWhoeverWroteLast") { engine in
                _ = try await engine.modify([note("a", bytes: 100)], in: zone, now: now)
                _ = try await engine.modify([note("a", bytes: 50, at: 1, host: 2)], in: zone, now: now)
                let usage = try await engine.usage(of: zone)
                try ContractViolation.requireEqual(usage.hosts, [.numbered(2): usage.total], "shares")
            },
        ]
    }
}
