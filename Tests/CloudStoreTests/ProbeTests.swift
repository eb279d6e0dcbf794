import Cloud
import CloudAPI
import CloudStore
import Domain
import GRDB
import MeterTestKit
import StoreTestKit
import Testing

/// Whether the store says that it would not do its part.
struct ProbeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fault(of engine: SQLiteCloudEngine, writes: Bool = false) async -> CloudFailure? {
        do throws(CloudFailure) {
            try await engine.probe(writes: writes)
            return nil
        } catch {
            return error
        }
    }

    @Test func soundStore_isWell_andHasNothingMoreInIt() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)

        #expect(await fault(of: engine) == nil)
        #expect(await fault(of: engine, writes: true) == nil)
        #expect(try await engine.check() == [])
        try engine.close()
        let queue = try DatabaseQueue(path: folder.store)
        #expect(try await queue.read { try String.fetchAll($0, sql: "SELECT key FROM meta WHERE key = 'probe'") } == [])
        try queue.close()
    }

    @Test func fileThatLostWhatItHeld_isAFault() async throws {
        let engine = try folder.openCloud()
        try folder.file.edit("DELETE FROM meta WHERE key = 'epoch'")
        #expect(await fault(of: engine)?.message.contains("lost what it held") == true)
    }

    @Test func emptyOrMissingFile_isAFault_andItsLogIsLeft() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        try folder.write([], to: folder.store)
        #expect(await fault(of: engine)?.message.contains("empty") == true)
        #expect(folder.exists(folder.store + "-wal"))

        try folder.remove(folder.store)
        #expect(await fault(of: engine)?.code == .serviceUnavailable)
    }

    @Test func fullDisk_isAFaultOfARealWrite() async throws {
        let engine = try folder.openCloud(options: .init(pageCountMax: 60))
        _ = try await engine.createZone("home", terms: .standard)
        for page in 0..<40 {
            // Until no more fits.
            _ = try? await engine.modify(
                (0..<20).map { Sample.record("m\(page)-\($0)") }, in: "home", now: Sample.now)
        }

        #expect(await fault(of: engine) == nil)
        #expect(await fault(of: engine, writes: true)?.message.contains("full") == true)
    }
}
