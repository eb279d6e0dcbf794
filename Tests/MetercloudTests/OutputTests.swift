import CloudAPI
import CloudServer
import Domain
import Foundation
import Logging
import ProgramKit
import Testing

@testable import metercloud

/// What people and programs see.
struct OutputTests {
    private static let host = HostID(high: 1, low: 2)

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private static func lease() -> LeaseBody {
        var lease = LeaseBody(
            meter: "02:00:00:00:25:0C", state: "held", token: 7, ttl: 120_000, lockDelay: 15_000, policy: "keep",
            remaining: 90_500, waiting: ["attic", "cellar"])
        lease.holderName = "bench\u{1B}[2J"
        return lease
    }

    @Test func lease_isALine() {
        #expect(
            LeaseLine(Self.lease()).cells == [
                "02:00:00:00:25:0C", "held", "bench\u{1B}[2J", "90 s", "7", "–", "attic, cellar",
            ])
    }

    @Test func leasesTable_showsWhatWouldMoveACursor_asAnEscape() throws {
        var table = Table(LeaseLine.header)
        table.add(LeaseLine(Self.lease()).cells)
        #expect(try #require(table.lines.last).contains(#"bench\u{1B}[2J"#))
    }

    @Test func lease_forPrograms_hasUnitsInItsKeys_andNulls() throws {
        #expect(
            try JSONOutput.pretty(LeaseLine(Self.lease())) == """
                {
                  "acquired_at" : null,
                  "holder" : "bench\\u001b[2J",
                  "holder_id" : null,
                  "lock_delay_ms" : 15000,
                  "meter" : "02:00:00:00:25:0C",
                  "policy" : "keep",
                  "remaining_ms" : 90500,
                  "state" : "held",
                  "token" : 7,
                  "transport" : null,
                  "ttl_ms" : 120000,
                  "waiting" : [
                    "attic",
                    "cellar"
                  ]
                }
                """)
    }

    @Test func zone_isALine() throws {
        var zone = try Self.decoded(
            ConsoleZone.self, #"{"name":"home","policy":"strict","ttl":60000,"lockDelay":7500,"sequence":3}"#)

        #expect(ZoneLine(zone).cells == ["home", "strict", "60 s", "7.5 s", "3", "–", "–", "–"])
        for (asked, cell) in [(7500, "7.5 s"), (5000, "7.5 s (asked: 5 s)")] as [(Int64, String)] {
            zone.askedLockDelay = asked
            #expect(ZoneLine(zone).cells[3] == cell)
        }
    }

    @Test func zonesUsage_isBesideItsLimits_andEachHostsBesideItsShare() throws {
        let zone = try Self.decoded(
            ConsoleZone.self,
            """
            {"name":"home","policy":"keep","ttl":60000,"lockDelay":7500,"sequence":3,
            "quota":{"bytes":104857600,"records":200000,"hostBytes":26214400,"hostRecords":50000,"leases":100000},
            "used":{"bytes":60083405,"records":3600,"leases":41},"hosts":[{"hostID":"h","bytes":1048576,"records":9}]}
            """)
        let line = ZoneLine(zone)

        #expect(
            line.cells
                == ["home", "keep", "60 s", "7.5 s", "3", "57.3 of 100 MB", "3600 of 200000", "41 of 100000"])
        #expect(line.hosts.map(\.cells) == [["h", "1 of 25 MB", "9 of 50000"]])
        let json = try JSONOutput.pretty(line)
        #expect(json.contains(#""used_bytes" : 60083405"#))
        #expect(json.contains(#""used_leases" : 41"#))
        #expect(json.contains(#""host_max_records" : 50000"#))
        #expect(json.contains(#""host_id" : "h""#))
    }

    @Test func token_isALine_withoutItsText() throws {
        let token = try Self.decoded(
            ConsoleToken.self,
            #"{"id":"1a2b","zone":"home","kind":"host","label":"attic","createdAt":"2026-01-01T00:00:00.000Z"}"#)

        #expect(
            TokenLine(token).cells == ["1a2b", "home", "host", "all", "–", "attic", "2026-01-01T00:00:00.000Z", "–"])
    }

    @Test(arguments: [("full", "all"), ("readOnly", "look"), (nil, "–"), ("newer", "newer")] as [(String?, String)])
    func role_isAWord(role: String?, word: String) { #expect(Formatting.role(role) == word) }

    @Test func record_showsItsProperties_andItsDeletion() {
        let deleted = Stamp(milliseconds: 1_780_000_000_000, counter: 0, host: Self.host)
        let written = Stamp(milliseconds: 1_780_000_001_000, counter: 0, host: Self.host)
        let record = SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "m"),
            properties: [
                "name": Register(value: .string("B\n"), stamp: written),
                "on": Register(value: .bool(true), stamp: written),
            ], deletion: Deletion(stamp: deleted, mergedInto: "n"))

        #expect(
            RecordCommand.Show.lines(of: record) == [
                "PROPERTY  VALUE  WRITTEN                   BY HOST",
                "name      \"B\\n\"  2026-05-28T20:26:41.000Z  00000000-0000-0001-0000-000000000002",
                "on        true   2026-05-28T20:26:41.000Z  00000000-0000-0001-0000-000000000002",
                "merged into n at 2026-05-28T20:26:40.000Z by 00000000-0000-0001-0000-000000000002",
            ])
        #expect(RecordLine(record).cells == ["DeviceSettings", "m", "2", "merged into n", "2026-05-28T20:26:41.000Z"])
    }

    @Test func record_showsWhoBroughtIt_whereThatIsNotItsAuthor() {
        let stamp = Stamp(milliseconds: 1_780_000_001_000, counter: 0, host: Self.host)
        let record = SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "m"),
            properties: ["on": Register(value: .bool(true), stamp: stamp)],
            deletion: Deletion(stamp: Stamp(milliseconds: 1, counter: 0, host: Self.host)))

        let lines = RecordCommand.Show.lines(of: record.brought(by: HostID(high: 1, low: 3)))

        #expect(lines.dropFirst().count == 2)
        for line in lines.dropFirst() {
            #expect(
                line.hasSuffix(
                    "00000000-0000-0001-0000-000000000002, brought by 00000000-0000-0001-0000-000000000003"))
        }
    }

    @Test(arguments: [
        (Int64(0), "0 ms"), (999, "999 ms"), (7500, "7.5 s"), (7099, "7 s"), (15_000, "15 s"), (119_999, "119 s"),
        (120_000, "2 min"), (7_200_000, "2 h"), (200_000_000, "2 d"),
    ])
    func time_isShort(milliseconds: Int64, text: String) {
        #expect(Formatting.time(milliseconds) == text)
    }

    @Test func joinLine_isWholeAndCanBeCopied() throws {
        let pin = try #require(CertificatePin("sha256:" + String(repeating: "ab", count: 32)))
        let server = Server(
            folder: CloudFolder(path: "/var/lib/my cloud"), etcd: nil, address: .everywhere, names: ["pi.local"],
            usesTLS: true, rate: 100, connectionsPerAddress: 64, proxies: [], advertise: nil,
            announces: true, logger: Logger(label: "test"), manager: nil)

        #expect(
            server.joinLines(port: 8643, pin: pin, hasToken: true) == [
                "A host joins with:",
                "  meterctl cloud join https://pi.local:8643 --token-file '/var/lib/my cloud/enrolment.token' "
                    + "--pin \(pin)",
                "Another machine needs a copy of that token file first.",
            ])
        #expect(
            server.joinLines(port: 8643, pin: pin, hasToken: false) == [
                "metercloud token create --enrolment --output join.token makes a token, with which a host joins:",
                "  meterctl cloud join https://pi.local:8643 --token-file join.token --pin \(pin)",
            ])
    }
}
