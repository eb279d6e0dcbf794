import Domain
import Gateway
import MeterStore
import MeterTestKit
import Testing

/// What files brought, beside what was measured.
struct ImportStoreTests {
    private let folder: TemporaryFolder
    private let recording = RecordingID(
        host: HostID(high: 1, low: 2), meter: .mac(MACAddress(bits: 1)), token: 0,
        started: WallTime(millisecondsSince1970: 1_795_000_000_000))

    init() throws { folder = try TemporaryFolder() }

    private func chunk(of meter: MeterID) throws -> SampleChunk {
        var builder = SampleChunkBuilder(meter: meter)
        for number in 0..<100 {
            var reading = Reading()
            reading[.voltage] = Double(number)
            builder.append(recording.started + .seconds(number), reading)
        }
        let chunk = builder.finish()
        return try #require(chunk)
    }

    @Test func import_standsApart_andGoesWithoutATrace() async throws {
        let store = try MeterStore.open(path: folder.store)
        let stretch = recording.importStretch
        let span = recording.started..<recording.started + .seconds(3600)
        try await store.append([try chunk(of: recording.meter), try chunk(of: stretch)])
        // Summed up, as it is an hour later.
        while try await store.rollUp() > 0 {}
        #expect(try await store.importStretches() == [stretch])
        #expect(try await store.storedMeters() == [recording.meter])

        #expect(try await store.deleteImport(stretch) == 100)

        #expect(try await store.importStretches().isEmpty)
        #expect(try await store.samples(of: stretch, in: span, limit: 1000).isEmpty)
        #expect(try await store.buckets(.minute, of: stretch, in: span).isEmpty)
        #expect(try await store.samples(of: recording.meter, in: span, limit: 1000).count == 100)
        #expect(try await store.buckets(.minute, of: recording.meter, in: span).isEmpty == false)
        #expect(try await store.deleteImport(stretch) == 0)
        #expect(try await store.storedMeters() == [recording.meter])
        _ = try await store.deleteReadings(of: recording.meter)
        #expect(try await store.storedMeters().isEmpty)
        #expect(try await store.quickCheck().isEmpty)
        try store.close()
    }
}
