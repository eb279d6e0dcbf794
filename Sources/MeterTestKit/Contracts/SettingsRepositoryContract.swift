import Domain
package import Gateway
import GatewayAPI

/// Contract of `SettingsRepository`. Each clause needs an empty repository.
package enum SettingsRepositoryContract {
    package typealias Clause = ContractClause<any SettingsRepository & SyncRepository>

    package static var clauses: [Clause] {
        writeClauses + outcomeClauses + clockClauses + deletionClauses + historyClauses + otherClauses
    }

    private static var writeClauses: [Clause] {
        [
            Clause("records_areNone_atFirst") { repository in
                try ContractViolation.requireEqual(await repository.record(.desk), nil, "record")
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings), [], "records")
                try ContractViolation.requireEqual(await repository.progress(), SyncProgress(), "progress")
            },
            Clause("values_comeBackWhole_ofEveryKind") { repository in
                for (index, value) in values.enumerated() {
                    try await repository.set(.desk, "v\(index)", value, at: .minute(0))
                }
                let found = try await repository.values(of: .desk)
                for (index, value) in values.enumerated() {
                    try ContractViolation.requireEqual(found["v\(index)"], value, "value \(index)")
                }
            },
            Clause("write_changesOnlyItsProperties") { repository in
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(0))
                try await repository.set(.desk, "units", .string("C"), at: .minute(1))
                try await repository.set(.desk, "name", .string("Bench"), at: .minute(2))
                try await repository.set(.shed, "name", .string("Shed"), at: .minute(3))
                try ContractViolation.requireEqual(
                    await repository.values(of: .desk), ["name": .string("Bench"), "units": .string("C")], "values")
                try ContractViolation.requireEqual(
                    await repository.values(of: .shed), ["name": .string("Shed")], "the other's values")
            },
            Clause("write_goesToTheNormalName") { repository in
                let old = RecordKey(type: .deviceSettings, name: "aabbccddeeff")
                let outcome = try await repository.write(
                    [SettingChange(key: old, property: "name", value: .string("Desk"))], at: .minute(0))
                try ContractViolation.requireEqual(outcome.plain, MergeOutcome(changed: [.desk]), "outcome")
                try ContractViolation.requireEqual(
                    await repository.records(of: .deviceSettings).map(\.key), [.desk], "records")
            },
            Clause("write_writesNothing_whenOneChangeCannotBeKept") { repository in
                for (property, value) in [
                    ("", SettingValue.null), ("a b", .null), ("x", .double(.infinity)),
                    ("x", .string(String(repeating: "x", count: SettingValue.stringBytesMax + 1))),
                ] {
                    try await ContractViolation.requireThrow("property \"\(property)\"") {
                        _ = try await repository.write(
                            [
                                SettingChange(key: .desk, property: "name", value: .string("Desk")),
                                SettingChange(key: .shed, property: property, value: value),
                            ], at: .minute(0))
                    }
                }
                try ContractViolation.requireEqual(await repository.record(.desk), nil, "record")
                try ContractViolation.requireEqual(await repository.progress().pending, 0, "pending")
            },
            Clause("write_isKept_whenTheTaskIsCancelled") { repository in
                try await inCancelledTask {
                    try await repository.set(.desk, "name", .string("Desk"), at: .minute(0))
                }
                try ContractViolation.requireEqual(
                    await repository.values(of: .desk), ["name": .string("Desk")], "values")
            },
        ]
    }

    private static var outcomeClauses: [Clause] {
        [
            Clause("outcomes_haveTheSettingsAsTheyAre_inOrder") { repository in
                var outcomes: [MergeOutcome] = []
                func check(_ outcome: MergeOutcome, _ what: String) async throws {
                    try ContractViolation.requireEqual(outcome.changed, [.desk], "\(what): changed")
                    let now = try await repository.record(.desk) ?? SyncRecord(key: .desk)
                    try ContractViolation.requireEqual(outcome.present, [now], what)
                    outcomes.append(outcome)
                }
                let values = ["name", "notes", "name"].map {
                    SettingChange(key: .desk, property: $0, value: .string($0))
                }
                try await check(repository.write(values, at: .minute(0)), "write")
                let theirs = SyncRecord(.desk, ["name": (.string("Theirs"), .minute(5))])
                try await check(repository.apply(.of([theirs], token: "t1")), "page")
                try await check(repository.delete(.desk, at: .minute(6)), "deletion")
                let later = SyncRecord(.desk, ["a": (.int(1), .minute(8)), "b": (.int(1), .minute(8))])
                try await check(repository.apply(.of([later], token: "t2")), "page after that")
                try await repository.beginRefetch(of: .deviceSettings)
                let less = SyncRecord(.desk, ["a": (.int(1), .minute(8))])
                try await check(repository.apply(.of([less], token: "r1")), "part that is not listed")
                try await repository.beginRefetch(of: .deviceSettings)
                try await check(repository.apply(.of([], token: "r2")), "record that is not listed")
                let id = try ContractViolation.requireSome(await repository.parked(limit: 1).first?.id, "parked")
                guard case .restored(_, let restored) = try await repository.restoreParked(id) else {
                    throw ContractViolation(description: "nothing was restored")
                }
                try await check(restored, "restored")
                let numbers = outcomes.map(\.number)
                try ContractViolation.require(zip(numbers, numbers.dropFirst()).allSatisfy(<), "\(numbers)")
            },
            Clause("outcomes_haveAllAliases_whereOneChanged_andNothingElse") { repository in
                let aliases = ["AA", "BB"].map { RecordKey(type: .meterAlias, name: $0) }
                for key in aliases { try await repository.set(key, "meter", .string("CC"), at: .minute(0)) }
                let outcome = try await repository.delete(aliases[0], at: .minute(1))
                try ContractViolation.requireEqual(
                    outcome.present, await repository.records(of: .meterAlias), "aliases")
                let host = SettingChange(key: RecordKey(type: .host, name: "h"), property: "name", value: .int(1))
                try ContractViolation.requireEqual(
                    await repository.write([host], at: .minute(2)).present, [], "of other types")
            },
        ]
    }

    private static let values: [SettingValue] = [
        .null, .bool(true), .bool(false), .int(0), .int(.min), .int(.max), .double(0), .double(-0.0), .double(1),
        .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude), .double(0.1), .string(""), .string("1"),
        .string("e\u{301}"), .string("\u{e9}"), .string("a\u{0}b"), .string("\u{0}"), .string("🔌\n\"'"),
        .string(String(repeating: "x", count: SettingValue.stringBytesMax)),
    ]

    private static var clockClauses: [Clause] {
        [
            Clause("stamps_areOfTheWallClock_andOfThisHost") { repository in
                let host = try await repository.hostIdentity()
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(7))
                let record = try await repository.record(.desk)
                let stamp = try ContractViolation.requireSome(record?.properties["name"]?.stamp, "stamp")
                try ContractViolation.requireEqual(stamp.milliseconds, HostMoment.minute(7).milliseconds, "time")
                try ContractViolation.requireEqual(stamp.host, host, "host")
                try ContractViolation.requireEqual(await repository.hostIdentity(), host, "host, asked again")
            },
            Clause("stamps_grow_whenTheWallClockStepsBack") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(100))
                try await repository.set(.shed, "a", .int(2), at: .minute(3))
                try await repository.set(.desk, "a", .int(3), at: .minute(2))
                let first = try await repository.record(.shed)?.properties["a"]
                let second = try await repository.record(.desk)?.properties["a"]
                try ContractViolation.requireEqual(second?.value, .int(3), "value")
                let (earlier, later) = (
                    try ContractViolation.requireSome(first?.stamp, "stamp"),
                    try ContractViolation.requireSome(second?.stamp, "stamp")
                )
                try ContractViolation.require(later > earlier, "\(later) is not greater than \(earlier)")
                try ContractViolation.requireEqual(later.milliseconds, HostMoment.minute(100).milliseconds, "time")
            },
            Clause("write_wins_overWhateverStandsThere") { repository in
                let ahead = Stamp(milliseconds: HostMoment.minute(1).milliseconds + 50_000, counter: 9, host: .other)
                _ = try await repository.apply(.of([SyncRecord(.desk, ["a": (.int(1), ahead)])], token: "t1"))
                try await repository.set(.desk, "a", .int(2), at: .minute(1))
                try ContractViolation.requireEqual(await repository.values(of: .desk), ["a": .int(2)], "values")
            },
        ]
    }

    private static var deletionClauses: [Clause] {
        [
            Clause("deletion_hidesEverything_andLeavesATombstone") { repository in
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(0))
                let outcome = try await repository.delete(.desk, at: .minute(1))
                try ContractViolation.requireEqual(outcome.plain, MergeOutcome(changed: [.desk]), "outcome")
                let record = try await repository.record(.desk)
                try ContractViolation.requireEqual(record?.isTombstone, true, "tombstone")
                try ContractViolation.requireEqual(
                    await repository.records(of: .deviceSettings), record.map { [$0] }, "records")
            },
            Clause("deletion_changesNothing_whereNothingIs") { repository in
                try ContractViolation.requireEqual(
                    await repository.delete(.desk, at: .minute(0)).plain, MergeOutcome(unchanged: 1), "outcome")
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(1))
                _ = try await repository.delete(.desk, at: .minute(2))
                let before = try await repository.record(.desk)
                try ContractViolation.requireEqual(
                    await repository.delete(.desk, at: .minute(3)).plain, MergeOutcome(unchanged: 1), "outcome again")
                try ContractViolation.requireEqual(await repository.record(.desk), before, "tombstone")
            },
            Clause("deletedRecord_isRevived_withLaterPropertiesOnly") { repository in
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(0))
                _ = try await repository.delete(.desk, at: .minute(1))
                try await repository.set(.desk, "units", .string("F"), at: .minute(2))
                try ContractViolation.requireEqual(
                    await repository.values(of: .desk), ["units": .string("F")], "values")
            },
            Clause("deletion_winsOverStampsAhead_andIsTold") { repository in
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(100))
                _ = try await repository.delete(.desk, at: .minute(1))
                let batch = try await repository.nextBatch(recordsMax: 10, bytesMax: 10_000)
                try ContractViolation.requireEqual(
                    batch?.records, try await repository.record(.desk).map { [$0] }, "batch")
                try ContractViolation.requireEqual(batch?.records.first?.isTombstone, true, "tombstone")
                try ContractViolation.requireEqual(await repository.progress().pending, 1, "pending")
            },
        ]
    }

    private static var historyClauses: [Clause] {
        [
            Clause("history_tellsWhoBroughtIt") { repository in
                let (first, second) = (HostID(high: 1, low: 2), HostID(high: 3, low: 4))
                let old = SyncRecord(.desk, ["name": (.string("Desk"), .minute(1))]).brought(by: first)
                let new = SyncRecord(.desk, ["name": (.string("Bench"), .minute(2))]).brought(by: second)
                let gone = SyncRecord(.desk, [:], deleted: .minute(3)).brought(by: first)
                for (record, token) in [(old, "t1"), (new, "t2"), (gone, "t3")] {
                    _ = try await repository.apply(.of([record], token: token))
                }
                let losses = try await repository.history(of: .desk, property: nil, limit: 9).map(\.overwritten)
                try ContractViolation.requireEqual(losses.map(\.broughtBy), [first, second], "by whom")
                try ContractViolation.requireEqual(losses.map(\.old.broughtBy), [second, first], "the old ones")
                let stored = try await [repository.record(.desk)] + repository.records(of: .deviceSettings)
                for record in stored {
                    try ContractViolation.requireEqual(record?.deletion?.broughtBy, first, "the deletion")
                }
            },
            Clause("whoBroughtIt_isKept") { repository in
                let record = SyncRecord(.desk, ["name": (.string("Desk"), .minute(1))]).brought(
                    by: HostID(high: 1, low: 2))
                _ = try await repository.apply(.of([record], token: "t1"))
                let stored = try await [repository.record(.desk)] + repository.records(of: .deviceSettings)
                for record in stored {
                    try ContractViolation.requireEqual(
                        record?.properties["name"]?.broughtBy, HostID(high: 1, low: 2), "the property")
                }
                try await repository.set(.desk, "name", .string("Own"), at: .minute(5))
                try ContractViolation.requireEqual(
                    await repository.record(.desk)?.properties["name"]?.broughtBy, nil, "written here")
            },
            Clause("history_tellsWhatWasOverwritten_theLatestFirst") { repository in
                for (minute, name) in ["Desk", "Bench", "Bench", "Shelf"].enumerated() {
                    try await repository.set(.desk, "name", .string(name), at: .minute(minute))
                }
                try await repository.set(.desk, "units", .string("C"), at: .minute(9))
                try await repository.set(.desk, "units", .string("F"), at: .minute(10))
                let all = try await repository.history(of: .desk, property: nil, limit: 10)
                try ContractViolation.requireEqual(
                    all.map(\.overwritten.old.value), [.string("C"), .string("Bench"), .string("Desk")], "old values")
                try ContractViolation.requireEqual(
                    all.map(\.overwritten.new), [.string("F"), .string("Shelf"), .string("Bench")], "new values")
                try ContractViolation.requireEqual(
                    all.map(\.at.millisecondsSince1970),
                    [10, 3, 1].map { HostMoment.minute($0).wall.millisecondsSince1970 },
                    "times")
                try ContractViolation.requireEqual(
                    await repository.history(of: .desk, property: "name", limit: 1).map(\.overwritten.old.value),
                    [.string("Bench")], "the last name")
                try ContractViolation.requireEqual(
                    await repository.history(of: .shed, property: nil, limit: 10), [], "another record's")
            },
            Clause("history_namesWhoOverwrote") { repository in
                let host = try await repository.hostIdentity()
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(0))
                let theirs = SyncRecord(.desk, ["name": (.string("Theirs"), .minute(5))])
                _ = try await repository.apply(.of([theirs], token: "t1"))
                let entry = try ContractViolation.requireSome(
                    await repository.history(of: .desk, property: nil, limit: 10).first, "entry")
                try ContractViolation.requireEqual(entry.overwritten.by, .minute(5), "who and when")
                try ContractViolation.requireEqual(entry.overwritten.old.stamp.host, host, "whose it was")
            },
            Clause("history_tellsWhatADeletionTook") { repository in
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(0))
                _ = try await repository.delete(.desk, at: .minute(1))
                let entries = try await repository.history(of: .desk, property: "name", limit: 10)
                let deletion = try await repository.record(.desk)?.deletion?.stamp
                try ContractViolation.requireEqual(entries.map(\.overwritten.new), [nil], "new values")
                try ContractViolation.requireEqual(entries.map(\.overwritten.by), deletion.map { [$0] }, "by")
            },
        ]
    }

    private static var otherClauses: [Clause] {
        [
            Clause("records_comeInOrderOfTheirNames_eachTypeAlone") { repository in
                for name in ["zz", "a", "ä", "Z", "AA:BB:CC:DD:EE:FF"] {
                    let key = RecordKey(type: .deviceSettings, name: name)
                    try await repository.set(key, "name", .string(name), at: .minute(0))
                }
                try await repository.set(RecordKey(type: .host, name: "h"), "name", .string("Pi"), at: .minute(1))
                try ContractViolation.requireEqual(
                    await repository.records(of: .deviceSettings).map(\.key.name),
                    ["AA:BB:CC:DD:EE:FF", "Z", "a", "zz", "ä"], "names")
                try ContractViolation.requireEqual(
                    await repository.records(of: .host).map(\.key.name), ["h"], "hosts")
            },
            Clause("rebuild_comesToItsEnd_step_byStep") { repository in
                for number in 0..<5 {
                    try await repository.set(
                        RecordKey(type: .deviceSettings, name: "m\(number)"), "name", .int(0), at: .minute(number))
                }
                try ContractViolation.requireEqual(
                    await repository.rebuildProgress(), RebuildProgress(version: RebuildPlan.version), "at first")
                let first = try await repository.rebuildStep(recordsMax: 2, at: WallTime(millisecondsSince1970: 0))
                try ContractViolation.requireEqual(first.progress.scanned, 2, "scanned")
                try ContractViolation.requireEqual(first.progress.isComplete, false, "complete")
                try ContractViolation.requireEqual(await repository.rebuildProgress(), first.progress, "stored")
                var steps = 1
                while try await !repository.rebuildProgress().isComplete, steps < 10 {
                    _ = try await repository.rebuildStep(recordsMax: 2, at: WallTime(millisecondsSince1970: 0))
                    steps += 1
                }
                let last = try await repository.rebuildProgress()
                try ContractViolation.requireEqual(last.scanned, 5, "scanned")
                try ContractViolation.requireEqual(last.isComplete, true, "complete")
                try ContractViolation.requireEqual(last.folded, 0, "folded")
                let after = try await repository.rebuildStep(recordsMax: 2, at: WallTime(millisecondsSince1970: 0))
                try ContractViolation.requireEqual(after.progress, last, "after the end")
            },
        ]
    }
}
