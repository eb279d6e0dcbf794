import Cloud
import CloudAPI
import CoreTestKit
import Domain

extension CloudEngineContract {
    /// Returns a stamp of host `host`, `after` milliseconds later than `now`.
    static func stamp(_ after: Int64 = 0, counter: UInt16 = 0, host: UInt64 = 1) -> Stamp {
        Stamp(
            milliseconds: UInt64(now.millisecondsSince1970 + after), counter: counter, host: .numbered(host))
    }

    static func record(
        _ name: String, type: RecordType = .deviceSettings, _ properties: [String: Int64] = ["a": 1],
        at after: Int64 = 0, deletedAt: Int64? = nil
    ) -> SyncRecord {
        SyncRecord(
            key: RecordKey(type: type, name: name),
            properties: properties.mapValues { Register(value: .int($0), stamp: stamp(after)) },
            deletion: deletedAt.map { Deletion(stamp: stamp($0)) })
    }

    static func sequence(_ outcome: RecordOutcome?) -> UInt64? {
        if case .changed(let sequence) = outcome?.fate { sequence } else { nil }
    }

    static var recordClauses: [Clause] {
        [
            inZone("record_comesBackWhole") { engine in
                let values: [SettingValue] = [
                    .null, .bool(true), .int(.min), .int(.max), .double(-0.0), .double(0.1), .double(1e300), .double(3),
                    .string(""), .string("a \"quoted\"\n\u{0} note \\ – ü 🔌"),
                    .string(String(repeating: "x", count: 16_384)),
                ]
                var record = record("AA:BB:CC:DD:EE:FF", [:], deletedAt: -5)
                let whole = SyncRecord(
                    key: record.key,
                    properties: Dictionary(
                        uniqueKeysWithValues: values.enumerated().map { index, value in
                            ("p\(index)", Register(value: value, stamp: stamp(counter: UInt16(index), host: 7)))
                        }))
                record.merge(whole)
                let merge = SyncRecord(
                    key: RecordKey(type: RecordType(rawValue: "Unknown"), name: "usb:1:2:\u{7f}ü"),
                    deletion: Deletion(stamp: stamp(), mergedInto: "ü"))
                let outcomes = try await engine.modify([record, merge], in: zone, now: now)
                try ContractViolation.requireEqual(outcomes.map(\.record), [record, merge], "outcomes")
                try ContractViolation.requireEqual(await engine.record(record.key, in: zone), record, "record")
                try ContractViolation.requireEqual(await engine.record(merge.key, in: zone), merge, "tombstone")
                try ContractViolation.requireEqual(
                    await engine.record(RecordKey(type: .host, name: merge.key.name), in: zone), nil, "other type")
            },
            inZone("sequence_risesWithEachChange_andNothingElse") { engine in
                let first = try await engine.modify([record("m1"), record("m2")], in: zone, now: now)
                let again = try await engine.modify([record("m2"), record("m1")], in: zone, now: now)
                let later = try await engine.modify([record("m1", at: 1), record("m1", at: 2)], in: zone, now: now)
                try ContractViolation.requireEqual(first.map(sequence), [1, 2], "first")
                try ContractViolation.requireEqual(again.map(\.fate), [.unchanged, .unchanged], "again")
                try ContractViolation.requireEqual(again.map(\.record), [record("m2"), record("m1")], "as stored")
                try ContractViolation.requireEqual(later.map(sequence), [3, 4], "later")
                try ContractViolation.requireEqual(await engine.zone(zone)?.sequence, 4, "of the zone")
            },
            inZone("records_mergeByProperty") { engine in
                _ = try await engine.modify([record("m", ["a": 1, "b": 1])], in: zone, now: now)
                _ = try await engine.modify([record("m", ["b": 2, "c": 2], at: 5)], in: zone, now: now)
                let outcome = try await engine.modify([record("m", ["a": 3, "b": 3], at: 3)], in: zone, now: now).first
                var expected = record("m", ["b": 2, "c": 2], at: 5)
                expected.merge(record("m", ["a": 3], at: 3))
                try ContractViolation.requireEqual(outcome?.record, expected, "merged")
                let deleted = try await engine.modify([record("m", [:], deletedAt: 4)], in: zone, now: now).first
                try ContractViolation.requireEqual(
                    deleted?.record, record("m", ["b": 2, "c": 2], at: 5, deletedAt: 4), "deleted")
            },
            inZone("stamp_isRefused_whenTooFarAhead_andTheOthersAreTaken") { engine in
                let batch = [record("m1"), record("m2", at: 60_001), record("m3", at: 60_000)]
                let outcomes = try await engine.modify(batch, in: zone, now: now)
                try ContractViolation.requireEqual(
                    outcomes.map(\.fate), [.changed(sequence: 1), .clockSkew, .changed(sequence: 2)], "fates")
                try ContractViolation.requireEqual(outcomes[1].record, nil, "the refused one")
                // From now on, stamps may exceed the greatest accepted stamp by one millisecond, even if the system
                // clock is set back.
                let back = now + .seconds(-3600)
                let next = try await engine.modify([record("m2", at: 60_001)], in: zone, now: back)
                let beyond = try await engine.modify([record("m3", at: 60_003)], in: zone, now: back)
                try ContractViolation.requireEqual(next.map(sequence), [3], "a millisecond beyond")
                try ContractViolation.requireEqual(beyond.map(\.fate), [.clockSkew], "more than a millisecond beyond")
                try ContractViolation.requireEqual(beyond.map(\.record), [record("m3", at: 60_000)], "as stored")
            },
            inZone("record_isRefused_whenItWouldHaveTooManyProperties") { engine in
                let half = CloudLimits.propertiesPerRecord / 2
                func properties(_ range: Range<Int>) -> [String: Int64] {
                    Dictionary(uniqueKeysWithValues: range.map { ("p\($0)", 1) })
                }
                let full = [record("m", properties(0..<half)), record("m", properties(half..<2 * half))]
                let taken = try await engine.modify(full, in: zone, now: now)
                let refused = try await engine.modify([record("m", ["more": 1])], in: zone, now: now)
                let changed = try await engine.modify([record("m", ["p1": 2], at: 1)], in: zone, now: now)
                try ContractViolation.requireEqual(taken.map(sequence), [1, 2], "as many as there may be")
                try ContractViolation.requireEqual(refused.map(\.fate), [.tooManyProperties], "one more")
                try ContractViolation.requireEqual(changed.map(sequence), [3], "one that is there")
            },
            inZone("emptyRecord_isNoChange") { engine in
                let outcome = try await engine.modify([record("m", [:])], in: zone, now: now).first
                try ContractViolation.requireEqual(outcome, RecordOutcome(fate: .unchanged, record: nil), "outcome")
            },
            inZone("whoBroughtIt_isKept_andIsNoChange") { engine in
                let forged = record("m", deletedAt: -1).brought(by: .numbered(2))
                _ = try await engine.modify([forged], in: zone, now: now)
                let again = try await engine.modify([record("m", deletedAt: -1)], in: zone, now: now)
                try ContractViolation.requireEqual(again.map(\.fate), [.unchanged], "the author's own")
                let stored = try await engine.record(forged.key, in: zone)
                let page = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 9).records
                for found in [stored] + page {
                    try ContractViolation.requireEqual(
                        found?.properties["a"]?.broughtBy, .numbered(2), "who brought the property")
                    try ContractViolation.requireEqual(
                        found?.deletion?.broughtBy, .numbered(2), "who brought the deletion")
                }
            },
            inZone("records_comeByTypeAndName") { engine in
                let batch = [record("b"), record("a"), record("c", type: .host)]
                _ = try await engine.modify(batch + [record("d", [:], deletedAt: 0)], in: zone, now: now)
                try ContractViolation.requireEqual(
                    await engine.records(in: zone, type: nil).map(\.key.name), ["a", "b", "d", "c"], "all")
                try ContractViolation.requireEqual(
                    await engine.records(in: zone, type: .host), [record("c", type: .host)], "of a type")
            },
            inZone("zones_shareNothing") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                _ = try await engine.modify([record("m")], in: zone, now: now)
                try ContractViolation.requireEqual(await engine.records(in: "other", type: nil), [], "records")
                try ContractViolation.requireEqual(await engine.zone("other")?.sequence, 0, "sequence")
                let there = try await engine.modify([record("m")], in: "other", now: now)
                try ContractViolation.requireEqual(there.map(sequence), [1], "its own sequence")
            },
            inZone("modify_isDone_whenTheTaskIsCancelled") { engine in
                try await inCancelledTask { _ = try await engine.modify([record("m")], in: zone, now: now) }
                try ContractViolation.requireEqual(
                    await engine.records(in: zone, type: nil), [record("m")], "records")
            },
        ]
    }
}
