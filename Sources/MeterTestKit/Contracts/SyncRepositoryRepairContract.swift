import Domain
import Gateway
import GatewayAPI

enum SyncRepositoryRepairContract {
    typealias Clause = SyncRepositoryContract.Clause

    static var clauses: [Clause] { refetchClauses + adoptClauses + restampClauses + correctClauses + cleanUpClauses }

    private static var refetchClauses: [Clause] {
        [
            Clause("refetch_setsAsideWhatItDidNotSee_butNotWhatWaits") { repository in
                let all = SyncRecord.many(0..<4)
                _ = try await repository.apply(.of(all, token: "old"))
                try await repository.set(all[3].key, "mine", .int(1), at: .minute(5))
                try await repository.set(.desk, "mine", .int(1), at: .minute(5))
                try await repository.beginRefetch(of: .deviceSettings)
                try ContractViolation.requireEqual(await repository.progress().refetching, [.deviceSettings], "types")
                try ContractViolation.requireEqual(await repository.progress().tokens, [:], "from the beginning")
                _ = try await repository.apply(.of([all[0]], token: "r1", moreComing: true))
                try ContractViolation.requireEqual(
                    await repository.progress().tokens, [.deviceSettings: "r1"], "where it goes on")
                try ContractViolation.requireEqual(
                    await repository.records(of: .deviceSettings).count, 5, "nothing goes before the end")
                let outcome = try await repository.apply(.of([all[1]], token: "r2"))
                try ContractViolation.requireEqual(Set(outcome.changed), [all[2].key, all[3].key], "changed")
                try ContractViolation.requireEqual(await repository.record(all[2].key), nil, "unseen")
                try ContractViolation.requireEqual(
                    await repository.values(of: all[3].key), ["mine": .int(1)], "what waits of an unseen one")
                try ContractViolation.requireEqual(await repository.values(of: .desk), ["mine": .int(1)], "never told")
                try ContractViolation.requireEqual(await repository.record(all[0].key), all[0], "seen")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.refetching, [], "types at the end")
                try ContractViolation.requireEqual(progress.tokens, [.deviceSettings: "r2"], "token at the end")
                try ContractViolation.requireEqual(progress.pending, 2, "pending")
                let parked = try await repository.parked(limit: 9)
                try ContractViolation.requireEqual(
                    Set(parked.map(\.name)), [all[2].key.name, all[3].key.name], "set aside")
                try ContractViolation.requireEqual(Set(parked.map(\.reason)), [.unlisted], "reasons")
                try ContractViolation.requireEqual(progress.parked, 2, "parked")
            },
            Clause("refetch_setsAsideWhatTheCloudDoesNotListOfARecord") { repository in
                let both = SyncRecord(.desk, ["a": (.int(1), .minute(0)), "b": (.int(2), .minute(1))])
                _ = try await repository.apply(.of([both], token: "old"))
                try await repository.beginRefetch(of: .deviceSettings)
                let left = SyncRecord(.desk, ["b": (.int(2), .minute(1))])
                _ = try await repository.apply(.of([left], token: "r1"))
                try ContractViolation.requireEqual(await repository.record(.desk), left, "record")
                try ContractViolation.requireEqual(
                    await repository.parked(limit: 9).map { $0.values.keys.sorted() }, [["a"]], "set aside")
            },
            Clause("refetch_setsAsideNoDeletion_andNothingThatWasSeenDeleted") { repository in
                _ = try await repository.apply(
                    .of(
                        [SyncRecord(.desk, ["a": (.int(1), .minute(0))]), SyncRecord(.shed, [:], deleted: .minute(1))],
                        token: "t1"))
                try await repository.beginRefetch(of: .deviceSettings)
                _ = try await repository.apply(.of([SyncRecord(.desk, [:], deleted: .minute(3))], token: "r1"))
                try ContractViolation.requireEqual(await repository.parked(limit: 9), [], "set aside")
                try ContractViolation.requireEqual(await repository.record(.desk)?.isTombstone, true, "tombstone")
                try ContractViolation.requireEqual(
                    await repository.history(of: .desk, property: "a", limit: 9).map(\.overwritten.by), [.minute(3)],
                    "history")
            },
            Clause("refetch_forgetsADeletion_thatTheCloudDoesNotList") { repository in
                let written = SyncRecord(.desk, ["a": (.int(1), .minute(5))])
                _ = try await repository.apply(
                    .of([SyncRecord(.desk, ["a": (.int(1), .minute(5))], deleted: .minute(1))], token: "old"))
                try await repository.beginRefetch(of: .deviceSettings)
                let outcome = try await repository.apply(.of([written], token: "r1"))
                try ContractViolation.requireEqual(await repository.record(.desk), written, "record")
                try ContractViolation.requireEqual(outcome.changed, [.desk], "changed")
                try ContractViolation.requireEqual(await repository.parked(limit: 9), [], "set aside")
            },
            Clause("refetch_keepsWhatWasToldMeanwhile") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                try await repository.beginRefetch(of: .deviceSettings)
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: 10_000), "batch")
                _ = try await repository.settle(batch, .to(batch))
                _ = try await repository.apply(.of([], token: "r1"))
                try ContractViolation.requireEqual(await repository.values(of: .desk), ["a": .int(1)], "values")
            },
            Clause("refetch_beginsAnew_whenItsOwnTokenExpires") { repository in
                let all = SyncRecord.many(0..<2)
                _ = try await repository.apply(.of(all, token: "old"))
                try await repository.beginRefetch(of: .deviceSettings)
                _ = try await repository.apply(.of([all[0]], token: "r1", moreComing: true))
                try await repository.beginRefetch(of: .deviceSettings)
                try ContractViolation.requireEqual(await repository.progress().tokens, [:], "from the beginning")
                _ = try await repository.apply(.of([all[1]], token: "s1"))
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings), [all[1]], "records")
            },
            Clause("refetch_keepsWhatTheCloudRefused") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: 10_000), "batch")
                _ = try await repository.settle(batch, .to(batch, failures: [.desk: .badRequest]))
                try await repository.beginRefetch(of: .deviceSettings)
                _ = try await repository.apply(.of([], token: "r1"))
                try ContractViolation.requireEqual(await repository.values(of: .desk), ["a": .int(1)], "values")
            },
        ]
    }

    private static var adoptClauses: [Clause] {
        [
            Clause("adoption_forgetsTokens_andQueuesEverything") { repository in
                let all = SyncRecord.many(0..<3)
                let gone = SyncRecord(.shed, [:], deleted: .minute(2))
                _ = try await repository.apply(.of(all + [gone], token: "old"))
                try await repository.set(.desk, "a", .int(1), at: .minute(3))
                try await repository.beginRefetch(of: .deviceSettings)
                try await repository.adopt(epoch: "e2")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.epoch, "e2", "epoch")
                try ContractViolation.requireEqual(progress.tokens, [:], "tokens")
                try ContractViolation.requireEqual(progress.refetching, [], "refetching")
                let desk = try ContractViolation.requireSome(await repository.record(.desk), "record")
                try ContractViolation.requireEqual(
                    Set(await repository.waiting()), Set(all + [gone, desk]), "waiting")
                _ = try await repository.apply(.of([], token: "new", epoch: "e2"))
            },
            Clause("adoption_leavesWhatWaitsAsItIs") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(3))
                let before = try await repository.waiting()
                try await repository.adopt(epoch: "e2")
                try await repository.adopt(epoch: "e2")
                try ContractViolation.requireEqual(await repository.waiting(), before, "waiting")
                try ContractViolation.requireEqual(await repository.progress().pending, 1, "pending")
            },
        ]
    }

    private static let year = 365 * 24 * 60

    private static var restampClauses: [Clause] {
        [
            Clause("restamping_takesTheFutureDown_inItsOrder") { repository in
                try await repository.set(.shed, "right", .int(0), at: .minute(0))
                try await repository.set(.desk, "a", .int(1), at: .minute(year))
                try await repository.set(.desk, "b", .int(2), at: .minute(year + 1))
                _ = try await repository.delete(.shed, at: .minute(year + 2))
                try await repository.set(.shed, "c", .int(3), at: .minute(year + 3))
                let now = HostMoment.minute(10).milliseconds
                try await repository.restamp(from: now)
                let desk = try ContractViolation.requireSome(await repository.record(.desk), "record")
                let shed = try ContractViolation.requireSome(await repository.record(.shed), "record")
                let stamps = [
                    desk.properties["a"]?.stamp, desk.properties["b"]?.stamp, shed.deletion?.stamp,
                    shed.properties["c"]?.stamp,
                ].compactMap { $0 }
                try ContractViolation.requireEqual(stamps.count, 4, "stamps")
                try ContractViolation.requireEqual(stamps, stamps.sorted(), "order")
                try ContractViolation.requireEqual(Set(stamps.map(\.milliseconds)), [now], "times")
                try ContractViolation.requireEqual(
                    Set(await repository.waiting().flatMap { $0.properties.values.map(\.value) }),
                    [.int(1), .int(2), .int(3)], "waiting")
                try await repository.set(.desk, "a", .int(9), at: .minute(11))
                let later = try await repository.record(.desk)?.properties["a"]
                try ContractViolation.requireEqual(
                    later, Register(value: .int(9), stamp: later?.stamp ?? .minute(0)), "a later write")
                try ContractViolation.requireEqual(
                    later?.stamp.milliseconds, HostMoment.minute(11).milliseconds, "the clock came down")
            },
            Clause("restamping_leavesWhatIsRight_andWhatTheCloudKnows") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(1))
                let alone = try await repository.record(.desk)
                try await repository.restamp(from: HostMoment.minute(2).milliseconds)
                try ContractViolation.requireEqual(await repository.record(.desk), alone, "before the cloud sent any")
                _ = try await repository.apply(.of([SyncRecord(.shed, ["a": (.int(1), .minute(20))])], token: "t1"))
                try await repository.set(.desk, "a", .int(1), at: .minute(1))
                let before = try await repository.record(.desk)
                try await repository.restamp(from: HostMoment.minute(2).milliseconds)
                try ContractViolation.requireEqual(await repository.record(.desk), before, "record")
                try await repository.set(.desk, "a", .int(2), at: .minute(year))
                try await repository.restamp(from: HostMoment.minute(2).milliseconds)
                let after = try await repository.record(.desk)?.properties["a"]?.stamp
                try ContractViolation.require(
                    after.map { $0 > .minute(20) && $0.milliseconds == Stamp.minute(20).milliseconds } ?? false,
                    "a write after what the cloud sent is stamped \(String(describing: after))")
            },
            Clause("restamping_leavesWhatFollowsTheCloudsOwnFuture") { repository in
                let future = Stamp.minute(30 * 24 * 60)
                _ = try await repository.apply(.of([SyncRecord(.shed, ["a": (.int(1), future)])], token: "t1"))
                try await repository.set(.desk, "a", .int(1), at: .minute(1))
                let before = try await repository.record(.desk)
                let later = Stamp(milliseconds: future.milliseconds, counter: 9, host: future.host)
                _ = try await repository.apply(.of([SyncRecord(.shed, ["a": (.int(2), later)])], token: "t2"))
                try await repository.restamp(from: HostMoment.minute(2).milliseconds)
                try ContractViolation.requireEqual(await repository.record(.desk), before, "record")
            },
        ]
    }

    private static var correctClauses: [Clause] {
        [
            Clause("correction_movesWritesToTheirTrueTime_whenTheClockWasBehind") { repository in
                let wrong = Duration.seconds(-40 * 365 * 86_400)
                try await repository.set(.desk, "a", .int(1), at: .minute(0, wrongBy: wrong))
                try await repository.set(.desk, "b", .int(1), at: .minute(3, wrongBy: wrong))
                try await repository.correct(clockOffset: .zero - wrong, at: .minute(10, wrongBy: wrong))
                try await requireTimes(["a": 0, "b": 3], in: repository)
                try await repository.set(.desk, "c", .int(1), at: .minute(12, wrongBy: wrong))
                try await requireTimes(["a": 0, "b": 3, "c": 12], in: repository)
            },
            Clause("correction_movesWritesToTheirTrueTime_whenTheClockWasAhead") { repository in
                let wrong = Duration.seconds(86_400)
                try await repository.set(.desk, "a", .int(1), at: .minute(0, wrongBy: wrong))
                try await repository.correct(clockOffset: .zero - wrong, at: .minute(10, wrongBy: wrong))
                try await requireTimes(["a": 0], in: repository)
                try await repository.set(.desk, "b", .int(1), at: .minute(11, wrongBy: wrong))
                try await requireTimes(["a": 0, "b": 11], in: repository)
            },
            Clause("correction_keepsWhatWasWrittenAfterADeletion") { repository in
                let wrong = Duration.seconds(-40 * 365 * 86_400)
                try await repository.set(.desk, "a", .int(1), at: .minute(0, wrongBy: wrong))
                _ = try await repository.delete(.desk, at: .minute(1, wrongBy: wrong))
                try await repository.set(.desk, "b", .int(1), at: .minute(3, wrongBy: wrong))
                try await repository.correct(clockOffset: .zero - wrong, at: .minute(10, wrongBy: wrong))
                try await requireTimes(["b": 3], in: repository)
                try ContractViolation.requireEqual(
                    await repository.record(.desk)?.deletion?.stamp.milliseconds, HostMoment.minute(1).milliseconds,
                    "deletion")
            },
            Clause("correction_leavesADeletionBeforeWhatFollowedIt_whenTheCalendarWasSetBetween") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0, wrongBy: .seconds(-1_000_000)))
                _ = try await repository.delete(.desk, at: .minute(1, wrongBy: .seconds(-1_000_000)))
                try await repository.set(.desk, "b", .int(1), at: .minute(3))
                try await repository.correct(clockOffset: .zero, at: .minute(10))
                try await requireTimes(["b": 3], in: repository)
            },
            Clause("correction_countsFromTheStart_whenTheCalendarWasSetMeanwhile") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0, wrongBy: .seconds(-1_000_000)))
                // The wall clock was corrected before the first contact with the cloud, so all stamps are right.
                try await repository.correct(clockOffset: .zero, at: .minute(10))
                try await requireTimes(["a": 0], in: repository)
                // A wall clock that is wrong from now on does not change the stamps.
                try await repository.set(.desk, "b", .int(1), at: .minute(11, wrongBy: .seconds(5_000_000)))
                try await requireTimes(["a": 0, "b": 11], in: repository)
            },
            Clause("correction_leavesWhatIsNearlyRight_andWhatWasTold") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0, wrongBy: .seconds(-59)))
                try await repository.set(.shed, "a", .int(1), at: .minute(5))
                let before = try await repository.waiting()
                try await repository.correct(clockOffset: .seconds(59), at: .minute(6, wrongBy: .seconds(-59)))
                try ContractViolation.requireEqual(await repository.waiting(), before, "nearly right")
                // Both values were sent without a known result, so the correction must not change their stamps.
                try await repository.correct(clockOffset: .seconds(90_000), at: .minute(7))
                try ContractViolation.requireEqual(await repository.waiting(), before, "told")
            },
        ]
    }

    private static func requireTimes(
        _ minutes: [String: Int], in repository: any SettingsRepository & SyncRepository
    ) async throws {
        let record = try await repository.record(.desk)
        let found = record?.properties.mapValues { $0.stamp.milliseconds }
        try ContractViolation.requireEqual(found, minutes.mapValues { HostMoment.minute($0).milliseconds }, "times")
    }

    private static var cleanUpClauses: [Clause] {
        [
            Clause("cleanUp_takesOldHistory") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                try await repository.set(.desk, "a", .int(2), at: .minute(1))
                try await repository.set(.desk, "a", .int(3), at: .minute(24 * 60))
                try await repository.cleanUp(now: HostMoment.minute(90 * 24 * 60 + 2).wall)
                try ContractViolation.requireEqual(
                    await repository.history(of: .desk, property: nil, limit: 9).map(\.overwritten.old.value),
                    [.int(2)], "history")
                try ContractViolation.requireEqual(await repository.values(of: .desk), ["a": .int(3)], "values")
            },
            Clause("cleanUp_takesTombstonesAfterHalfAYear_unlessTheyWait") { repository in
                let day = 24 * 60
                _ = try await repository.apply(.of([SyncRecord(.desk, [:], deleted: .minute(0))], token: "t1"))
                try await repository.set(.shed, "a", .int(1), at: .minute(0))
                _ = try await repository.delete(.shed, at: .minute(0))
                try await repository.cleanUp(now: HostMoment.minute(179 * day).wall)
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings).count, 2, "young")
                try await repository.cleanUp(now: HostMoment.minute(181 * day).wall)
                try ContractViolation.requireEqual(
                    await repository.records(of: .deviceSettings).map(\.key), [.shed], "what waits")
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: 10_000), "batch")
                _ = try await repository.settle(batch, .to(batch))
                try await repository.cleanUp(now: HostMoment.minute(181 * day).wall)
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings), [], "told")
            },
        ]
    }
}
