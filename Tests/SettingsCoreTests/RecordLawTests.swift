import Domain
import Testing

/// Records at their exact limits, and who is said to have brought what.
struct RecordLawTests {
    @Test func limits_areThoseOfTheDocumentation() {
        #expect(SyncRecord.wordBytesMax == 64 && SyncRecord.nameBytesMax == 512 && SyncRecord.propertiesMax == 256)
        #expect(SettingValue.stringBytesMax == 16_384)
        #expect(StampLimit.ahead == 60_000 && StampLimit.step == 1)
        #expect(HostID.nobody == HostID(high: 0, low: 0))
    }

    /// Types and properties are words, names are texts; both have a least and a greatest length.
    @Test func words_haveTheirEnds() {
        func record(type: String = "T", name: String = "n", property: String = "p", into: String? = nil) -> SyncRecord {
            SyncRecord(
                key: RecordKey(type: RecordType(rawValue: type), name: name),
                properties: [property: Sample.register(1, 2)],
                deletion: into.map { Deletion(stamp: Sample.stamp(1), mergedInto: $0) })
        }
        let (most, more) = (String(repeating: "x", count: 64), String(repeating: "x", count: 65))
        #expect(record(type: most).fault == nil && record(property: most).fault == nil)
        #expect(record(type: more).fault == .type(more) && record(property: more).fault == .property(more))
        for (word, isWord) in [("!", true), ("~", true), (" ", false), ("\u{7F}", false), ("é", false), ("", false)] {
            #expect((record(type: word).fault == nil) == isWord, "\(word)")
            #expect((record(property: word).fault == nil) == isWord, "\(word)")
        }
        let (longest, longer) = (String(repeating: "n", count: 512), String(repeating: "é", count: 257))
        #expect(record(name: longest).fault == nil && record(into: longest).fault == nil)
        #expect(record(name: longer).fault == .name(longer) && record(into: longer).fault == .name(longer))
        for (name, isName) in [(" ", true), ("\u{7F}", true), ("\u{1F}", false), ("a\u{0}", false), ("", false)] {
            #expect((record(name: name).fault == nil) == isName)
            #expect((record(into: name).fault == nil) == isName)
        }
        #expect(record(name: "", into: "a\n").fault == .name(""), "the record's own is named first")
    }

    /// Of several faults everybody names the same: the first property by name.
    @Test func fault_isThatOfTheFirstProperty() {
        let long = Register(value: .string(String(repeating: "x", count: 16_385)), stamp: Sample.stamp(1))
        let record = Sample.record(["b ": Sample.register(1, 1), "a": long, "c ": Sample.register(1, 1)])
        #expect(record.fault == .value(of: "a"))
    }

    @Test func property_isAsNewAsAStamp_byItselfOrItsDeletion() {
        let record = Sample.record(["a": Sample.register(1, 10)], deleted: 5)
        for (property, time, isNew) in [
            ("a", 9, true), ("a", 10, true), ("a", 11, false), ("b", 4, true), ("b", 5, true), ("b", 6, false),
        ] as [(String, UInt64, Bool)] {
            #expect(record.has(property, asNewAs: Sample.stamp(time)) == isNew, "\(property) \(time)")
        }
        #expect(!Sample.record().has("a", asNewAs: Sample.stamp(0)))
    }

    @Test func part_hasWhatIsAskedFor_andIsNothingWhereThatIsNothing() {
        let record = Sample.record(["a": Sample.register(1, 10), "b": Sample.register(2, 11)], deleted: 5)
        #expect(
            record.keeping(properties: ["a", "c"], deletion: false) == Sample.record(["a": Sample.register(1, 10)]))
        #expect(record.keeping(properties: [], deletion: true) == Sample.record(deleted: 5))
        #expect(record.keeping(properties: ["a", "b"], deletion: true) == record)
        #expect(record.keeping(properties: ["c"], deletion: false) == nil)
        #expect(Sample.record(["a": Sample.register(1, 10)]).keeping(properties: [], deletion: true) == nil)
    }

    /// Stamps are of 48 bits of time and 16 of counter, and lifted ones keep the order of all of them.
    @Test func liftedStamps_keepTheOrder_toTheLastBit() {
        let ascending = [
            Sample.stamp(0), Sample.stamp(0, .max), Sample.stamp(1), Sample.stamp(8, .max), Sample.stamp(9),
            Sample.stamp(1 << 47), Sample.stamp((1 << 47) + 1), Sample.stamp(.max), Sample.stamp(.max, .max),
        ]
        let lifted = ascending.map { Stamp.lifted($0, above: Sample.stamp(100)) }
        for (left, right) in zip(lifted, lifted.dropFirst()) { #expect(left < right && !(right < left)) }
        for stamp in ascending + lifted { #expect(!(stamp < stamp)) }
    }

    // MARK: Folding

    /// What the deletion does not reach is left alone; of what is lifted, whose it was stays known.
    @Test func fold_liftsWhatTheDeletionReaches_only() throws {
        var loser = Sample.record(
            [
                "a": Sample.register(1, 19), "b": Sample.register(2, 20), "c": Sample.register(3, 21),
                "d": Sample.register(4, 15, Sample.two),
            ], key: Sample.oldKey)
        loser = loser.brought(by: Sample.two)
        let fold = try #require(RebuildPlan.fold(loser, into: Sample.record(deleted: 20)))

        let after = fold.canonical.after.properties
        #expect(after["a"]?.stamp == .lifted(Sample.stamp(19), above: Sample.stamp(20)))
        #expect(after["b"]?.stamp == .lifted(Sample.stamp(20), above: Sample.stamp(20)), "the very same moment too")
        #expect(after["d"]?.stamp == .lifted(Sample.stamp(15, 0, Sample.two), above: Sample.stamp(20)))
        #expect(after["c"]?.stamp == Sample.stamp(21))
        #expect(after["a"]?.broughtBy == Sample.two, "who brought it is known")
        #expect(after["d"]?.broughtBy == Sample.two, "or else whose it was")
        #expect(after["c"]?.broughtBy == Sample.two)
        // The mark is of whoever brought the newest value.
        #expect(fold.loser.after.deletion?.stamp == Sample.stamp(21))
        #expect(fold.loser.after.deletion?.broughtBy == Sample.two)
        let mixed = SyncRecord(
            key: Sample.oldKey,
            properties: [
                "a": Sample.register(1, 10),
                "b": Register(value: .int(2), stamp: Sample.stamp(11), broughtBy: Sample.two),
            ])
        #expect(RebuildPlan.fold(mixed, into: nil)?.loser.after.deletion?.broughtBy == Sample.two)
        let own = try #require(
            RebuildPlan.fold(Sample.record(["a": Sample.register(1, 1)], key: Sample.oldKey), into: nil))
        #expect(own.loser.after.deletion?.broughtBy == nil)
    }

    @Test func stampsOfOneMoment_areMadeAnewInTheirOrder() {
        var clock = HybridClock(host: Sample.one, milliseconds: 9_000_000)
        let waiting = [HybridClock.Waiting](
            repeating: .init(refused: Sample.stamp(9_000_000), now: 10), count: 5)
        #expect(clock.restamp(waiting, accepted: nil) == (0..<5).map { Sample.stamp(10, UInt16($0)) })
    }
}
