import CloudAPI
import Domain
import Foundation
import Testing

struct RecordPageTests {
    private static func stamp(_ milliseconds: UInt64) -> Stamp {
        Stamp(milliseconds: milliseconds, counter: 1, host: HostID(high: 0x4000, low: 0x8000_0000_0000_0001))
    }

    private static let values: [SettingValue] = [
        .null, .bool(true), .bool(false), .int(-7), .int(.max), .double(0.5), .double(-1e300), .string(""),
        .string("Désk \"2\"\\\n\u{1}"),
    ]

    private static let records: [SyncRecord] = [
        SyncRecord(key: RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:01")),
        SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:02"),
            properties: Dictionary(
                uniqueKeysWithValues: values.enumerated().map { place, value in
                    (
                        String(repeating: "p", count: place + 1) + " \"ü\"",
                        Register(value: value, stamp: stamp(7), broughtBy: HostID(high: 1, low: 2))
                    )
                })),
        SyncRecord(
            key: RecordKey(type: .host, name: "\"é\""),
            deletion: Deletion(stamp: stamp(4), mergedInto: "x\ty", broughtBy: HostID(high: 3, low: 4))),
        SyncRecord(
            key: RecordKey(type: .meterAlias, name: "m"), properties: ["of": Register(value: .null, stamp: stamp(5))],
            deletion: Deletion(stamp: stamp(4))),
    ]

    private static func text(_ record: SyncRecord) -> [UInt8] {
        var text: [UInt8] = []
        RecordText.write(record, to: &text)
        return text
    }

    private static func body(_ page: RecordPage) throws -> String {
        let body = ChangesBody(page: page, changeToken: "t", moreComing: false, epoch: "e")
        return String(decoding: try #require(body.text), as: UTF8.self)
    }

    @Test func texts_areTheRecordsThatTheyMean() throws {
        var page = RecordPage(capacity: 4)
        for (place, record) in Self.records.enumerated() {
            // Some come as texts, others do not, and the order stays.
            if place == 2 {
                page.append(record)
            } else {
                let isTaken = page.append(text: Self.text(record))
                #expect(isTaken)
            }
        }

        #expect(page.count == Self.records.count)
        #expect(page.records == Self.records)
        #expect(page == RecordPage(Self.records))
        let body = try Self.body(page)
        #expect(ChangesBody(text: Array(body.utf8))?.records == Self.records)
        #expect(try JSONDecoder().decode(ChangesBody.self, from: Data(body.utf8)).records == Self.records)
    }

    @Test func emptyPage_isAnEmptyList() throws {
        #expect(try Self.body(RecordPage(capacity: 400)).hasPrefix(#"{"records":[],"#))
        #expect(RecordPage(capacity: 400).records.isEmpty)
    }

    @Test func listOfRecords_takesTextsToo() {
        var page = RecordPage(Array(Self.records.prefix(1)))

        let isTaken = page.append(text: Self.text(Self.records[1]))
        #expect(isTaken)
        let isRubbishTaken = page.append(text: Array("{}".utf8))
        #expect(!isRubbishTaken)
        page.append(Self.records[2])
        #expect(page.records == Array(Self.records.prefix(3)))
    }

    /// What was damaged on the disk is for the store's decoder, which says so: a text that is taken is one that reads.
    @Test func damagedText_isNotTaken() {
        for record in Self.records {
            let text = Self.text(record)
            for length in 0..<text.count { #expect(!isTaken(Array(text.prefix(length)))) }
            #expect(!isTaken(text + [UInt8(ascii: "}")]))
            for position in text.indices {
                for byte in [UInt8(ascii: "\""), UInt8(ascii: "0"), UInt8(ascii: ","), UInt8(ascii: "\\"), 0x1F, 0xFF] {
                    var changed = text
                    changed[position] = byte
                    let reads = SyncRecord(text: changed) != nil
                    #expect(isTaken(changed) == reads, "\(String(decoding: changed, as: UTF8.self))")
                }
            }
        }
    }

    private func isTaken(_ text: [UInt8]) -> Bool {
        var page = RecordPage(capacity: 1)
        let isTaken = page.append(text: text)
        #expect(page.count == (isTaken ? 1 : 0))
        return isTaken
    }
}
