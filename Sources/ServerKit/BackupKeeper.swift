package import Domain
import Glibc
import LinuxIO
package import Logging
import ServiceLifecycle
import Synchronization

package protocol BackedUpStore: Sendable {
    var backupKind: BackupName.Kind { get }
    func backup(to path: String, at now: WallTime) async throws
    func checkBackup(at path: String) async throws
    /// Returns the date of the last valid backup.
    ///
    /// - Parameter here: date of the newest backup in this program's folder, returned unchanged if no other program
    ///   uses the store.
    func lastBackup(here: WallTime?) async throws -> WallTime?
    /// Returns whether this program must write the due backup; false if another program with the same store does.
    func takeBackup(every: Duration, at now: WallTime) async throws -> Bool
    /// Records a valid backup, so that other programs with the same store do not repeat it.
    func keepBackup(at date: WallTime) async throws
}

extension BackedUpStore {
    package func lastBackup(here: WallTime?) async throws -> WallTime? { here }
    package func takeBackup(every: Duration, at now: WallTime) async throws -> Bool { true }
    package func keepBackup(at date: WallTime) async throws {}
}

package struct BackupFailure: Error, CustomStringConvertible {
    package let description: String
}

package struct BackupReport: Hashable, Sendable {
    package var directory: String
    /// Date of the last valid backup; nil if there is none or it is not known yet.
    package var written: WallTime?
    package var age: Duration?
    package var error: String?
}

/// Writes a store's backups on schedule, and deletes the oldest ones.
package final class BackupKeeper: Service {
    private let store: any BackedUpStore
    private let directory: String
    private let storeFolder: String
    private let settings: BackupSettings
    private let logger: Logger
    private let clock: @Sendable () -> (now: MonotonicTime, wall: WallTime)
    private let sleep: @Sendable (Duration) async throws -> Void
    private let willDo: @Sendable (BackupStep) throws -> Void
    private let changed: @Sendable () -> Void
    private let state: Mutex<(schedule: BackupSchedule, last: WallTime?, error: String?)>

    /// - Parameters:
    ///   - sleep: throws if the task is cancelled.
    ///   - willDo: called before each step; tests throw here to make the step fail.
    ///   - changed: called when an attempt has succeeded or failed.
    /// - Returns: nil if the settings name no folder.
    package init?(
        _ store: any BackedUpStore, outside storeFolder: String, settings: BackupSettings, logger: Logger,
        clock: @escaping @Sendable () -> (now: MonotonicTime, wall: WallTime) = {
            (LinuxClock.now, LinuxClock.wallNow)
        },
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        willDo: @escaping @Sendable (BackupStep) throws -> Void = { _ in },
        changed: @escaping @Sendable () -> Void = {}
    ) {
        guard let directory = settings.directory else { return nil }
        (self.store, self.directory, self.storeFolder, self.settings) = (store, directory, storeFolder, settings)
        (self.logger, self.clock, self.sleep) = (logger, clock, sleep)
        (self.willDo, self.changed) = (willDo, changed)
        state = Mutex((BackupSchedule(every: settings.every, startingAt: clock().now), nil, nil))
    }

    package var report: BackupReport {
        let (now, wall) = clock()
        return state.withLock {
            BackupReport(
                directory: directory, written: $0.last, age: $0.schedule.age(of: $0.last, at: now, wall),
                error: $0.error)
        }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await self.look() } while (try? await self.sleep(.seconds(60))) != nil
        }
    }

    package func look() async {
        do {
            let here = BackupPlan.backups(of: store.backupKind, among: FileTree.names(in: directory)).last
            let last = try await store.lastBackup(here: here?.written)
            let (now, wall) = clock()
            let isDue = state.withLock { state in
                state.last = last
                return state.schedule.isDue(after: last, at: now, wall)
            }
            guard isDue else { return }
            guard try await store.takeBackup(every: settings.every, at: wall) else {
                return state.withLock { if $0.schedule.settles(for: last, at: now, wall) { $0.error = nil } }
            }
            let date = try await write(at: wall)
            try await store.keepBackup(at: date)
            state.withLock { state in
                state.schedule.succeeded(with: date, at: clock().now)
                (state.last, state.error) = (date, nil)
            }
            changed()
            logger.info("backup written", metadata: ["folder": "\(directory)"])
        } catch {
            guard !Task.isCancelled else { return }
            logger.error("backup failed", metadata: ["cause": "\(error)"])
            state.withLock { state in
                state.schedule.failed(at: clock().now)
                state.error = "\(error)"
            }
            changed()
        }
    }

    private func write(at date: WallTime) async throws -> WallTime {
        try Self.check(directory, outside: storeFolder)
        try Self.wanting("used", directory) { access(directory, W_OK) }
        guard Folder.isOurs(directory) else {
            throw BackupFailure(
                description:
                    "\(directory) belongs to somebody else or is open to others. Make it this user's, with mode "
                    + "0700")
        }
        let files = FileTree.names(in: directory)
        let plan = BackupPlan(store.backupKind, at: date, among: files, keep: settings.keep)
        do {
            for step in plan.steps {
                try willDo(step)
                try await perform(step, date)
            }
        } catch {
            // Free the disk space now. If that fails, the next attempt removes the files.
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path(of: plan.unfinished + suffix)) }
            throw error
        }
        return plan.name.written
    }

    private func perform(_ step: BackupStep, _ date: WallTime) async throws {
        switch step {
        case .remove(let name):
            try Self.wanting("removed", path(of: name)) { unlink(path(of: name)) == 0 || errno == ENOENT ? 0 : -1 }
        case .write(let name): try await store.backup(to: path(of: name), at: date)
        case .check(let name): try await store.checkBackup(at: path(of: name))
        case .sync(let name):
            try Self.wanting("written to the disk", path(of: name)) { () throws(Errno) in
                try WholeFile.sync(path(of: name))
            }
        case .rename(let old, let new):
            try Self.wanting("renamed", path(of: old)) { rename(path(of: old), path(of: new)) }
        }
    }

    private func path(of name: String) -> String { name.isEmpty ? directory : "\(directory)/\(name)" }

    private static func wanting(_ action: String, _ path: String, _ call: () -> Int32) throws(BackupFailure) {
        try wanting(action, path) { () throws(Errno) in try Errno.check(call) }
    }

    private static func wanting(
        _ action: String, _ path: String, _ step: () throws(Errno) -> Void
    ) throws(BackupFailure) {
        do throws(Errno) {
            try step()
        } catch {
            let remedy = [ENOSPC, EDQUOT].contains(error.code) ? "Make room on the disk" : "Check folder and disk"
            throw BackupFailure(description: "\(path) cannot be \(action): \(error.words). \(remedy)")
        }
    }

    /// Refuses the store's own folder, because losing it would also lose the backups.
    package static func check(_ directory: String, outside store: String) throws(BackupFailure) {
        let (inner, outer) = (FileTree.canonical(directory) ?? directory, FileTree.canonical(store) ?? store)
        guard inner == outer || inner.hasPrefix(outer + "/") else { return }
        throw BackupFailure(
            description: "\(directory) is in the store's own folder \(store). Name another, best on another disk")
    }
}
