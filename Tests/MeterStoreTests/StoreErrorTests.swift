import Domain
import Foundation
import GRDB
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Everything that can be wrong with the file: each error is distinct, names the file, and deletes nothing.
struct StoreErrorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStore(minutes: Int = 50) async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append((0..<minutes).map { .minute($0) })
        try await store.set(["name": "Desk"], for: .one)
        try store.close()
    }

    /// Opens it, and expects that to fail with `code`, a message with the path, and a file left as it was.
    private func expectRefused(
        _ code: StoreError.Code, about part: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try folder.bytes(of: folder.store)
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
            try MeterStore.open(path: folder.store, options: .init(busyTimeout: .zero))
        }
        #expect(error?.code == code, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(error?.message.contains(folder.store + part) == true, sourceLocation: sourceLocation)
        #expect(try folder.bytes(of: folder.store) == before, "the file was changed", sourceLocation: sourceLocation)
    }

    private func overwrite(_ range: Range<Int>, with byte: UInt8) throws {
        var bytes = try folder.bytes(of: folder.store)
        for offset in range.clamped(to: bytes.indices) { bytes[offset] = byte }
        try folder.write(bytes, to: folder.store)
    }

    // MARK: - Another program's file, or another version's

    @Test func newerVersion_isRefused() async throws {
        try await makeStore()
        try folder.file.edit("INSERT INTO grdb_migrations VALUES ('999 of next year')")
        try expectRefused(.newerVersion)
    }

    @Test func otherProgramsDatabase_isRefused() throws {
        try folder.file.edit("CREATE TABLE bookmarks (url TEXT)")
        try expectRefused(.damaged)
    }

    @Test func otherFile_isRefused() throws {
        try folder.write(Array(String(repeating: "shopping list\n", count: 200).utf8), to: folder.store)
        try expectRefused(.damaged)
    }

    // MARK: - Damage

    /// Opens it, and expects a new store, with the damaged file beside it as it was.
    private func expectSetAside(sourceLocation: SourceLocation = #_sourceLocation) throws -> MeterStore {
        let before = try folder.bytes(of: folder.store)
        let store = try MeterStore.open(path: folder.store, options: .init(machine: .here))
        let aside = try #require(store.setAside, sourceLocation: sourceLocation)
        #expect(aside.path == folder.store + ".damaged-1", sourceLocation: sourceLocation)
        #expect(aside.message.contains(folder.store) && aside.message.contains(aside.path))
        #expect(try folder.bytes(of: aside.path) == before, "the file was changed", sourceLocation: sourceLocation)
        return store
    }

    @Test func overwrittenHeader_isSetAside() async throws {
        try await makeStore()
        try overwrite(0..<100, with: 0xA5)

        let store = try expectSetAside()

        #expect(try await store.settings(of: .one) == [:])
        try await store.set(["name": "Bench"], for: .one)
        try store.close()
        #expect(try MeterStore.open(path: folder.store).setAside == nil, "said once")
    }

    @Test func overwrittenSchema_isSetAside() async throws {
        try await makeStore()
        try overwrite(100..<512, with: 0xA5)
        _ = try expectSetAside()
    }

    @Test func shortenedFile_isSetAside() async throws {
        try await makeStore()
        try folder.write(Array(try folder.bytes(of: folder.store).prefix(20_000)), to: folder.store)
        _ = try expectSetAside()
    }

    @Test func damagedFiles_areNumbered() async throws {
        for number in 1...3 {
            try await makeStore(minutes: 1)
            try overwrite(0..<100, with: 0xA5)
            let store = try MeterStore.open(path: folder.store)
            #expect(store.setAside?.path == "\(folder.store).damaged-\(number)")
            try store.close()
        }
    }

    /// The damage is in a page that opening does not touch: a call finds it, and the next opening acts on that.
    @Test func damagedPages_areSetAside_afterACallFoundThem() async throws {
        try await makeStore()
        let host = try MeterStore.open(path: folder.store).identity.host
        let size = try folder.size(of: folder.store)
        try overwrite(size / 2..<size * 3 / 4, with: 0xA5)
        let store = try MeterStore.open(path: folder.store)
        #expect(store.setAside == nil)
        await #expect { try await store.allSamples() } throws: { ($0 as? StoreError)?.code == .damaged }
        try store.close()

        let next = try expectSetAside()

        #expect(next.identity.host == host, "the host is who it was")
        #expect(next.setAside?.message.contains("keeps its id") == true)
        #expect(
            !FileManager.default.fileExists(atPath: folder.store + ".suspect"),
            "the doubt was of the file that is aside")
        #expect(try await next.allSamples().isEmpty)
        try next.close()
        #expect(try MeterStore.open(path: folder.store).setAside == nil)
    }

    @Test func doubt_isDispelled_whenTheFileIsGood() async throws {
        try await makeStore(minutes: 1)
        try folder.write([], to: folder.store + ".suspect")

        let store = try MeterStore.open(path: folder.store)

        #expect(store.setAside == nil)
        #expect(try await store.settings(of: .one) == ["name": "Desk"])
        #expect(!FileManager.default.fileExists(atPath: folder.store + ".suspect"))
    }

    @Test(arguments: [
        ("DROP TABLE former_id", " lacks former, id in its table former_id"),
        ("ALTER TABLE told DROP COLUMN is_awaited", " lacks is_awaited in its table told"),
    ])
    func missingTableOrColumn_isDamaged_andNamed(edit: String, part: String) async throws {
        try await makeStore()
        try folder.file.edit(edit)
        try expectRefused(.damaged, about: part)
    }

    @Test func overwrittenPages_areFound_whenTheyAreRead() async throws {
        try await makeStore()
        let size = try folder.size(of: folder.store)
        try overwrite(size / 2..<size * 3 / 4, with: 0xA5)

        let store = try MeterStore.open(path: folder.store)

        #expect(try await !store.quickCheck().isEmpty)
        await #expect { try await store.allSamples() } throws: { ($0 as? StoreError)?.code == .damaged }
        #expect(try folder.size(of: folder.store) == size)
    }

    @Test func damagedChunk_isNamed_andTheOthersRead() async throws {
        try await makeStore(minutes: 3)
        try folder.file.edit("UPDATE sample_chunk SET bytes = zeroblob(length(bytes)) WHERE id = 2")
        let store = try MeterStore.open(path: folder.store)

        await #expect { try await store.allSamples() } throws: { error in
            guard let error = error as? StoreError else { return false }
            return error.code == .newerVersion && error.message.contains("\(SampleChunk.minute(1).first)")
        }
        let before = WallTime(millisecondsSince1970: 0)..<SampleChunk.minute(1).first
        #expect(try await store.samples(of: .one, in: before, limit: 1000) == SampleChunk.minute(0).samples())
        try folder.file.edit(
            "UPDATE sample_chunk SET bytes = CAST(x'01' || zeroblob(length(bytes)) AS BLOB) WHERE id = 2")
        await #expect { try await store.allSamples() } throws: { ($0 as? StoreError)?.code == .damaged }
    }

    // MARK: - No access

    @Test func readOnlyFile_isToldApart() async throws {
        try await makeStore()
        // The header's "write version": SQLite reads a file with one that it does not know, and never writes to it.
        // Works for root too, unlike permissions.
        try overwrite(18..<19, with: 3)
        try expectRefused(.readOnly)
    }

    @Test(.enabled(if: geteuid() != 0, "root may write to every folder: make test, not as root"))
    func readOnlyFolder_isToldApart() async throws {
        try await makeStore()
        try FileManager.default.removeItem(atPath: folder.store + ".lock")
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
        try expectRefused(.readOnly)
    }

    @Test func missingFolder_isNamed() {
        let path = folder.path + "/none/meters.db"
        #expect { try MeterStore.open(path: path) } throws: { error in
            (error as? StoreError)?.code == .system && "\(error)".contains(path)
        }
    }

    @Test func folderInsteadOfAFile_isNamed() throws {
        try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: false)
        #expect { try MeterStore.open(path: folder.store) } throws: { error in
            (error as? StoreError)?.code == .system && "\(error)".contains(folder.store)
        }
    }

    // MARK: - No room

    @Test func fullDisk_losesNothing_andRecovers() async throws {
        try await makeStore(minutes: 10)
        let room = try folder.size(of: folder.store) / 512 + 12
        let store = try MeterStore.open(path: folder.store, options: .init(pageCountMax: room))
        var stored = 10
        let error = await #expect(throws: StoreError.self) {
            for _ in 0..<100 {
                try await store.append([.minute(stored), .minute(stored, of: .two)])
                stored += 1
            }
        }

        #expect(error?.code == .diskFull)
        #expect(error?.message.contains(folder.store) == true)
        #expect(stored > 10 && stored < 100)
        #expect(try await store.allSamples() == (0..<stored).flatMap { try SampleChunk.minute($0).samples() })
        #expect(try await store.allSamples(of: .two).count == (stored - 10) * 120, "half a transaction")
        // Old readings can still be given up, and then there is room again.
        _ = try await store.prune(before: SampleChunk.minute(5).first, maxBytes: .max)
        try await store.append([.minute(stored)])
        #expect(try await store.quickCheck() == [])
    }

    @Test func fullDisk_refusesSettings_andKeepsThoseThatWereTaken() async throws {
        try await makeStore(minutes: 10)
        let room = try folder.size(of: folder.store) / 512 + 30
        let store = try MeterStore.open(path: folder.store, options: .init(pageCountMax: room, machine: .here))
        var taken = 0
        let error = await #expect(throws: StoreError.self) {
            for number in 0..<100 {
                let text = String(repeating: "x", count: 1000)
                try await store.set(.desk, "p\(number)", .string(text), at: .minute(number))
                taken += 1
            }
        }

        #expect(error?.code == .diskFull)
        #expect(taken > 3 && taken < 100)
        #expect(try await store.record(.desk)?.properties.count == taken + 1)
        #expect(try await store.progress().pending == taken + 1, "what waits is what was taken")
        // Readings make room for settings.
        _ = try await store.prune(before: SampleChunk.minute(9).first, maxBytes: .max)
        try await store.set(.desk, "p\(taken)", .int(1), at: .minute(taken))
        #expect(try await store.quickCheck() == [])
    }

    // MARK: - In use elsewhere

    @Test func secondProcess_isToldWhoHasIt() async throws {
        let store = try MeterStore.open(path: folder.store)

        let error = #expect(throws: StoreError.self) { try MeterStore.open(path: folder.store) }

        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(getpid())") == true, "\(error?.message ?? "")")
        try store.close()
        try await MeterStore.open(path: folder.store).append([.minute(0)])
    }

    @Test func closedStore_isFree_evenIfACopyOfItsLockIsOpenStill() async throws {
        let store = try MeterStore.open(path: folder.store)
        // What a process has while it is being started.
        let path = URL(filePath: folder.store + ".lock").resolvingSymlinksInPath().path
        let lock = try #require(openDescriptors.first { $0.target == path })
        let copy = dup(lock.number)
        #expect(copy >= 0)
        defer { close(copy) }

        try store.close()

        try await MeterStore.open(path: folder.store).append([.minute(0)])
    }

    private var openDescriptors: [(number: Int32, target: String)] {
        get throws {
            let folder = "/proc/self/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
                // Descriptors of other tests come and go meanwhile.
                guard let number = Int32(name),
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
                else { return nil }
                return (number, target)
            }
        }
    }

    @Test func otherProgramThatWrites_isWaitedForAndReported() async throws {
        try await makeStore(minutes: 1)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.store, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        try expectRefused(.locked)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        let store = try MeterStore.open(path: folder.store, options: .init(busyTimeout: .zero))

        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        await #expect { try await store.append([.minute(1)]) } throws: { ($0 as? StoreError)?.code == .locked }
        #expect(try await store.allSamples().count == 120, "others' writing is no reason not to read")
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }

        try await store.append([.minute(1)])
        #expect(try await store.allSamples().count == 240)
    }

    // MARK: - Emptied, deleted

    private func truncate() throws { try folder.write([], to: folder.store) }

    @Test func emptiedStore_isNoNewOne_andWhatIsLeftIsKept() async throws {
        try await makeStore(minutes: 1)
        try truncate()
        try folder.write([], to: folder.store + ".suspect")
        let store = try MeterStore.open(path: folder.store)
        #expect(!FileManager.default.fileExists(atPath: folder.store + ".suspect"))
        let told = try #require(store.setAside)
        #expect(told.path == folder.store + ".damaged-1")
        #expect(told.message.contains("is empty, though it was not"))
        #expect(FileManager.default.fileExists(atPath: told.path))
        #expect(try await store.allSamples().isEmpty)
    }

    @Test func deletedStore_isNoNewOne_andIsToldOnce() async throws {
        try await makeStore(minutes: 1)
        try FileManager.default.removeItem(atPath: folder.store)
        let store = try MeterStore.open(path: folder.store)
        #expect(try #require(store.setAside).message.contains("is gone"))
        try store.close()
        #expect(try MeterStore.open(path: folder.store).setAside == nil)
    }

    @Test func firstOpening_isNoLoss_alsoAfterOneThatWasInterrupted() throws {
        try truncate()
        #expect(try MeterStore.open(path: folder.store).setAside == nil)
    }

    @Test func logOfAnEmptiedStore_isKept() throws {
        try truncate()
        try folder.write([1, 2, 3], to: folder.store + "-wal")
        let store = try MeterStore.open(path: folder.store)
        #expect(try folder.bytes(of: try #require(store.setAside).path + "-wal") == [1, 2, 3])
    }

    @Test func storeThatIsTakenAway_whileItIsOpen_takesNothingMore() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append([.minute(0)])
        #expect(store.trouble == nil)
        try FileManager.default.moveItem(atPath: folder.store, toPath: folder.store + ".away")
        #expect(try #require(store.trouble).contains("was deleted or replaced"))
        await #expect(throws: StoreError.self) { try await store.append([.minute(1)]) }
        #expect(try await store.allSamples().count == 120)
        try truncate()
        #expect(store.trouble != nil)
        try FileManager.default.removeItem(atPath: folder.store)
        try FileManager.default.moveItem(atPath: folder.store + ".away", toPath: folder.store)
        try await store.append([.minute(1)])
    }
}
