import Domain
import Testing

struct SettingValueTests {
    /// Values of every kind, in the order that decides a tie.
    private static let ascending: [SettingValue] = [
        .null, .bool(false), .bool(true), .int(-1), .int(0), .int(.max), .double(0), .double(1.5), .double(-0.0),
        .double(-1), .string(""), .string("Z"), .string("a"), .string("e\u{301}"), .string("\u{E9}"),
    ]

    @Test func order_isTotal() {
        let values = Self.ascending

        for (left, right) in zip(values.indices, values.indices.dropFirst()) {
            #expect(values[left] < values[right])
            #expect(!(values[right] < values[left]))
            #expect(values[left] != values[right])
        }
        #expect(values.reversed().sorted() == values)
        #expect(Set(values).count == values.count)
    }

    @Test func value_isStorable_whereItIsFiniteAndShort() {
        for value in Self.ascending { #expect(value.isStorable) }
        #expect(SettingValue.string(String(repeating: "x", count: SettingValue.stringBytesMax)).isStorable)
        #expect(!SettingValue.string(String(repeating: "é", count: SettingValue.stringBytesMax / 2 + 1)).isStorable)
        #expect(!SettingValue.double(.nan).isStorable)
        #expect(!SettingValue.double(-.infinity).isStorable)
    }
}

struct RecordTests {
    /// A person's deletion is none of the rebuild's, though both have one stamp.
    @Test func deletions_areEqual_whereStampAndSuccessorAre() {
        let stamp = Sample.stamp(5)

        #expect(Deletion(stamp: stamp) != Deletion(stamp: stamp, mergedInto: "m"))
        #expect(Deletion(stamp: stamp, mergedInto: "l") != Deletion(stamp: stamp, mergedInto: "m"))
        #expect(Deletion(stamp: stamp) != Deletion(stamp: Sample.stamp(6)))
        #expect(
            Deletion(stamp: stamp, mergedInto: "m", broughtBy: Sample.one) == Deletion(stamp: stamp, mergedInto: "m"))
    }

    @Test func greaterStamp_wins_perProperty() {
        let mine = Sample.record(["a": Sample.register(1, 10), "b": Sample.register(1, 20)])
        let theirs = Sample.record(["a": Sample.register(2, 11, Sample.two), "b": Sample.register(2, 19, Sample.two)])

        let merged = mine.merged(with: theirs)

        #expect(
            merged == Sample.record(["a": Sample.register(2, 11, Sample.two), "b": Sample.register(1, 20)]))
    }

    @Test func greaterStamp_isKept_whereTheValuesAreEqual() {
        let merged = Sample.record(["a": Sample.register(1, 10)]).merged(
            with: Sample.record(["a": Sample.register(1, 12)]))

        #expect(merged.properties["a"]?.stamp == Sample.stamp(12))
    }

    @Test func equalStamps_areDecidedByValue_inEitherOrder() {
        let left = Sample.record(["a": Sample.register(1, 10)])
        let right = Sample.record(["a": Sample.register(2, 10)])

        #expect(left.merged(with: right) == right)
        #expect(right.merged(with: left) == right)
    }

    @Test func whoBroughtIt_isNoPartOfEquality_andTheFirstStays() {
        let plain = Sample.record(["a": Sample.register(1, 10)], deleted: 5)
        let brought = plain.brought(by: Sample.two)

        #expect(plain == brought)
        #expect(Set([plain, brought]).count == 1)
        #expect(plain.merging(brought).isEmpty)
        #expect(plain.merged(with: brought).properties["a"]?.broughtBy == nil)
        #expect(brought.merged(with: plain).properties["a"]?.broughtBy == Sample.two)
        #expect(brought.merged(with: plain).deletion?.broughtBy == Sample.two)
    }

    @Test func whoBroughtIt_isNobody_whereTheAuthorDid_whateverIsClaimed() {
        let claimed = Sample.record(["a": Sample.register(1, 10)], deleted: 5).brought(by: Sample.two)

        let taken = claimed.brought(by: Sample.one)

        #expect(taken.properties["a"]?.broughtBy == nil)
        #expect(taken.deletion?.broughtBy == nil)
    }

    @Test func whoBroughtIt_isToldOfWhatWasOverwritten() {
        let record = Sample.record(["a": Sample.register(1, 10)])
        let forged = Sample.record(["a": Sample.register(2, 11)]).brought(by: Sample.two)

        #expect(record.merging(forged).overwritten.map(\.broughtBy) == [Sample.two])
    }

    @Test func deletion_hidesWhatIsNotYounger() {
        let record = Sample.record(["a": Sample.register(1, 10), "b": Sample.register(1, 20)])

        let merged = record.merged(with: Sample.record(deleted: 10))

        #expect(merged == Sample.record(["b": Sample.register(1, 20)], deleted: 10))
        #expect(!merged.isTombstone)
    }

    @Test func laterWrite_revivesTheRecord_withItsOwnPropertyOnly() {
        var record = Sample.record(["a": Sample.register(1, 10), "b": Sample.register(1, 10)])

        record.merge(Sample.record(deleted: 15))
        let tombstone = record
        record.merge(Sample.record(["a": Sample.register(2, 16)]))
        record.merge(Sample.record(["b": Sample.register(1, 10)]))

        #expect(tombstone.isTombstone)
        #expect(record == Sample.record(["a": Sample.register(2, 16)], deleted: 15))
    }

    @Test func equalDeletions_keepTheMark() {
        let plain = SyncRecord(key: Sample.oldKey, deletion: Deletion(stamp: Sample.stamp(5)))
        let marked = SyncRecord(key: Sample.oldKey, deletion: Deletion(stamp: Sample.stamp(5), mergedInto: "A"))
        let other = SyncRecord(key: Sample.oldKey, deletion: Deletion(stamp: Sample.stamp(5), mergedInto: "B"))

        #expect(plain.merged(with: marked) == marked.merged(with: plain))
        #expect(plain.merged(with: marked) == marked)
        #expect(marked.merged(with: other) == other)
        #expect(other.merged(with: marked) == other)
    }

    @Test func newestStamp_isOfPropertyOrDeletion() {
        #expect(Sample.record().newestStamp == nil)
        #expect(Sample.record(deleted: 9).newestStamp == Sample.stamp(9))
        #expect(Sample.record(["a": Sample.register(1, 12)], deleted: 9).newestStamp == Sample.stamp(12))
    }

    // MARK: Changes by a merge

    @Test func merging_tellsNewsAndLosses() {
        let record = Sample.record([
            "gone": Sample.register(1, 10), "kept": Sample.register(1, 40), "lost": Sample.register(1, 30),
            "same": Sample.register(1, 30),
        ])
        let other = Sample.record(
            [
                "kept": Sample.register(9, 39, Sample.two), "lost": Sample.register(2, 31, Sample.two),
                "new": Sample.register(3, 31, Sample.two), "same": Sample.register(1, 31, Sample.two),
            ], deleted: 20)

        let merge = record.merging(other)

        #expect(merge.news == ["lost", "new", "same"])
        #expect(merge.deletionIsNews)
        #expect(
            merge.overwritten == [
                OverwrittenValue(property: "gone", old: Sample.register(1, 10), new: nil, by: Sample.stamp(20)),
                OverwrittenValue(
                    property: "lost", old: Sample.register(1, 30), new: .int(2), by: Sample.stamp(31, 0, Sample.two)),
            ])
    }

    @Test func merging_isEmpty_whereNothingIsNews() {
        let record = Sample.record(["a": Sample.register(1, 10)], deleted: 5)

        #expect(record.merging(record).isEmpty)
        #expect(record.merging(Sample.record(["a": Sample.register(7, 4)])).isEmpty)
        #expect(record.merging(Sample.record()).overwritten.isEmpty)
    }

    // MARK: Faults

    @Test func record_isKept_whereItsWordsAreNewButLegal() {
        let record = SyncRecord(
            key: RecordKey(type: RecordType(rawValue: "Adapter2"), name: "port:pi:/dev/serial/by-id/usb-Größe"),
            properties: ["x.y-z_9": Sample.register(1, 1)])

        #expect(record.fault == nil)
    }

    @Test(arguments: [
        (SyncRecord(key: RecordKey(type: RecordType(rawValue: ""), name: "a")), RecordFault.type("")),
        (SyncRecord(key: RecordKey(type: RecordType(rawValue: "Größe"), name: "a")), .type("Größe")),
        (SyncRecord(key: RecordKey(type: .host, name: "")), .name("")),
        (SyncRecord(key: RecordKey(type: .host, name: "a\nb")), .name("a\nb")),
        (Sample.record(["": Sample.register(1, 1)]), .property("")),
        (Sample.record(["a b": Sample.register(1, 1)]), .property("a b")),
        (Sample.record(["a": Register(value: .double(.nan), stamp: Sample.stamp(1))]), .value(of: "a")),
    ])
    func record_isFaulty_whereItWouldHarmAStore(_ record: SyncRecord, _ fault: RecordFault) {
        #expect(record.fault == fault)
        #expect(!fault.description.isEmpty)
    }

    @Test func record_isFaulty_whereItIsTooLarge() {
        let words = (0...SyncRecord.propertiesMax).map { ("p\($0)", Sample.register(1, 1)) }
        let name = String(repeating: "x", count: SyncRecord.nameBytesMax + 1)

        #expect(Sample.record(Dictionary(uniqueKeysWithValues: words)).fault == .properties(words.count))
        #expect(Sample.record(Dictionary(uniqueKeysWithValues: words.dropLast())).fault == nil)
        #expect(SyncRecord(key: RecordKey(type: .host, name: name)).fault == .name(name))
    }
}
