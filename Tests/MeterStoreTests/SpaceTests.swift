import Domain
import Gateway
import MeterStore
import MeterTestKit
import Testing

/// A store that is full of something other than readings.
struct SpaceTests {
    private let folder: TemporaryFolder
    private let never = WallTime(millisecondsSince1970: .min)

    init() throws { folder = try TemporaryFolder() }

    /// Records that another host's token wrote into the zone, as pages bring them.
    private func flood(_ store: MeterStore, megabytes: Int) async throws {
        let text = SettingValue.string(String(repeating: "x", count: 16_000))
        let stamp = Stamp(milliseconds: 1_795_000_000_000, counter: 0, host: HostID(high: 7, low: 7))
        for page in 0..<megabytes {
            let records = (0..<66).map { number in
                SyncRecord(
                    key: RecordKey(type: .recording, name: "\(HostID(high: 7, low: 7))/\(page)-\(number)"),
                    properties: ["note": Register(value: text, stamp: stamp)])
            }
            _ = try await store.apply(
                ChangesPage(type: .recording, records: records, token: "t\(page)", moreComing: true, epoch: "e1"))
        }
    }

    @Test func readings_stay_beside7MegabytesOfSettings_underASmallLimit() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append((0..<190).map { .minute($0) })
        try await flood(store, megabytes: 7)
        #expect(try await store.fileBytes() > 7 << 20)

        let removed = try await store.prune(before: never, maxBytes: 2 << 20)

        #expect(removed == 0)
        #expect(try await store.allSamples().count == 190 * 120)
        let crowding = try #require(try await store.crowding(maxBytes: 2 << 20))
        #expect(crowding.part == "settings")
        #expect(crowding.partBytes > 7 << 20)
        #expect(crowding.description.hasSuffix("where max-megabytes allows 2.0 MB; readings keep half of that"))
        #expect(try await store.crowding(maxBytes: 1 << 30) == nil)
    }

    /// Half of the limit is kept for readings in any case, and no more than that if settings are what is too much.
    @Test func readings_areDeletedDownToHalfOfTheLimit_andNotFurther() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append((0..<1500).map { .minute($0) })
        try await flood(store, megabytes: 1)

        for _ in 0..<3 { _ = try await store.prune(before: never, maxBytes: 1 << 19) }

        let kept = try await store.allSamples().count / 120 * SampleChunk.minute(0).bytes.count
        #expect(kept > (1 << 18) - 2 * SampleChunk.minute(0).bytes.count)
        #expect(kept <= 1 << 18)
    }

    @Test func whatWasOverwritten_isNamed_whereItIsTheMost() async throws {
        let store = try MeterStore.open(path: folder.store)
        for number in 0..<40 {
            try await store.set(["note": String(repeating: "\(number % 10)", count: 16_000)], for: .one)
        }

        #expect(try await store.crowding(maxBytes: 100_000)?.part == "overwritten settings")
    }
}
