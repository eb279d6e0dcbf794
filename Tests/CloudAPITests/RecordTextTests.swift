import CloudAPI
import Domain
import Foundation
import Testing

struct RecordTextTests {
    private static let host = HostID(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)

    private static func stamp(_ milliseconds: UInt64, _ counter: UInt16 = 0) -> Stamp {
        Stamp(milliseconds: milliseconds, counter: counter, host: host)
    }

    private static let values: [SettingValue] = [
        .null, .bool(true), .bool(false), .int(0), .int(.min), .int(.max), .double(0), .double(-0.0), .double(0.1),
        .double(1e300), .double(.leastNonzeroMagnitude), .double(-3), .string(""), .string("plain"),
        .string("a \"quoted\" back\\slash\nline\ttab\u{0}\u{1f}\u{7f} – ü 🔌 }{:,"),
    ]

    private static var records: [SyncRecord] {
        let key = RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:FF")
        let registers = values.enumerated().map { index, value in
            ("p\(index) \"ü\"", Register(value: value, stamp: stamp(UInt64(index) + 1, UInt16(index))))
        }
        return [
            SyncRecord(key: key), SyncRecord(key: key, properties: Dictionary(uniqueKeysWithValues: registers)),
            SyncRecord(key: key, deletion: Deletion(stamp: stamp(Stamp.millisecondsMax, .max))),
            SyncRecord(
                key: RecordKey(type: RecordType(rawValue: "\u{1}"), name: "\\"),
                properties: ["a": Register(value: .int(1), stamp: stamp(9))],
                deletion: Deletion(stamp: stamp(8), mergedInto: "into \"x\"")),
        ]
    }

    @Test func whoBroughtIt_travels_andIsAskedOfNobody() throws {
        let other = HostID(high: 1, low: 0x8000_0000_0000_0002)
        let record = try #require(Self.records.last)
        let text = Self.text(of: record.brought(by: other))

        let read = try #require(SyncRecord(text: text))
        let decoded = try JSONDecoder().decode(SyncRecord.self, from: Data(text))

        for record in [read, decoded] {
            #expect(record.properties["a"]?.broughtBy == other)
            #expect(record.deletion?.broughtBy == other)
        }
        #expect(!String(decoding: Self.text(of: record), as: UTF8.self).contains("broughtBy"))
        let coded = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(read)) as? NSDictionary
        #expect(try JSONSerialization.jsonObject(with: Data(text)) as? NSDictionary == coded)
    }

    /// Both writers and both readers are written by hand. Whoever adds a field adds it to each of them, and here.
    @Test func fields_areThoseThatTheTextHas() {
        func fields(_ value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.compactMap(\.label)) }

        #expect(fields(SyncRecord(key: Self.records[0].key)) == ["key", "properties", "deletion"])
        #expect(fields(Self.records[0].key) == ["type", "name"])
        #expect(fields(Register(value: .null, stamp: Self.stamp(1))) == ["value", "stamp", "broughtBy"])
        #expect(fields(Deletion(stamp: Self.stamp(1))) == ["stamp", "mergedInto", "broughtBy"])
    }

    private static func text(of record: SyncRecord) -> [UInt8] {
        var text: [UInt8] = []
        RecordText.write(record, to: &text)
        return text
    }

    @Test(arguments: 0..<4)
    func text_isWhatACoderReadsAndWrites(index: Int) throws {
        let record = Self.records[index]
        let text = Self.text(of: record)

        #expect(SyncRecord(text: text) == record)
        #expect(try JSONDecoder().decode(SyncRecord.self, from: Data(text)) == record)
        let coded = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(record)) as? NSDictionary
        #expect(try JSONSerialization.jsonObject(with: Data(text)) as? NSDictionary == coded)
    }

    /// Any other form is left to a decoder.
    @Test(arguments: [
        ("9223372036854775807", Int64.max), ("-9223372036854775808", .min), ("0", 0), ("-1", -1), ("-0", nil),
        ("00", nil), ("-01", nil), ("9223372036854775808", nil), ("-9223372036854775809", nil),
        ("99999999999999999999", nil),
        ("+1", nil), ("1e3", nil), ("1.0", nil), ("-", nil), ("", nil),
    ])
    func integer_isRead_asItIsWritten(digits: String, value: Int64?) {
        let key = RecordKey(type: .host, name: "h")
        let record = SyncRecord(key: key, properties: ["n": Register(value: .int(42), stamp: Self.stamp(1))])
        let text = String(decoding: Self.text(of: record), as: UTF8.self).replacing(
            #"{"int":42}"#, with: #"{"int":\#(digits)}"#)

        #expect(SyncRecord(text: Array(text.utf8))?.properties["n"]?.value == value.map { .int($0) })
    }

    @Test func signOfZero_isKept() {
        let key = RecordKey(type: .host, name: "h")
        let record = SyncRecord(key: key, properties: ["z": Register(value: .double(-0.0), stamp: Self.stamp(1))])

        guard case .double(let zero) = SyncRecord(text: Self.text(of: record))?.properties["z"]?.value else {
            Issue.record("no double")
            return
        }
        #expect(zero.sign == .minus)
    }

    @Test func text_isReadInWholeOrNotAtAll_whenCutOrChanged() {
        for record in Self.records {
            let text = Self.text(of: record)
            for length in 0..<text.count { #expect(SyncRecord(text: text.prefix(length)) == nil) }
            #expect(SyncRecord(text: text + [UInt8(ascii: " ")]) == nil)
            for position in text.indices {
                for byte in [0, UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "}"), 0xFF] {
                    var changed = text
                    changed[position] = byte
                    // What reads must be JSON, and mean that.
                    guard let read = SyncRecord(text: changed) else { continue }
                    let decoded = try? JSONDecoder().decode(SyncRecord.self, from: Data(changed))
                    #expect(read == decoded, "\(String(decoding: changed, as: UTF8.self))")
                }
            }
        }
    }

    @Test func infinity_becomesNull() {
        let key = RecordKey(type: .host, name: "h")
        let record = SyncRecord(key: key, properties: ["z": Register(value: .double(.infinity), stamp: Self.stamp(1))])

        #expect(SyncRecord(text: Self.text(of: record))?.properties["z"]?.value == .null)
    }
}
