import Domain
import Foundation
import Gateway
import MeterStore
import MeterTestKit
import ServerKit
import StoreTestKit
import Synchronization
import Testing

/// Backups of a real store, in virtual time, with a disk that fails and a process that is killed at any step.
struct BackupKeeperTests {
    private struct Full: Error {}

    private final class Script: Sendable {
        let time = Mutex((seconds: 0, jump: 0))
        let step = Mutex<@Sendable (BackupStep) throws -> Void>({ _ in })
        let copies = Mutex(0)

        func advance(_ seconds: Int) { time.withLock { $0.seconds += seconds } }
    }

    private struct Backed: BackedUpStore {
        let store: MeterStore
        let script: Script

        var backupKind: BackupName.Kind { BackupName.Kind(prefix: "meterd", suffix: "sqlite") }

        func backup(to path: String, at now: WallTime) async throws {
            script.copies.withLock { $0 += 1 }
            try await store.backup(to: path)
        }

        func checkBackup(at path: String) async throws { try await MeterStore.checkBackup(at: path) }
    }

    /// A store that another program backs up too, whose turn it is.
    private final class Shared: BackedUpStore {
        let last = Mutex<Result<WallTime, any Error>>(.failure(Full()))

        var backupKind: BackupName.Kind { BackupName.Kind(prefix: "cloud", suffix: "etcd") }

        func backup(to path: String, at now: WallTime) async throws {}
        func checkBackup(at path: String) async throws {}
        func lastBackup(here: WallTime?) async throws -> WallTime? { try last.withLock { try $0.get() } }
        func takeBackup(every: Duration, at now: WallTime) async throws -> Bool { false }
    }

    private let folder: TemporaryFolder
    private let directory: String
    private let script = Script()
    private let book = LogBook()

    init() throws {
        folder = try TemporaryFolder()
        directory = folder.path + "/backups"
        try make(directory, mode: 0o700)
        try make(folder.path + "/state", mode: 0o700)
    }

    private func make(_ path: String, mode: Int) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
    }

    private func keeper(of store: MeterStore, in directory: String? = nil, keep: Int = 3) throws -> BackupKeeper {
        try keeper(of: Backed(store: store, script: script), in: directory, keep: keep)
    }

    private func keeper(of backed: any BackedUpStore, in directory: String?, keep: Int) throws -> BackupKeeper {
        var settings = BackupSettings(directory: directory ?? self.directory)
        settings.keep = keep
        let keeper = BackupKeeper(
            backed, outside: folder.path + "/state", settings: settings, logger: book.logger,
            clock: { [script] in
                let (seconds, jump) = script.time.withLock { $0 }
                let noon = WallTime(millisecondsSince1970: 1_795_000_000_000)
                return (.origin + .seconds(seconds), noon + .seconds(seconds + jump))
            }, sleep: { _ in throw CancellationError() }
        ) { [script] step in try script.step.withLock { $0 }(step) }
        return try #require(keeper)
    }

    private func open() throws -> MeterStore { try MeterStore.open(path: folder.path + "/state/meters.db") }

    /// A store with a meter, of which two backups are kept, after two days.
    private func twoDays() async throws -> (MeterStore, BackupKeeper) {
        let store = try open()
        try await store.save(KnownMeter(id: .mac(MACAddress(bits: 1)), isWanted: true))
        let keeper = try keeper(of: store, keep: 2)
        for _ in 0..<2 {
            script.advance(86_400)
            await keeper.look()
        }
        return (store, keeper)
    }

    private func backups(in directory: String? = nil) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory ?? self.directory).sorted()
    }

    @Test func aWeek_hasABackupADay_andTheOldestGo() async throws {
        let store = try open()
        let keeper = try keeper(of: store)

        for _ in 0..<7 * 24 * 60 {
            await keeper.look()
            script.advance(60)
        }

        #expect(script.copies.withLock { $0 } == 7)
        #expect(
            try backups() == [
                "meterd-2026-11-22T11-08-40Z-5.sqlite", "meterd-2026-11-23T11-08-40Z-6.sqlite",
                "meterd-2026-11-24T11-08-40Z-7.sqlite",
            ])
        #expect(keeper.report.age == .seconds(86_400 - 120))
        for file in try backups() {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(file)")[.posixPermissions]
            #expect((mode as? Int) == 0o600)
        }
        try store.close()
    }

    /// A disk that is full at any step leaves the store and the earlier backups, says so, and is over after a good one.
    @Test func failureAtAnyStep_leavesTheStoreAndEarlierBackups_andEndsWithTheNextGoodOne() async throws {
        let (store, keeper) = try await twoDays()
        let before = try backups()
        #expect(before.count == 2)
        // Five for the new file, one for the oldest.
        for failing in 0..<6 {
            script.advance(86_400)
            let count = Mutex(0)
            script.step.withLock {
                $0 = { _ in
                    defer { count.withLock { $0 += 1 } }
                    if count.withLock({ $0 }) == failing { throw Full() }
                }
            }
            await keeper.look()

            #expect(keeper.report.error == "Full()", "step \(failing)")
            let left = try backups()
            #expect(!left.contains { $0.contains("unfinished") }, "step \(failing)")
            #expect(left.count >= 2, "step \(failing)")
            for file in left { try await MeterStore.checkBackup(at: "\(directory)/\(file)") }
            #expect(try await store.quickCheck() == [])
            script.step.withLock { $0 = { _ in } }
            await keeper.look()
            #expect(keeper.report.error != nil, "the pause after a failure")
            script.advance(600)
            await keeper.look()
            #expect(keeper.report.error == nil, "step \(failing)")
            #expect(keeper.report.age == .zero)
            #expect(try backups().count == 2, "step \(failing)")
        }
        #expect(book.entries(saying: "backup failed").count == 6)
        try store.close()
    }

    /// What kill -9 before any step leaves, and a new run makes of it.
    @Test func killAtAnyStep_leavesAWholeBackup_andTheNextRunGoesOn() async throws {
        let (store, keeper) = try await twoDays()
        let images = Mutex<[String]>([])
        script.step.withLock { [folder, directory] in
            $0 = { step in
                // A kill in the middle of writing leaves part of a file.
                if case .sync(let name) = step, !name.isEmpty {
                    let half = folder.path + "/image-half"
                    try FileManager.default.copyItem(atPath: directory, toPath: half)
                    try FileHandle(forWritingTo: URL(filePath: "\(half)/\(name)")).truncate(atOffset: 1000)
                    images.withLock { $0.append(half) }
                }
                let image = folder.path + "/image-\(images.withLock { $0.count })"
                try FileManager.default.copyItem(atPath: directory, toPath: image)
                images.withLock { $0.append(image) }
            }
        }
        script.advance(86_400)
        await keeper.look()
        script.step.withLock { $0 = { _ in } }
        #expect(keeper.report.error == nil)

        let all = images.withLock { $0 }
        #expect(all.count == 7)
        for image in all {
            let finished = try backups(in: image).filter { $0.hasSuffix(".sqlite") }
            #expect(finished.count >= 2, "\(image)")
            for file in finished { try await MeterStore.checkBackup(at: "\(image)/\(file)") }
            script.advance(86_400)
            let next = try self.keeper(of: store, in: image, keep: 2)
            script.advance(120)
            await next.look()
            #expect(next.report.error == nil, "\(image)")
            #expect(try backups(in: image).count == 2, "\(image)")
        }
        try store.close()
    }

    /// Two programs back up one store: what this one could not do, the other has done.
    @Test func failure_isOver_whenAnotherProgramHasWrittenTheBackup() async throws {
        let shared = Shared()
        let keeper = try keeper(of: shared, in: nil, keep: 2)
        script.advance(120)
        await keeper.look()
        #expect(keeper.report.error == "Full()")

        script.advance(600)
        let now = script.time.withLock { $0.seconds }
        shared.last.withLock { $0 = .success(WallTime(millisecondsSince1970: 1_795_000_000_000) + .seconds(now - 60)) }
        await keeper.look()

        #expect(keeper.report.error == nil)
        #expect(keeper.report.age == .seconds(60))
    }

    @Test func directory_isRefusedByName_inTheStoresFolder_andWhereItIsMissingOrOpenToOthers() async throws {
        let store = try open()
        let (inside, open) = (folder.path + "/state/backups", folder.path + "/open")
        try make(inside, mode: 0o700)
        try make(open, mode: 0o777)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: inside)
        script.advance(120)
        for (directory, words) in [
            (inside, "is in the store's own folder \(folder.path)/state. Name another, best on another disk"),
            (link, "is in the store's own folder"),
            (open, "belongs to somebody else or is open to others. Make it this user's, with mode 0700"),
            (folder.path + "/none", "cannot be used: No such file or directory"),
        ] {
            let keeper = try keeper(of: store, in: directory)
            script.advance(120)
            await keeper.look()
            #expect(keeper.report.error?.hasPrefix("\(directory) \(words)") == true, "\(keeper.report)")
            #expect(keeper.report.written == nil)
            #expect(keeper.report.age == nil)
        }
        #expect(script.copies.withLock { $0 } == 0)
        try store.close()
    }
}
