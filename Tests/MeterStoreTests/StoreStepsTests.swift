import Domain
import GRDB
import Gateway
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// What one call does at most, what is not worth a write, and what is refused before anything is written.
struct StoreStepsTests {
    private let folder: TemporaryFolder
    private let always = WallTime(millisecondsSince1970: .max)

    init() throws { folder = try TemporaryFolder() }

    /// Chunks of readings in quick succession, an hour apart.
    private func chunks(_ counts: [Int], of meter: MeterID = .one) -> [SampleChunk] {
        counts.enumerated().compactMap { number, count in
            var builder = SampleChunkBuilder(meter: meter)
            var reading = Reading()
            reading[.voltage] = 5
            let start = SampleChunk.minute(60 * number).first
            for index in 0..<count { builder.append(start + .milliseconds(index / 20), reading) }
            return builder.finish()
        }
    }

    struct Steps: CustomStringConvertible, Sendable {
        var chunks: [Int]
        /// How many readings each call takes on, until nothing is left.
        var calls: [Int]

        var description: String { "\(chunks.count) chunks" }
    }

    /// A call ends with the chunk that makes it 20,000 readings. A chunk counts as 100 at least.
    @Test(arguments: [
        Steps(chunks: [19_999, 1, 1], calls: [20_000, 1]), Steps(chunks: [19_900, 100, 1], calls: [20_000, 1]),
        Steps(chunks: [20_000, 1], calls: [20_000, 1]),
        Steps(chunks: Array(repeating: 1, count: 401), calls: [200, 200, 1]),
        Steps(chunks: [30_000, 7], calls: [30_000, 7]),
    ])
    func rollUpAndThin_takeBoundedSteps(_ steps: Steps) async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append(chunks(steps.chunks))
        var calls: [Int] = []
        while case let count = try await store.rollUp(), count > 0 { calls.append(count) }
        #expect(calls == steps.calls)
        // A single reading is no fast meter's.
        guard steps.chunks.contains(where: { $0 > 1 }) else { return }
        let fast = steps.chunks.filter { $0 > 1 }.reduce(0, +)
        calls = []
        while case let count = try await store.thin(before: always), count > 0 { calls.append(count) }
        #expect(calls.reduce(0, +) == fast)
        #expect(calls.first.map { $0 >= 19_900 } == true)
        let left = try await store.allSamples()
        #expect(left.count == steps.chunks.count { $0 == 1 })
        try store.close()
    }

    @Test func deletion_takesReadingsAndTheirSums_ofOneMeter() async throws {
        let store = try MeterStore.open(path: folder.store)
        for meter in [MeterID.one, .two] { try await store.append(chunks([500, 1, 500], of: meter)) }
        while try await store.rollUp() > 0 {}
        while try await store.thin(before: SampleChunk.minute(59).first) > 0 {}

        #expect(try await store.deleteReadings(of: .one) == 501, "of those thinned, no single reading was left")

        let span = WallTime(millisecondsSince1970: 0)..<always
        for tier in SampleTier.allCases { #expect(try await store.buckets(tier, of: .one, in: span).isEmpty) }
        #expect(try await store.allSamples(of: .one).isEmpty)
        #expect(try await store.allSamples(of: .two).count == 501)
        #expect(try await store.buckets(.minute, of: .two, in: span).count == 3)
        #expect(try await store.deleteReadings(of: .one) == 0)
        try store.close()
    }

    /// An SD card lives longer.
    @Test func whatChangesNothing_isNotWritten_andWishesWaitForTheDisk() async throws {
        let written = Mutex<[String]>([])
        let options = MeterStore.Options(onStatement: { sql in written.withLock { $0.append(sql) } })
        let store = try MeterStore.open(path: folder.store, options: options)
        func writes(_ body: () async throws -> Void) async throws -> (any: Bool, durable: Bool) {
            written.withLock { $0 = [] }
            try await body()
            let all = written.withLock { $0 }
            return (
                all.contains { $0.hasPrefix("INSERT") || $0.hasPrefix("UPDATE") || $0.hasPrefix("BEGIN") },
                all.contains { $0.hasPrefix("PRAGMA synchronous = FULL") }
            )
        }
        var meter = KnownMeter(id: .one)
        try await store.save(meter)
        let changes: [(what: String, isWish: Bool, change: (inout KnownMeter) -> Void)] = [
            ("wanted", true, { $0.isWanted = true }), ("declared", true, { $0.isDeclared = true }),
            ("preferred", true, { $0.preferred = .spp }), ("model", false, { $0.model = .um25c }),
            ("link", false, { $0.link = .serial(path: "/dev/x") }),
            ("seen", false, { $0.lastSeen = WallTime(millisecondsSince1970: 1) }),
            ("not wanted", true, { $0.isWanted = false }),
        ]
        for (what, isWish, change) in changes {
            change(&meter)
            let changed = meter
            #expect(try await writes { try await store.save(changed) } == (true, isWish), "\(what)")
            #expect(try await writes { try await store.save(changed) } == (false, false), "\(what), again")
        }
        #expect(try await writes { try await store.keep([]) } == (false, false))
        #expect(try await writes { try await store.append([], keeping: [:]) } == (false, false))
        try await store.append([.minute(0)])
        while try await store.rollUp() > 0 {}
        _ = try await writes { _ = try await store.rollUp() }
        #expect(!written.withLock { $0 }.contains { $0.hasPrefix("UPDATE rollup") })
        try store.close()
    }

    /// It would keep all others from being read.
    @Test func idThatDoesNotReadBack_isRefused_byEveryWrite() async throws {
        let store = try MeterStore.open(path: folder.store)
        // An empty serial reads back as no serial at all.
        let bad = MeterID.usb(vendor: 1, product: 2, serial: "")
        let count = EnergyCount(energy_Wh: 1, charge_mAh: 1, seconds: 1, since: nil)
        let pattern = try AlertParser.pattern("stale")
        let writes: [(String, () async throws -> Void)] = [
            ("save", { try await store.save(KnownMeter(id: bad)) }),
            ("append", { try await store.append([.minute(0), .minute(0, of: bad)]) }),
            ("append, counts", { try await store.append([.minute(0)], keeping: [bad: count]) }),
            ("keepEnergyCount", { try await store.keepEnergyCount(count, of: bad) }),
            ("addAlert", { _ = try await store.addAlert(pattern, of: bad, name: nil, notify: []) }),
            ("moveAlerts", { try await store.moveAlerts(from: .one, to: bad) }),
        ]
        for (what, write) in writes { await #expect(throws: StoreError.self, "\(what)") { try await write() } }

        #expect(try await store.meters().isEmpty)
        #expect(try await store.allSamples().isEmpty)
        #expect(try await store.energyCounts().isEmpty)
        #expect(try await store.alerts().isEmpty)
        try store.close()
    }
}
