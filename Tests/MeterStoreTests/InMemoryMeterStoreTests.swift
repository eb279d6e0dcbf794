import Gateway
import MeterModel
import MeterTestKit
import RecordingCore
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

/// A contract that a broken store fulfils would be worthless.
struct ContractTests {
    @Test func contract_isBroken_byAStoreThatForgets() async throws {
        #expect(try await broken(MeterRepositoryContract.clauses) { Sabotaged(.forgets) } >= 4)
        #expect(try await broken(SampleRepositoryContract.clauses) { Sabotaged(.forgets) } >= 6)
    }

    @Test func contract_isBroken_byAStoreThatMixesMeters() async throws {
        #expect(try await broken(SampleRepositoryContract.clauses) { Sabotaged(.mixesMeters) } >= 1)
    }

    @Test func contract_isBroken_byAStoreThatNeverPrunes() async throws {
        #expect(try await broken(SampleRepositoryContract.clauses) { Sabotaged(.neverPrunes) } >= 2)
    }

    @Test func contract_isBroken_byAStoreWithoutOrder() async throws {
        #expect(try await broken(SampleRepositoryContract.clauses) { Sabotaged(.reverses) } >= 3)
    }

    private func broken<Port>(_ clauses: [ContractClause<Port>], _ make: () -> Port) async throws -> Int {
        var count = 0
        for clause in clauses {
            do {
                try await clause.check(make())
            } catch is ContractViolation {
                count += 1
            }
        }
        return count
    }
}

private struct Sabotaged: MeterRepository, SampleRepository {
    enum Fault { case forgets, mixesMeters, neverPrunes, reverses }

    private let base = InMemoryMeterStore()
    private let fault: Fault

    init(_ fault: Fault) { self.fault = fault }

    private func id(_ meter: MeterID) -> MeterID { fault == .mixesMeters ? .one : meter }

    func meters() async throws -> [KnownMeter] { await base.meters() }

    func save(_ meter: KnownMeter) async throws {
        if fault != .forgets { try await base.save(meter) }
    }

    func forget(_ meter: MeterID) async throws { try await base.forget(meter) }
    func formerIDs() async throws -> [MeterID: MeterID] { await base.formerIDs() }
    func deleteReadings(of meter: MeterID) async throws -> Int { try await base.deleteReadings(of: id(meter)) }

    func append(_ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]) async throws {
        guard fault != .forgets else { return }
        try await base.append(
            chunks.map { chunk in
                var chunk = chunk
                chunk.meter = id(chunk.meter)
                return chunk
            }, keeping: counts)
    }

    func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) async throws -> [StoredSample] {
        let samples = try await base.samples(of: id(meter), in: span, limit: limit)
        return fault == .reverses ? samples.reversed() : samples
    }

    func prune(before cutoff: WallTime, maxBytes: Int64) async throws -> Int {
        fault == .neverPrunes ? 0 : try await base.prune(before: cutoff, maxBytes: maxBytes)
    }
}
