import Domain
import Testing

struct ZoneRulesTests {
    /// A file of the time zone database (RFC 9636) with offsets, changes to each but the first in turn, and a footer.
    private func file(changes: [Int64] = [], _ offsets: [Int32], _ footer: String) -> [UInt8] {
        func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        func header(_ counts: [Int32]) -> [UInt8] {
            var header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
            for count in counts { header += bytes(count) }
            return header
        }
        var file = header([0, 0, 0, 0, 1, 1]) + [UInt8](repeating: 0, count: 7)
        file += header([0, 0, 0, Int32(changes.count), Int32(offsets.count), 4])
        for change in changes { file += bytes(change) }
        for index in changes.indices { file.append(UInt8(1 + index % (offsets.count - 1))) }
        for offset in offsets { file += bytes(offset) + [0, 0] }
        return file + Array("CET\0\n\(footer)\n".utf8)
    }

    /// Moments around the changes of 2025 and 2026, from the rules in the names (tzdata 2025b, `europe` and `northamerica`).
    @Test(
        arguments: [
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2025-10-26T00:59:59Z", 7200),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2025-10-26T01:00:00Z", 3600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7200),
            ("EST5EDT,M3.2.0,M11.1.0", "2025-11-02T05:59:59Z", -14400),
            ("EST5EDT,M3.2.0,M11.1.0", "2025-11-02T06:00:00Z", -18000),
            // Summer begins late in the year.
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39600),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01T00:00:00Z", 36000),
            ("<+0545>-5:45", "2026-07-01T00:00:00Z", 20700), ("UTC0", "2026-07-01T00:00:00Z", 0),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "1970-01-01T00:00:00Z", 3600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "1969-07-01T00:00:00Z", 3600),
            // Half an hour, names of digits, a change on the day before, and a winter that is behind the zone's own time.
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39600),
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-07-01T00:00:00Z", 37800),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-10-25T00:59:59Z", -3600),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-10-25T01:00:00Z", -7200),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3600),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-12-01T00:00:00Z", 0),
            ("EET-2:30:15", "2026-07-01T00:00:00Z", 9015), ("EET+2", "2026-07-01T00:00:00Z", -7200),
        ])
    func offset_followsTheYearlyRule(footer: String, time: String, seconds: Int64) throws {
        let rules = try #require(ZoneRules(file([3600], footer)))
        let moment = try #require(WallTime(time)).millisecondsSince1970
        #expect(rules.offset(at: moment) == 1000 * seconds)
    }

    /// What is no rule is none in part either: the last offset that the file names goes on.
    @Test(arguments: [
        "", "CE-2", "CET", "<+02-2", "<+02>", "CET-2:0:0:0", "CET-x", "CET-201", "CET-2:-3", "CET-2C,M3.5.0,M10.5.0",
        "CET-2CEST-x,M3.5.0,M10.5.0", "CET-2CEST", "CET-2CEST,M3.5.0", "CET-2CEST,J60,J300",
        "CET-2CEST,M0.5.0,M10.5.0", "CET-2CEST,M13.5.0,M10.5.0", "CET-2CEST,M3.0.0,M10.5.0", "CET-2CEST,M3.6.0,M10.5.0",
        "CET-2CEST,M3.5.7,M10.5.0", "CET-2CEST,M3.5,M10.5.0", "CET-2CEST,M3.5.0/x,M10.5.0", "CET-2CEST,3.5.0,M10.5.0",
    ])
    func ruleThatCannotBeRead_isNone(footer: String) throws {
        let rules = try #require(ZoneRules(file(changes: [0], [3600, 5400], footer)))
        #expect(rules.offset(at: 1_800_000_000_000) == 5_400_000)
    }

    /// The model: the changes one by one. A change holds from its second on, and before the first one the first offset does.
    @Test(arguments: [0, 1, 2, 3, 7, 64])
    func offset_isThatOfTheLastChange_beforeTheRule(count: Int64) throws {
        let changes = (0..<count).map { 1000 * $0 - 1500 }
        let offsets: [Int32] = [3600, 7200, -60]
        let rules = try #require(ZoneRules(file(changes: changes, offsets, "")))
        for second in -2000...(1000 * count) where second % 100 == 0 || second % 500 == 499 {
            let index = changes.lastIndex { $0 <= second }
            let offset = Int64(index.map { offsets[1 + $0 % 2] } ?? 3600) * 1000
            for milliseconds in [0, 999] as [Int64] {
                #expect(rules.offset(at: 1000 * second + milliseconds) == offset, "\(second), \(milliseconds)")
            }
        }
    }

    @Test func damagedFiles_areNoZone_orOne_andNeverTrap() {
        let whole = file(changes: [1000], [3600, 7200], "CET-1CEST,M3.5.0,M10.5.0/3")
        for count in whole.indices {
            _ = ZoneRules(Array(whole.prefix(count)))?.offset(at: 1_800_000_000_000)
            var bytes = whole
            bytes[count] ^= 0xFF
            _ = ZoneRules(bytes)?.offset(at: 1_800_000_000_000)
        }
        #expect(ZoneRules([]) == nil && ZoneRules(Array(whole.prefix(60))) == nil)
    }

    @Test func zones_areNamed_andNoOtherFileIs() throws {
        // There is a file at every path but one.
        let zones = ImportZones(local: { _ in .seconds(60) }) { name in
            name == "Berlin" ? nil : file([3600], "CET-1CEST,M3.5.0,M10.5.0/3")
        }
        for (zone, offset) in [
            ("local", 60), ("UTC", 0), ("+02:00", 7200), ("-05:30", -19800), ("Europe/Berlin", 7200),
        ] {
            #expect(try zones.offset(of: zone)(1_784_729_135_000) == Int64(offset) * 1000, "\(zone)")
        }
        for zone in ["Berlin", "../etc/passwd", "/etc/passwd", "Europe/../../x", "", "Europe/", "Europe//Berlin", "+2"]
        {
            #expect(importError { () throws(ImportError) in try zones.offset(of: zone) } != nil, "\(zone)")
        }
    }
}
