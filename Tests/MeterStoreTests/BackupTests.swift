import Domain
import Foundation
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Copies of a store that is in use, and what is put back from them.
struct BackupTests {
    private struct Stopped: Error {}

    private static let session = SessionID(high: 1, low: 7)

    private let folder: TemporaryFolder
    private let images: TemporaryFolder
    private let backup: String
    private let settings = HostMoment.minute(1)

    init() throws {
        folder = try TemporaryFolder()
        images = try TemporaryFolder()
        backup = folder.path + "/backup.sqlite"
    }

    private func open(_ path: String? = nil, on machine: Machine = .here) throws -> MeterStore {
        try MeterStore.open(path: path ?? folder.store, options: .init(machine: machine))
    }

    /// A store that has readings, settings and a session with leases, of which there is a backup, and which went on.
    private func makeStore() async throws -> MeterStore {
        let store = try open()
        try await store.append([.minute(0)])
        try await store.set(.meter(1), "name", .string("Bench"), at: settings)
        try await store.keepLeaseSession(Self.session)
        try await store.backup(to: backup)
        try await store.append([.minute(1)])
        return store
    }

    @Test func backup_hasReadingsAndSettings_andNoSession_onThisMachineAndOnAnother() async throws {
        let store = try await makeStore()
        let (samples, contents) = (try await store.allSamples().count / 2, try await SettingsContents(store))
        let other = folder.path + "/other.sqlite"
        try FileManager.default.copyItem(atPath: backup, toPath: other)

        // Beside the one that runs.
        let copy = try open(backup)

        #expect(copy.identity.host == store.identity.host)
        #expect(try await store.leaseSession() == Self.session)
        #expect(try await copy.leaseSession() == nil)
        #expect(try await copy.allSamples().count == samples)
        #expect(try await SettingsContents(copy) == contents)
        let elsewhere = try open(other, on: Machine(digest: "another", boot: "x"))
        #expect(elsewhere.identity.replaced == store.identity.host)
        #expect(try await elsewhere.leaseSession() == nil)
        for store in [store, copy, elsewhere] { try store.close() }
    }

    /// A backup is as of one moment, and nobody who writes waits for it.
    @Test func readings_areWritten_whileABackupIs() async throws {
        let store = try open()
        for minute in 0..<200 { try await store.append([.minute(minute), .minute(minute, of: .two)]) }

        async let done: Void = store.backup(to: backup)
        for minute in 200..<300 { try await store.append([.minute(minute), .minute(minute, of: .two)]) }
        try await done

        try await MeterStore.checkBackup(at: backup)
        let copy = try open(backup)
        #expect(try await copy.allSamples(of: .one).count == copy.allSamples(of: .two).count)
        #expect(try await copy.allSamples(of: .one).count >= 200 * 120)
        #expect(try await store.allSamples(of: .one).count == 300 * 120)
        try copy.close()
        try store.close()
    }

    @Test func damagedOrForeignFile_isNoBackup() async throws {
        let store = try await makeStore()
        try store.close()
        var bytes = try folder.bytes(of: backup)
        for place in stride(from: 4096, to: bytes.count, by: 512) { bytes[place] ^= 0xFF }
        try folder.write(bytes, to: backup)
        let empty = folder.path + "/empty"
        try folder.write([], to: empty)

        for path in [backup, empty, folder.path + "/none"] {
            await #expect(throws: StoreError.self) { try await MeterStore.checkBackup(at: path) }
            #expect(throws: StoreError.self) { try MeterStore.restore(from: path, to: folder.store) }
        }
        let same = try open()
        #expect(same.setAside == nil)
        #expect(try await same.leaseSession() == Self.session)
        try same.close()
    }

    @Test func restore_isRefused_whileTheStoreIsInUse() async throws {
        let store = try await makeStore()

        let error = #expect(throws: StoreError.self) { try MeterStore.restore(from: backup, to: folder.store) }

        #expect(error?.code == .locked)
        try store.close()
    }

    @Test func restoredStore_isTheBackup_andTheFormerOneIsKept() async throws {
        try await makeStore().close()

        let former = try #require(try MeterStore.restore(from: backup, to: folder.store))

        #expect(former == folder.store + ".replaced-1")
        let restored = try open()
        #expect(try await restored.allSamples().count == 120)
        #expect(try await restored.leaseSession() == nil)
        try restored.close()
        // A copied file is no backup, and is not taken for the run that it was copied from either.
        #expect(try MeterStore.restore(from: former, to: folder.store) == folder.store + ".replaced-2")
        let again = try open()
        #expect(try await again.allSamples().count == 240)
        #expect(try await again.leaseSession() == nil)
        try again.close()
    }

    /// What a kill or a full disk before any step leaves: the store as it was, or a start that asks for the restore again.
    @Test(arguments: 0...2, [false, true])
    func interruptedRestore_losesNothing_andIsFinishedByAnother(step: Int, isKilled: Bool) async throws {
        let store = try await makeStore()
        // A store that was killed has part of itself in the log.
        let killed = try folder.copyStore(as: "killed.db")
        try store.close()
        let image = images.path + "/killed"
        let error = #expect(throws: StoreError.self) {
            try MeterStore.restore(from: backup, to: killed) { next in
                guard next == step else { return }
                if isKilled { try FileManager.default.copyItem(atPath: folder.path, toPath: image) }
                throw Stopped()
            }
        }
        #expect(error != nil)
        let path = isKilled ? image + "/killed.db" : killed
        if step == 2 {
            let error = #expect(throws: StoreError.self) { try open(path) }
            #expect(error?.message.contains("Run meterd --restore again") == true)
        } else {
            let same = try open(path)
            #expect(try await same.allSamples().count == 240)
            #expect(try await same.leaseSession() == Self.session)
            try same.close()
        }

        _ = try MeterStore.restore(from: backup, to: path)

        let restored = try open(path)
        #expect(try await restored.allSamples().count == 120)
        #expect(restored.setAside == nil)
        try restored.close()
        let former = try open(path + ".replaced-1")
        #expect(try await former.allSamples().count == 240)
        try former.close()
    }
}
