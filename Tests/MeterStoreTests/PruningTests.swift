import Domain
import Gateway
import MeterStore
import MeterTestKit
import Testing

struct PruningTests {
    private let folder: TemporaryFolder
    private let never = WallTime(millisecondsSince1970: .min)

    init() throws { folder = try TemporaryFolder() }

    private func filled(minutes: Int) async throws -> MeterStore {
        let store = try MeterStore.open(path: folder.store)
        try await store.append((0..<minutes).map { .minute($0) })
        return store
    }

    @Test func file_shrinks_whenItIsTooLarge() async throws {
        let store = try await filled(minutes: 1500)
        #expect(try await store.fileBytes() > 600_000)

        let removed = try await store.prune(before: never, maxBytes: 400_000)

        #expect(try folder.size(of: folder.store) <= 400_000)
        #expect(try await store.fileBytes() == Int64(folder.size(of: folder.store)))
        let left = try await store.allSamples()
        #expect(left.count == 1500 * 120 - removed)
        let kept = left.count / 120 * SampleChunk.minute(0).bytes.count
        #expect(kept > 270_000, "more was given up than the limit asks: \(kept) bytes are left")
        #expect(left.last?.time == SampleChunk.minute(1499).last)
        #expect(try await store.quickCheck() == [])
    }

    @Test func file_shrinks_whenMostOfItIsOld() async throws {
        let store = try await filled(minutes: 1500)
        let before = try await store.fileBytes()

        let removed = try await store.prune(before: SampleChunk.minute(1200).first, maxBytes: .max)

        #expect(removed == 1200 * 120)
        #expect(try folder.size(of: folder.store) < before / 3)
        #expect(try await store.allSamples().first?.time == SampleChunk.minute(1200).first)
    }

    @Test func file_keepsItsLength_whenADayGoesForEachThatComes() async throws {
        let store = try await filled(minutes: 1000)
        _ = try await store.prune(before: SampleChunk.minute(100).first, maxBytes: .max)
        let length = try await store.fileBytes()

        for hundred in 10..<20 {
            try await store.append((hundred * 100..<hundred * 100 + 100).map { .minute($0) })
            _ = try await store.prune(before: SampleChunk.minute(hundred * 100 - 800).first, maxBytes: .max)
        }

        // The freed pages are used again, to within the tree's slack.
        #expect(try await store.fileBytes() < length + length / 10)
        #expect(try await store.allSamples().count == 900 * 120 - 100 * 120 + 100 * 120)
    }

    /// Giving pages back costs more than using them again, so a file that is not too large keeps a few.
    @Test func file_keepsWhatIsFree_whenThatIsLittle() async throws {
        let store = try await filled(minutes: 1000)
        let length = try await store.fileBytes()

        let removed = try await store.prune(before: SampleChunk.minute(50).first, maxBytes: .max)

        #expect(removed == 50 * 120)
        #expect(try await store.fileBytes() == length)
    }

    @Test func readings_stay_whenSettingsAreWhatIsTooMuch() async throws {
        let store = try await filled(minutes: 600)
        let text = String(repeating: "x", count: 16_000)
        for number in 0..<20 { try await store.set(["p\(number)": text], for: .one) }

        let removed = try await store.prune(before: never, maxBytes: 100_000)

        let left = try await store.allSamples()
        #expect(removed == 600 * 120 - left.count)
        #expect(removed > 0)
        let kept = left.count / 120 * SampleChunk.minute(0).bytes.count
        #expect(kept > 45_000, "readings may have 50,000 bytes in any case: \(kept) bytes are left")
    }

    @Test func settings_stay_whenAllReadingsGo() async throws {
        let store = try await filled(minutes: 10)
        try await store.save(KnownMeter(id: .one, isWanted: true))
        try await store.set(["name": "Desk"], for: .one)

        let removed = try await store.prune(before: never, maxBytes: 0)

        #expect(removed == 1200)
        #expect(try await store.meters() == [KnownMeter(id: .one, isWanted: true)])
        #expect(try await store.settings(of: .one) == ["name": "Desk"])
    }
}
