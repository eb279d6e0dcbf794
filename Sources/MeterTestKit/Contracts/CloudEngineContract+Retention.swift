import Cloud
import CloudAPI
import Domain

/// Clauses about deletion by age, and about the date from which a tombstone's age counts.
extension CloudEngineContract {
    static var purgeClauses: [Clause] {
        [
            inZone("purge_takesOldTombstones_andNothingElse") { engine in
                let day = Duration.seconds(86_400)
                _ = try await engine.modify([record("alive")], in: zone, now: now)
                _ = try await engine.modify(
                    [record("old", [:], deletedAt: 0), record("revived", ["a": 1], at: 2, deletedAt: 1)], in: zone,
                    now: now)
                let early = try await engine.purgeTombstones(before: now, dating: now)
                // Write a tombstone with an old stamp. Its age counts from the next purge, which therefore keeps it.
                _ = try await engine.modify([record("late", [:], deletedAt: -9)], in: zone, now: now)
                let purged = try await engine.purgeTombstones(before: now + day, dating: now + day)
                let again = try await engine.purgeTombstones(before: now + day, dating: now + day * 2)
                try ContractViolation.requireEqual([early, purged, again], [0, 1, 0], "counts")
                try ContractViolation.requireEqual(
                    await engine.records(in: zone, type: nil).map(\.key.name), ["alive", "late", "revived"], "left")
            },
            inZone("token_isExpired_whenBelowThePurge") { engine in
                _ = try await engine.modify([record("m1"), record("old", [:], deletedAt: 0)], in: zone, now: now)
                let epoch = try await engine.epoch
                let (before, at) = (ChangeToken(epoch: epoch, sequence: 1), ChangeToken(epoch: epoch, sequence: 2))
                _ = try await engine.purgeTombstones(before: now + .seconds(1))
                try await requireFailure(.changeTokenExpired, "below") {
                    _ = try await engine.changes(of: .deviceSettings, in: zone, after: before, limit: 9)
                }
                let page = try await engine.changes(of: .deviceSettings, in: zone, after: at, limit: 9)
                try ContractViolation.requireEqual(page.records, [], "news after the purged one")
            },
            inZone("firstReading_goesThrough_afterAPurge") { engine in
                let names = (0..<5).map { "m\($0)" }
                _ = try await engine.modify(names.map { record($0) }, in: zone, now: now)
                _ = try await engine.modify([record("old", [:], deletedAt: 0)], in: zone, now: now)
                _ = try await engine.purgeTombstones(before: now + .seconds(1))
                let all = try await readAll(engine, limit: 2)
                try ContractViolation.requireEqual(all.records.map(\.key.name), names, "records")
                try ContractViolation.requireEqual(all.token.sequence, 6, "the token at the end")
                try ContractViolation.requireEqual(all.token.floor, nil, "the first reading is over")
            },
            inZone("firstReading_isExpired_whenAPurgeComesBetween") { engine in
                _ = try await engine.modify([record("m1"), record("m2"), record("m3")], in: zone, now: now)
                let first = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 1)
                _ = try await engine.modify([record("m1", [:], deletedAt: 1)], in: zone, now: now)
                _ = try await engine.purgeTombstones(before: now + .seconds(1))
                try await requireFailure(.changeTokenExpired, "the second page") {
                    _ = try await engine.changes(of: .deviceSettings, in: zone, after: first.token, limit: 9)
                }
            },
        ]
    }

    static var believedDateClauses: [Clause] {
        [
            Clause("believedDate_isStored_whereNoOtherCopyWasQuicker") { engine in
                try ContractViolation.requireEqual(await engine.believedDate, nil, "at first")
                let first = try await engine.setBelievedDate(now, replacing: nil)
                let late = try await engine.setBelievedDate(now + .seconds(9), replacing: nil)
                let second = try await engine.setBelievedDate(now + .seconds(5), replacing: now)
                try ContractViolation.requireEqual([first, late, second], [true, false, true], "stored")
                try ContractViolation.requireEqual(await engine.believedDate, now + .seconds(5), "in the end")
            },
            Clause("newestStamp_isNone_withoutAZone") { engine in
                try ContractViolation.requireEqual(await engine.newestStamp(), nil, "newest")
            },
            inZone("newestStamp_isTheGreatestAccepted_ofAllZones") { engine in
                try ContractViolation.requireEqual(await engine.newestStamp(), nil, "of nothing")
                _ = try await engine.createZone("lab", terms: .standard)
                _ = try await engine.modify([record("m1", at: 2)], in: zone, now: now)
                let first = try await engine.newestStamp()
                _ = try await engine.modify([record("m1", at: 5)], in: "lab", now: now)
                _ = try await engine.modify([record("m2", at: 1)], in: zone, now: now)
                let second = try await engine.newestStamp()
                let expected: [WallTime?] = [now + .milliseconds(2), now + .milliseconds(5)]
                try ContractViolation.requireEqual([first, second], expected, "newest")
            },
            inZone("tombstone_ages_fromWhenItWasDated_whateverCalendarCameBefore") { engine in
                let year1970 = WallTime(millisecondsSince1970: 60_000)
                _ = try await engine.modify([record("m2", [:], deletedAt: 1)], in: zone, now: now)
                _ = try await engine.modify([record("m1", [:], deletedAt: 1)], in: zone, now: year1970)
                let first = try await engine.purgeTombstones(before: now + .seconds(60), dating: now + .seconds(60))
                _ = try await engine.modify([record("m3", [:], deletedAt: 1)], in: zone, now: now)
                let second = try await engine.purgeTombstones(before: now + .seconds(61), dating: now + .seconds(90))
                let third = try await engine.purgeTombstones(before: now + .seconds(91), dating: now + .seconds(91))
                try ContractViolation.requireEqual([first, second, third], [0, 2, 1], "counts")
            },
            inZone("tombstone_thatWasDated_andIsWrittenAgain_isDatedAnew") { engine in
                _ = try await engine.modify([record("m1", [:], deletedAt: 1)], in: zone, now: now)
                _ = try await engine.purgeTombstones(before: now, dating: now)
                _ = try await engine.modify([record("m1", ["a": 1], at: 2)], in: zone, now: now)
                _ = try await engine.modify([record("m1", [:], deletedAt: 3)], in: zone, now: now)
                let day = Duration.seconds(86_400)
                let early = try await engine.purgeTombstones(before: now + day, dating: now + day)
                let late = try await engine.purgeTombstones(before: now + day * 2, dating: now + day * 2)
                try ContractViolation.requireEqual([early, late], [0, 1], "counts")
            },
        ]
    }
}
