import Domain
import Testing

struct ZoneRulesTests {
    /// A file of the time zone database (RFC 9636) with two offsets, a change from the first to the second, and a footer.
    private func file(change: Int64? = nil, _ offsets: [Int32], _ footer: String) -> [UInt8] {
        func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        func header(_ counts: [Int32]) -> [UInt8] {
            var header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
            for count in counts { header += bytes(count) }
            return header
        }
        var file = header([0, 0, 0, 0, 1, 1]) + [UInt8](repeating: 0, count: 7)
        file += header([0, 0, 0, change == nil ? 0 : 1, Int32(offsets.count), 4])
        if let change { file += bytes(change) + [1] }
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
        ])
    func offset_followsTheYearlyRule(footer: String, time: String, seconds: Int64) throws {
        let rules = try #require(ZoneRules(file([3600], footer)))
        let moment = try #require(WallTime(time)).millisecondsSince1970
        #expect(rules.offset(at: moment) == 1000 * seconds)
    }

    @Test func offset_isThatOfTheLastChange_beforeTheRule() throws {
        let rules = try #require(ZoneRules(file(change: 1000, [3600, 7200], "")))
        #expect([999_999, 1_000_000, -1].map { rules.offset(at: $0) } == [3_600_000, 7_200_000, 3_600_000])
    }

    @Test func damagedFiles_areNoZone_orOne_andNeverTrap() {
        let whole = file(change: 1000, [3600, 7200], "CET-1CEST,M3.5.0,M10.5.0/3")
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
