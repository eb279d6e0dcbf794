import Domain
import Gateway
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

struct MeterStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: MeterRepositoryContract.clauses)
    func store_keepsTheMeterContract(_ clause: MeterRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store))
    }

    @Test(arguments: SampleRepositoryContract.clauses)
    func store_keepsTheSampleContract(_ clause: SampleRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store))
    }

    @Test func everything_isThere_whenOpenedAgain() async throws {
        let meter = KnownMeter(
            id: .one, model: .um34c, link: .serial(path: "/dev/ttyACM0"), isWanted: true,
            lastSeen: WallTime(millisecondsSince1970: 5))
        let first = try MeterStore.open(path: folder.store)
        try await first.save(meter)
        try await first.set(["name": "Desk"], for: .one)
        try await first.append([.minute(0), .minute(1, of: .two)])
        try first.close()

        let second = try MeterStore.open(path: folder.store)

        #expect(try await second.meters() == [meter])
        #expect(try await second.settings(of: .one) == ["name": "Desk"])
        #expect(try await second.allSamples() == SampleChunk.minute(0).samples())
        #expect(try await second.allSamples(of: .two) == SampleChunk.minute(1).samples())
        #expect(try await second.quickCheck() == [])
    }

    @Test func storeLetsGo_whenItIsDropped() async throws {
        try await MeterStore.open(path: folder.store).set(["name": "Desk"], for: .one)

        let again = try MeterStore.open(path: folder.store)

        #expect(try await again.settings(of: .one) == ["name": "Desk"])
    }

    @Test func calls_fail_afterClose() async throws {
        let store = try MeterStore.open(path: folder.store)
        try store.close()
        try store.close()

        await #expect { try await store.append([.minute(0)]) } throws: { ($0 as? StoreError)?.code == .system }
        await #expect { try await store.meters() } throws: { ($0 as? StoreError)?.code == .system }
    }

    @Test func meter_isRefused_whenItsNameDoesNotReadBack() async throws {
        let store = try MeterStore.open(path: folder.store)
        // An empty serial reads back as no serial at all.
        let ambiguous = MeterID.usb(vendor: 1, product: 2, serial: "")

        await #expect { try await store.save(KnownMeter(id: ambiguous)) } throws: { error in
            "\(error)".contains("usb:0001:0002:")
        }
        await #expect(throws: StoreError.self) { try await store.append([.minute(0, of: ambiguous)]) }
        #expect(try await store.meters().isEmpty)
    }

    @Test func model_isUnknown_whenANewerVersionAddedIt() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.save(KnownMeter(id: .one, model: .um25c, link: .serial(path: "/dev/x")))
        try folder.file.edit("UPDATE meter SET model = 'um99c', transport = 'carrier-pigeon'")

        #expect(try await store.meters() == [KnownMeter(id: .one)])
    }

    @Test func wish_isOnTheDisk_beforeTheCallReturns() async throws {
        let statements = Mutex<[String]>([])
        let options = MeterStore.Options(onStatement: { sql in statements.withLock { $0.append(sql) } })
        let store = try MeterStore.open(path: folder.store, options: options)
        func recorded(_ body: () async throws -> Void) async throws -> [String] {
            statements.withLock { $0 = [] }
            try await body()
            return statements.withLock { $0 }.map { String($0.prefix(25)) }
        }
        let durable = [
            "PRAGMA synchronous = FULL", "BEGIN IMMEDIATE TRANSACTI", "COMMIT TRANSACTION",
            "PRAGMA synchronous = NORM",
        ]

        let wish = try await recorded { try await store.save(KnownMeter(id: .one, isWanted: true)) }
        let sighting = try await recorded {
            try await store.save(KnownMeter(id: .one, isWanted: true, lastSeen: WallTime(millisecondsSince1970: 1)))
        }
        let setting = try await recorded { try await store.set(["name": "Desk"], for: .one) }

        #expect(wish.filter(durable.contains) == durable)
        #expect(setting.filter(durable.contains) == durable)
        #expect(sighting.filter(durable.contains) == Array(durable[1...2]))
    }

    /// The limit is 10 MB a day for one meter at 2 Hz, flushed once a minute: measured here over 100 minutes, as growth
    /// of the log, and of the file at the checkpoint that follows.
    @Test func writing_isCheap() async throws {
        try await MeterStore.open(path: folder.store).append([.minute(0)])
        let store = try MeterStore.open(path: folder.store)
        let fileBefore = try folder.size(of: folder.store)

        for minute in 1...100 { try await store.append([.minute(minute)]) }

        let log = try folder.size(of: folder.store + "-wal")
        try store.close()
        let growth = try folder.size(of: folder.store) - fileBefore
        // A page that is rewritten between two checkpoints is written back once; a few are written back at every one.
        let perDay = (log + growth + growth / 10) * 1440 / 100
        #expect(log > 100 * SampleChunk.minute(0).bytes.count, "the log was written back too early to count it")
        #expect(perDay < 10_000_000, "\(perDay) bytes a day")
    }
}
