import CoreTestKit
import Domain
import Testing

struct RecordNamesTests {
    @Test(arguments: [
        ("aabbccddeeff", "AA:BB:CC:DD:EE:FF"), ("aabb.ccdd.eeff", "AA:BB:CC:DD:EE:FF"),
        ("USB:5FC9:63:007965", "usb:5fc9:0063:007965"), ("AA:BB:CC:DD:EE:FF", "AA:BB:CC:DD:EE:FF"),
        ("00:00:00:00:00:00", "00:00:00:00:00:00"), ("ffffffffffff", "ffffffffffff"), ("ble2:xyz", "ble2:xyz"),
        ("", ""),
    ])
    func name_isInOneForm_orLeftAlone(_ name: String, _ normal: String) {
        #expect(MeterID.normalised(recordName: name) == normal)
        #expect(MeterID.normalised(recordName: normal) == normal)
    }

    @Test func key_isNormalised_whereItsTypeIsNamedByMeter() {
        for type in [RecordType.deviceSettings, .meterAlias] {
            #expect(RecordKey(type: type, name: "aabbccddeeff").normalised.name == "AA:BB:CC:DD:EE:FF")
        }
        for type in [RecordType.host, .recording, RecordType(rawValue: "New")] {
            #expect(RecordKey(type: type, name: "aabbccddeeff").normalised.name == "aabbccddeeff")
        }
    }
}

struct RebuildPlanTests {
    @Test func progress_beginsAtTheBeginning() {
        let progress = RebuildProgress(version: 3)

        #expect(progress.version == 3 && progress.cursor == nil && !progress.isComplete)
        #expect((progress.scanned, progress.folded) == (0, 0))
    }

    /// Another version makes every host and cloud go through all its records again; it changes with the rule alone.
    @Test func version_isThatOfThePresentRule() { #expect(RebuildPlan.version == 1) }

    @Test func olderName_isFolded_andBecomesATombstone() throws {
        let loser = Sample.record(["a": Sample.register(1, 10), "b": Sample.register(2, 20)], key: Sample.oldKey)
        let canonical = Sample.record(["b": Sample.register(3, 15), "c": Sample.register(4, 5)])

        let fold = try #require(RebuildPlan.fold(loser, into: canonical))

        #expect(
            fold.canonical.after
                == Sample.record([
                    "a": Sample.register(1, 10), "b": Sample.register(2, 20), "c": Sample.register(4, 5),
                ]))
        #expect(
            fold.loser.after
                == SyncRecord(
                    key: Sample.oldKey,
                    deletion: Deletion(stamp: Sample.stamp(20), mergedInto: "AA:BB:CC:DD:EE:FF")))
        #expect(fold.canonical.news == ["a", "b"])
        #expect(fold.canonical.overwritten.map(\.property) == ["b"])
        #expect(fold.outdone.isEmpty)
    }

    @Test func canonicalRecord_isMade_whereThereIsNone() throws {
        let fold = try #require(
            RebuildPlan.fold(Sample.record(["a": Sample.register(1, 10)], key: Sample.oldKey), into: nil))

        #expect(fold.canonical.after == Sample.record(["a": Sample.register(1, 10)]))
    }

    @Test func valueThatLoses_isKeptForTheHistory() throws {
        let loser = Sample.record(["a": Sample.register(1, 10), "b": Sample.register(5, 10)], key: Sample.oldKey)
        let canonical = Sample.record(["a": Sample.register(2, 11, Sample.two), "b": Sample.register(5, 11)])

        let fold = try #require(RebuildPlan.fold(loser, into: canonical))

        #expect(fold.canonical.isEmpty)
        #expect(
            fold.outdone == [
                OverwrittenValue(
                    property: "a", old: Sample.register(1, 10), new: .int(2), by: Sample.stamp(11, 0, Sample.two))
            ])
    }

    @Test(arguments: [
        Sample.record(["a": Sample.register(1, 10)]), Sample.record(deleted: 5, key: Sample.oldKey),
        Sample.record(key: Sample.oldKey),
        SyncRecord(key: Sample.oldKey, deletion: Deletion(stamp: Sample.stamp(5), mergedInto: Sample.key.name)),
        SyncRecord(key: RecordKey(type: .host, name: "aabbccddeeff"), properties: ["a": Sample.register(1, 1)]),
        SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "000000000000"), properties: ["a": Sample.register(1, 1)]),
    ])
    func nothing_isFolded_whereTheNameIsNormal_orOnlyADeletionIsLeft(_ record: SyncRecord) {
        #expect(RebuildPlan.fold(record, into: nil) == nil)
    }

    // MARK: Deletions

    @Test func deletionOfADuplicate_beforeTheRebuild_hidesItsOwnValuesOnly() throws {
        let loser = Sample.record(["b": Sample.register(2, 20)], deleted: 12, key: Sample.oldKey)
        let canonical = Sample.record(["a": Sample.register(3, 5)])

        let fold = try #require(RebuildPlan.fold(loser, into: canonical))

        #expect(fold.canonical.after == Sample.record(["a": Sample.register(3, 5), "b": Sample.register(2, 20)]))
    }

    @Test func deletionOfADuplicate_afterTheRebuild_reachesNothingElse() throws {
        let fold = try #require(
            RebuildPlan.fold(Sample.record(["a": Sample.register(1, 10)], key: Sample.oldKey), into: nil))
        let deletion = Sample.record(deleted: 30, key: Sample.oldKey)

        let ingest = Ingest(deletion) { $0 == Sample.oldKey ? fold.loser.after : fold.canonical.after }

        #expect(ingest.fold == nil)
        #expect(ingest.merges.map(\.after.key) == [Sample.oldKey])
    }

    @Test func deletionOfTheCanonicalRecord_doesNotReachTheDuplicate() throws {
        let loser = Sample.record(["a": Sample.register(1, 10)], key: Sample.oldKey)
        let canonical = Sample.record(["a": Sample.register(2, 5)], deleted: 20)

        let fold = try #require(RebuildPlan.fold(loser, into: canonical))

        #expect(fold.canonical.after.properties["a"]?.value == .int(1))
        #expect(fold.canonical.after.properties["a"]?.stamp == .lifted(Sample.stamp(10), above: Sample.stamp(20)))
        #expect(fold.loser.after.deletion?.stamp == Sample.stamp(10))
    }

    @Test func deletionOfTheCanonicalRecord_countsForWhatWasFoldedBefore() throws {
        let mark = Deletion(stamp: Sample.stamp(8), mergedInto: Sample.key.name)
        let loser = SyncRecord(key: Sample.oldKey, properties: ["a": Sample.register(1, 10)], deletion: mark)

        let fold = try #require(RebuildPlan.fold(loser, into: Sample.record(deleted: 20)))

        #expect(fold.canonical.isEmpty)
        #expect(
            fold.outdone == [
                OverwrittenValue(property: "a", old: Sample.register(1, 10), new: nil, by: Sample.stamp(20))
            ])
    }

    // MARK: Later writes to an old name

    @Test func laterWrite_isRedirected_andEverybodyMarksItAlike() throws {
        let loser = Sample.record(["a": Sample.register(1, 10)], key: Sample.oldKey)
        let first = try #require(RebuildPlan.fold(loser, into: nil))
        let write = Sample.record(["a": Sample.register(7, 12, Sample.two)], key: Sample.oldKey)

        let ingest = Ingest(write) { $0 == Sample.oldKey ? first.loser.after : first.canonical.after }

        #expect(ingest.fold?.canonical.after == Sample.record(["a": Sample.register(7, 12, Sample.two)]))
        #expect(
            ingest.fold?.loser.after.deletion
                == Deletion(stamp: Sample.stamp(12, 0, Sample.two), mergedInto: Sample.key.name))
        #expect(ingest.merges.map(\.after.key) == [Sample.oldKey, Sample.key])
    }

    @Test func writeThatIsKnown_isNotFoldedAgain() throws {
        let loser = Sample.record(["a": Sample.register(1, 10)], key: Sample.oldKey)
        let first = try #require(RebuildPlan.fold(loser, into: nil))

        let ingest = Ingest(loser) { $0 == Sample.oldKey ? first.loser.after : first.canonical.after }

        #expect(ingest.fold == nil)
        #expect(ingest.merges.isEmpty)
        #expect(ingest.mergesToTell.map(\.after) == [first.loser.after])
    }

    // MARK: Several hosts

    /// Each folds what it has, in its own order; the merge of all is always the same, and folding again changes
    /// nothing.
    @Test(arguments: 0..<40)
    func hosts_foldAlike_whateverEachHas(_ portion: Int) {
        for seed in UInt64(portion * 25)..<UInt64(portion * 25 + 25) {
            var rng = SeededRNG(seed: seed)
            let records = RandomRecord.group(&rng)

            let all = Folding.folded(records, order: &rng)
            let again = Folding.folded(Array(all.values), order: &rng)
            let left = Folding.folded(records.filter { _ in rng.chance(60) }, order: &rng)
            let right = Folding.folded(records, order: &rng)

            #expect(again == all, "seed \(seed)")
            #expect(right == all, "seed \(seed)")
            let joined = Folding.joined(left, right)
            #expect(Folding.folded(Array(joined.values), order: &rng) == joined, "seed \(seed)")
            #expect(Folding.joined(right, left) == joined, "seed \(seed)")
        }
    }
}

/// The rebuild of a small store.
private enum Folding {
    static func folded(_ records: [SyncRecord], order rng: inout SeededRNG) -> [RecordKey: SyncRecord] {
        var store = Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0) })
        for key in records.map(\.key).shuffled(using: &rng) {
            guard let loser = store[key], let fold = RebuildPlan.fold(loser, into: store[key.normalised]) else {
                continue
            }
            store[fold.loser.after.key] = fold.loser.after
            store[fold.canonical.after.key] = fold.canonical.after
        }
        return store
    }

    static func joined(_ left: [RecordKey: SyncRecord], _ right: [RecordKey: SyncRecord]) -> [RecordKey: SyncRecord] {
        left.merging(right) { $0.merged(with: $1) }
    }
}
