import CoreTestKit
import Domain
import MeterTestKit
import Testing

@testable import CloudStore

/// The packed table against a plain dictionary.
struct HeldLeasesTests {
    static func record(_ number: UInt64) -> LeaseRecord {
        var rng = SeededRNG(seed: number)
        return HeldLeasesTests().record(number, isRevoking: false, rng: &rng)
    }

    private func record(_ number: UInt64, isRevoking: Bool, rng: inout some RandomNumberGenerator) -> LeaseRecord {
        let holder = LeaseHolder(
            host: HostID(high: 0, low: number % 5), hostName: "Host \(number % 7) – ü",
            session: SessionID(high: 1, low: number % 5), transport: LeaseTransport.allCases[Int(number % 3)],
            acquiredAt: WallTime(millisecondsSince1970: Int64(number) - 50))
        let token = FencingToken(rawValue: number << 40 | 1)
        let grants = (0..<number % 4).map {
            LeaseGrant(
                requestID: RequestID(high: number, low: rng.next()),
                token: $0 + 1 == number % 4 ? token : FencingToken(rawValue: $0))
        }
        return LeaseRecord(
            state: isRevoking ? .revoking(holder) : .held(holder), token: token,
            terms: LeaseTerms(
                timeToLive: .milliseconds(30_000 + Int64(number) * 1001), lockDelay: .seconds(Int64(number)),
                policy: number % 2 == 0 ? .keep : .strict),
            renewedAt: .origin + .nanoseconds(Int64(number) * 1_000_000_007),
            grants: grants)
    }

    @Test(arguments: [UInt64](1...20))
    func table_isWhatADictionaryIs_whateverHappens(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var table = HeldLeases()
        var model: [String: LeaseRecord] = [:]
        let meters =
            (1...20).map { MACAddress(bits: UInt64($0) << 40 | 0xABCDEF).description }
            + [
                "usb:2e3c:0049:0042", "port:pi:/dev/ttyUSB0", "aa:bb:cc:dd:ee:ff", "AA:BB:CC:DD:EE:F",
                "AA-BB-CC-DD-EE-FF",
            ]

        for _ in 0..<500 {
            let meter = meters[Int(rng.next() % UInt64(meters.count))]
            let action = rng.next() % 4
            let new = action == 0 ? nil : record(rng.next() % 100, isRevoking: action == 1, rng: &rng)
            table[meter] = new
            model[meter] = new

            #expect(table.count == model.count, "seed \(seed)")
            #expect(table[meter] == new, "seed \(seed)")
        }

        #expect(Dictionary(uniqueKeysWithValues: table.all.map { ($0.meter, $0.record) }) == model, "seed \(seed)")
        for meter in meters { #expect(table[meter] == model[meter], "seed \(seed)") }
        #expect(room(of: "runs", in: table) == Set(model.values.map { Run($0) }).count, "one for each run of a host")
        #expect((model.count...meters.count).contains(room(of: "slots", in: table)), "room is used again")
        for meter in meters { table[meter] = nil }
        #expect(table.isEmpty)
        #expect(table.all.isEmpty)
        #expect(room(of: "runs", in: table) == 0)
    }

    private struct Run: Hashable {
        var session: SessionID?
        var hostName: String?

        init(_ record: LeaseRecord) {
            session = record.holder?.session
            hostName = record.holder?.hostName
        }
    }

    /// How many elements a list within the table has.
    private func room(of list: String, in table: HeldLeases) -> Int {
        Mirror(reflecting: table).descendant(list).map { Mirror(reflecting: $0).children.count } ?? -1
    }

    @Test func freedLease_isNone() {
        var table = HeldLeases()
        var rng = SeededRNG(seed: 1)
        var lease = record(1, isRevoking: false, rng: &rng)
        table["AA:BB:CC:DD:EE:FF"] = lease
        lease.state = .free

        table["AA:BB:CC:DD:EE:FF"] = lease

        #expect(table["AA:BB:CC:DD:EE:FF"] == nil)
    }
}
