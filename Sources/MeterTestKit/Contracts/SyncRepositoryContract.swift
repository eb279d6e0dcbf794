import Domain
package import Gateway

/// Contract of `SyncRepository`. Each clause needs an empty repository that is also a `SettingsRepository` and was
/// opened with a boot id.
package enum SyncRepositoryContract {
    package typealias Clause = ContractClause<any SettingsRepository & SyncRepository>

    package static var clauses: [Clause] {
        batchClauses + settleClauses + refusalClauses + pageClauses + foreignClauses + cancellationClauses
            + SyncRepositoryToldContract.clauses + SyncRepositoryRepairContract.clauses
            + SyncRepositoryZoneContract.clauses + SyncRepositoryHeldBackContract.clauses
    }

    private static let much = 1 << 20

    private static var batchClauses: [Clause] {
        [
            Clause("batch_isNone_whenNothingWaits") { repository in
                try ContractViolation.requireEqual(
                    await repository.nextBatch(recordsMax: 10, bytesMax: much), nil, "batch")
                _ = try await repository.apply(.of(SyncRecord.many(0..<3), token: "t1"))
                try ContractViolation.requireEqual(
                    await repository.nextBatch(recordsMax: 10, bytesMax: much), nil, "others' words")
            },
            Clause("batch_hasOnlyWhatWaits_andTakesNothingOut") { repository in
                _ = try await repository.apply(
                    .of([SyncRecord(.desk, ["units": (.string("C"), .minute(0))])], token: "t1"))
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(1))
                for _ in 0..<2 {
                    let batch = try await repository.nextBatch(recordsMax: 10, bytesMax: much)
                    try ContractViolation.requireEqual(
                        batch?.records.map { Array($0.properties.keys) }, [["name"]], "properties")
                }
                try ContractViolation.requireEqual(await repository.progress().pending, 1, "pending")
            },
            Clause("batch_goesByType_thenByAge") { repository in
                let keys = [
                    RecordKey(type: RecordType(rawValue: "Newer"), name: "n"), RecordKey(type: .recording, name: "r"),
                    .shed, .desk, RecordKey(type: .host, name: "h"),
                ]
                for (minute, key) in keys.enumerated() {
                    try await repository.set(key, "a", .int(0), at: .minute(minute))
                }
                let batch = try await repository.nextBatch(recordsMax: 10, bytesMax: much)
                try ContractViolation.requireEqual(
                    batch?.records.map(\.key), [keys[4], .shed, .desk, keys[1], keys[0]], "order")
                let short = try await repository.nextBatch(recordsMax: 2, bytesMax: much)
                try ContractViolation.requireEqual(short?.records.map(\.key), [keys[4], .shed], "the first two")
            },
            Clause("batch_coalesces_whatWasWrittenTwice") { repository in
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(0))
                try await repository.set(.desk, "name", .string("Bench"), at: .minute(1))
                try ContractViolation.requireEqual(await repository.progress().pending, 1, "pending")
                let batch = try await repository.nextBatch(recordsMax: 10, bytesMax: much)
                try ContractViolation.requireEqual(
                    batch?.records.first?.properties["name"]?.value, .string("Bench"), "value")
            },
            Clause("batch_isNoLongerThanAsked_andRecordsThatAreGoInParts") { repository in
                for number in 0..<4 {
                    let text = String(repeating: "x", count: 10_000)
                    try await repository.set(.desk, "p\(number)", .string(text), at: .minute(number))
                }
                var told: [String] = []
                while let batch = try await repository.nextBatch(recordsMax: 10, bytesMax: 25_000) {
                    try ContractViolation.requireEqual(batch.records.count, 1, "records")
                    let properties = batch.records.flatMap { $0.properties.keys.sorted() }
                    try ContractViolation.require(properties.count <= 2, "\(properties.count) properties are too long")
                    told += properties
                    _ = try await repository.settle(batch, .to(batch))
                    if told.count > 10 { break }
                }
                try ContractViolation.requireEqual(told, ["p0", "p1", "p2", "p3"], "told, in order")
                try await repository.set(.desk, "p", .string(String(repeating: "x", count: 9000)), at: .minute(9))
                let single = try await repository.nextBatch(recordsMax: 10, bytesMax: 100)
                try ContractViolation.requireEqual(single?.records.count, 1, "a property too long for any batch")
            },
        ]
    }

    private static var settleClauses: [Clause] {
        [
            Clause("batch_isOfOneRecord_whereThatIsAskedFor") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                try await repository.set(.shed, "a", .int(2), at: .minute(1))
                try await repository.set(.shed, "b", .int(3), at: .minute(2))
                let other = RecordKey(type: .deviceSettings, name: "elsewhere")
                try ContractViolation.requireEqual(
                    await repository.nextBatch(recordsMax: 9, bytesMax: much, of: other), nil, "an unknown record's")
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: much, of: .shed), "batch")
                try ContractViolation.requireEqual(batch.records.map(\.key), [.shed], "records")
                _ = try await repository.settle(batch, .to(batch))
                try ContractViolation.requireEqual(
                    await repository.nextBatch(recordsMax: 9, bytesMax: much, of: .shed), nil, "again")
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.desk], "what waits still")
            },
            Clause("settle_takesOutWhatWasTold_andNothingElse") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                try await repository.set(.desk, "b", .int(1), at: .minute(0))
                try await repository.set(.shed, "a", .int(1), at: .minute(1))
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 1, bytesMax: much), "batch")
                try await repository.set(.desk, "b", .int(2), at: .minute(2))
                try ContractViolation.requireEqual(
                    await repository.settle(batch, .to(batch)).plain, MergeOutcome(), "outcome")
                let waiting = try await repository.waiting()
                try ContractViolation.requireEqual(Set(waiting.map(\.key)), [.desk, .shed], "records")
                try ContractViolation.requireEqual(
                    waiting.first { $0.key == .desk }?.properties.mapValues(\.value), ["b": .int(2)], "properties")
                try ContractViolation.requireEqual(
                    await repository.values(of: .desk), ["a": .int(1), "b": .int(2)], "values")
            },
            Clause("settle_mergesTheAnswer") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: much), "batch")
                let merged = SyncRecord(.desk, ["a": (.int(7), .minute(5)), "b": (.int(8), .minute(5))])
                let outcome = try await repository.settle(batch, .to(batch, merged: [merged]))
                try ContractViolation.requireEqual(outcome.plain, MergeOutcome(changed: [.desk]), "outcome")
                try ContractViolation.requireEqual(await repository.record(.desk), merged, "record")
                try ContractViolation.requireEqual(await repository.progress().pending, 0, "pending")
                try await repository.set(.desk, "a", .int(9), at: .minute(1))
                try ContractViolation.requireEqual(await repository.values(of: .desk)["a"], .int(9), "a later write")
            },
            Clause("settle_isHarmless_whenRepeated") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: much), "batch")
                _ = try await repository.settle(batch, .to(batch))
                try await repository.set(.desk, "a", .int(2), at: .minute(1))
                _ = try await repository.settle(batch, .to(batch))
                try ContractViolation.requireEqual(await repository.progress().pending, 1, "pending")
            },
        ]
    }

    private static var refusalClauses: [Clause] {
        [
            Clause("settle_parksWhatIsRefusedForGood_andKeepsItsValues") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                try await repository.set(.shed, "a", .int(1), at: .minute(0))
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: much), "batch")
                let outcome = try await repository.settle(batch, .to(batch, failures: [.desk: .badRequest]))
                try ContractViolation.requireEqual(outcome.plain, MergeOutcome(parked: 1), "outcome")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.pending, 0, "pending")
                try ContractViolation.requireEqual(progress.parked, 1, "parked")
                try ContractViolation.requireEqual(await repository.values(of: .desk), ["a": .int(1)], "values")
            },
            Clause("settle_leavesWhatMayBeTakenLater") { repository in
                for kind in [
                    SyncFailure.Kind.clockSkew, .rateLimited, .serviceUnavailable, .network, .limitExceeded, .other,
                ] {
                    try await repository.set(.desk, "a", .int(1), at: .minute(0))
                    try await repository.set(.shed, "a", .int(1), at: .minute(0))
                    let batch = try ContractViolation.requireSome(
                        await repository.nextBatch(recordsMax: 9, bytesMax: much), "batch")
                    _ = try await repository.settle(batch, .to(batch, failures: [.desk: kind]))
                    try ContractViolation.requireEqual(
                        await repository.waiting().map(\.key), [.desk], "waiting after \(kind)")
                    try ContractViolation.requireEqual(await repository.progress().parked, 0, "parked by \(kind)")
                }
            },
            Clause("settle_parksARecordThatIsTooLongByItself") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: much), "batch")
                let outcome = try await repository.settle(batch, .to(batch, failures: [.desk: .limitExceeded]))
                try ContractViolation.requireEqual(outcome.parked, 1, "parked")
                try ContractViolation.requireEqual(await repository.progress().pending, 0, "pending")
            },
        ]
    }

    private static var pageClauses: [Clause] {
        [
            Clause("page_isMergedWithItsToken") { repository in
                let records = SyncRecord.many(0..<3)
                let outcome = try await repository.apply(.of(records, token: "t1", moreComing: true))
                try ContractViolation.requireEqual(outcome.plain, MergeOutcome(changed: records.map(\.key)), "outcome")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.tokens, [.deviceSettings: "t1"], "tokens")
                try ContractViolation.requireEqual(progress.epoch, "e1", "epoch")
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings), records, "records")
            },
            Clause("page_changesNothing_whenItComesAgain") { repository in
                _ = try await repository.apply(.of(SyncRecord.many(0..<3), token: "t1"))
                let again = try await repository.apply(.of(SyncRecord.many(0..<3), token: "t2"))
                try ContractViolation.requireEqual(again.plain, MergeOutcome(unchanged: 3), "outcome")
                try ContractViolation.requireEqual(
                    await repository.progress().tokens, [.deviceSettings: "t2"], "tokens")
                try ContractViolation.requireEqual(
                    await repository.history(of: SyncRecord.many(0..<1)[0].key, property: nil, limit: 9), [], "history")
            },
            Clause("page_winsPerProperty_byStamp") { repository in
                try await repository.set(.desk, "mine", .int(1), at: .minute(10))
                try await repository.set(.desk, "theirs", .int(1), at: .minute(10))
                let theirs = SyncRecord(.desk, ["mine": (.int(2), .minute(9)), "theirs": (.int(2), .minute(11))])
                _ = try await repository.apply(.of([theirs], token: "t1"))
                try ContractViolation.requireEqual(
                    await repository.values(of: .desk), ["mine": .int(1), "theirs": .int(2)], "values")
                try ContractViolation.requireEqual(
                    await repository.waiting().map { Array($0.properties.keys) }, [["mine"]], "waiting")
            },
            Clause("page_isAnswered_whereTheCloudForgot") { repository in
                let both = SyncRecord(.desk, ["a": (.int(1), .minute(0)), "b": (.int(2), .minute(1))])
                _ = try await repository.apply(.of([both], token: "t1"))
                try ContractViolation.requireEqual(await repository.progress().pending, 0, "pending at first")
                let left = SyncRecord(.desk, ["a": (.int(1), .minute(0))])
                _ = try await repository.apply(.of([left], token: "t2"))
                try ContractViolation.requireEqual(
                    await repository.waiting(), [SyncRecord(.desk, ["b": (.int(2), .minute(1))])], "waiting")
            },
            Clause("page_movesTheClock") { repository in
                _ = try await repository.apply(.of([SyncRecord(.shed, ["a": (.int(1), .minute(90))])], token: "t1"))
                try await repository.set(.desk, "a", .int(1), at: .minute(1))
                let stamp = try await repository.record(.desk)?.properties["a"]?.stamp
                try ContractViolation.require(
                    stamp.map { $0 > .minute(90) } ?? false, "a write after it is stamped \(String(describing: stamp))")
            },
            Clause("page_deletesWhatItSays_andTakesThePendingAlong") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                _ = try await repository.apply(.of([SyncRecord(.desk, [:], deleted: .minute(3))], token: "t1"))
                try ContractViolation.requireEqual(await repository.record(.desk)?.isTombstone, true, "tombstone")
                try ContractViolation.requireEqual(await repository.progress().pending, 0, "pending")
            },
            Clause("page_ofAnotherStore_isRefused") { repository in
                _ = try await repository.apply(.of(SyncRecord.many(0..<1), token: "t1"))
                try await ContractViolation.requireThrow("a page of another epoch") {
                    _ = try await repository.apply(.of(SyncRecord.many(1..<2), token: "t2", epoch: "e2"))
                }
                try ContractViolation.requireEqual(
                    await repository.progress().tokens, [.deviceSettings: "t1"], "tokens")
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings).count, 1, "records")
            },
        ]
    }

    private static var foreignClauses: [Clause] {
        [
            Clause("page_keepsWhatThisVersionDoesNotKnow") { repository in
                let key = RecordKey(type: RecordType(rawValue: "Newer"), name: "of next year")
                let record = SyncRecord(key, ["new-word": (.string("x"), .minute(0)), "b": (.bool(true), .minute(1))])
                _ = try await repository.apply(
                    ChangesPage(type: key.type, records: [record], token: "n1", moreComing: false, epoch: "e1"))
                try ContractViolation.requireEqual(await repository.record(key), record, "record")
                try ContractViolation.requireEqual(await repository.progress().tokens, [key.type: "n1"], "tokens")
            },
            Clause("page_parksWhatCannotBeKept_andGoesOn") { repository in
                let good = SyncRecord.many(0..<2)
                let bad = [
                    SyncRecord(RecordKey(type: .deviceSettings, name: ""), ["a": (.int(1), .minute(0))]),
                    SyncRecord(RecordKey(type: .deviceSettings, name: "a\u{0}b"), ["a": (.int(1), .minute(0))]),
                    SyncRecord(.desk, ["a b": (.int(1), .minute(0))]),
                    SyncRecord(.shed, ["a": (.double(.nan), .minute(0))]),
                ]
                let outcome = try await repository.apply(.of([good[0]] + bad + [good[1]], token: "t1"))
                try ContractViolation.requireEqual(
                    outcome.plain, MergeOutcome(changed: good.map(\.key), parked: bad.count), "outcome")
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings), good, "records")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.parked, bad.count, "parked")
                try ContractViolation.requireEqual(progress.tokens, [.deviceSettings: "t1"], "tokens")
            },
            Clause("page_foldsAnOlderFormOfAName_andTellsTheCloud") { repository in
                let old = RecordKey(type: .deviceSettings, name: "aabbccddeeff")
                _ = try await repository.apply(.of([SyncRecord(.desk, ["a": (.int(1), .minute(0))])], token: "t1"))
                let late = SyncRecord(old, ["a": (.int(2), .minute(1)), "b": (.int(3), .minute(1))])
                let outcome = try await repository.apply(.of([late], token: "t2"))
                try ContractViolation.requireEqual(Set(outcome.changed), [.desk, old], "changed")
                try ContractViolation.requireEqual(
                    await repository.values(of: .desk), ["a": .int(2), "b": .int(3)], "values")
                try ContractViolation.requireEqual(
                    await repository.record(old)?.deletion?.mergedInto, RecordKey.desk.name, "merged into")
                try ContractViolation.requireEqual(Set(await repository.waiting().map(\.key)), [.desk, old], "waiting")
                let again = try await repository.apply(.of([late], token: "t3"))
                try ContractViolation.requireEqual(again.changed, [], "changed again")
            },
        ]
    }

    private static var cancellationClauses: [Clause] {
        [
            Clause("pages_stand_whenTheReaderStopsAfterTheFirst") { repository in
                let all = SyncRecord.many(0..<1200)
                _ = try await repository.apply(.of(Array(all[..<400]), token: "p1", moreComing: true))
                try ContractViolation.requireEqual(
                    await repository.records(of: .deviceSettings), Array(all[..<400]), "page 1")
                try ContractViolation.requireEqual(
                    await repository.progress().tokens, [.deviceSettings: "p1"], "token")
                _ = try await repository.apply(.of(Array(all[400..<800]), token: "p2", moreComing: true))
                _ = try await repository.apply(.of(Array(all[800...]), token: "p3"))
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings), all, "all")
                try ContractViolation.requireEqual(
                    await repository.progress().tokens, [.deviceSettings: "p3"], "last token")
            },
            Clause("page_isStoredWhole_whenTheTaskIsCancelled") { repository in
                let page = ChangesPage.of(SyncRecord.many(0..<400), token: "p1", moreComing: true)
                try await inCancelledTask { _ = try await repository.apply(page) }
                try ContractViolation.requireEqual(await repository.records(of: .deviceSettings), page.records, "page")
                try ContractViolation.requireEqual(
                    await repository.progress().tokens, [.deviceSettings: "p1"], "token")
            },
            Clause("emptyPage_storesItsToken") { repository in
                let outcome = try await repository.apply(.of([], token: "p0"))
                try ContractViolation.requireEqual(outcome.plain, MergeOutcome(), "outcome")
                try ContractViolation.requireEqual(
                    await repository.progress().tokens, [.deviceSettings: "p0"], "token")
            },
        ]
    }
}
