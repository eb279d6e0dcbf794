import Domain
import Gateway
import MeterTestKit
import Testing

/// The fake keeps the same promises as the store that it stands for.
struct InMemoryMeterStoreTests {
    @Test(arguments: MeterRepositoryContract.clauses)
    func fake_keepsTheMeterContract(_ clause: MeterRepositoryContract.Clause) async throws {
        try await clause.check(InMemoryMeterStore())
    }

    @Test(arguments: SampleRepositoryContract.clauses)
    func fake_keepsTheSampleContract(_ clause: SampleRepositoryContract.Clause) async throws {
        try await clause.check(InMemoryMeterStore())
    }

    @Test func writes_fail_whileTheTestSaysSo() async throws {
        let store = InMemoryMeterStore(meters: [KnownMeter(id: .one)])
        let full = StoreError(.diskFull, "the disk is full")
        await store.failWrites(with: full)

        await #expect(throws: full) { try await store.append([.minute(0)]) }
        await #expect(throws: full) { try await store.save(KnownMeter(id: .two)) }
        await #expect(throws: full) {
            try await store.prune(before: WallTime(millisecondsSince1970: .max), maxBytes: 0)
        }
        #expect(await store.chunks.isEmpty)
        #expect(await store.meters().map(\.id) == [.one])

        await store.failWrites(with: nil)
        try await store.append([.minute(0)])
        #expect(await store.chunks.count == 1)
        #expect(await store.appendCount == 2)
    }
}
