package import Domain
import GRDB
package import Gateway
import Glibc
package import MeterCodec
import StoreKit
import Synchronization

/// This host's store: meters, settings and readings in one SQLite file.
///
/// One call at a time uses the only connection. Each writing method is one transaction. A call finishes even if its
/// task is cancelled, so that the last readings are stored at shutdown. Every error is a `StoreError` that names the
/// file; none deletes data.
package final class MeterStore: Sendable {
    package let path: String
    // Declared before the lock, so that the queue is closed before the lock is released.
    let queue: DatabaseQueue
    private let lock: StoreLock<StoreError>
    private let place: FilePlace?
    package let identity: HostIdentity
    /// The renamed file, if the store was damaged or lost and replaced by a new one.
    package let setAside: QuarantinedFile?
    /// Id of the machine's current boot; nil if unknown.
    let boot: String?
    let calendar: (@Sendable () -> WallTime)?
    let catalogue: MeterCatalogue
    private let onAccess: (@Sendable (String) throws(StoreError) -> Void)?
    let isTunedForMuch = Mutex(false)
    /// Cached result of `progress`; nil after a write.
    let knownProgress = Mutex<SyncProgress?>(nil)
    /// Number of settings transactions begun so far (`MergeOutcome.number`).
    let transactions = Atomic<UInt64>(0)
    /// Last known time of the cloud's clock; nil if unknown since boot.
    let anchor = Mutex<ClockAnchor?>(nil)

    package struct Options: Sendable {
        /// Maximum duration for which a statement waits for another program.
        package var busyTimeout: Duration
        /// Maximum number of database pages, at which the disk counts as full; nil for no limit.
        package var pageCountMax: Int?
        package var onStatement: (@Sendable (String) -> Void)?
        /// Machine to which the host's id is bound; nil for any machine, as in a tool or a test.
        package var machine: Machine?
        /// Wall clock for the arrival times of other hosts' changes; nil to use the times in their stamps.
        package var calendar: (@Sendable () -> WallTime)?
        package var catalogue = MeterCatalogue.standard
        /// Hook for tests in virtual time, called before each access with "read" or "written". It may throw the
        /// access's error. With a hook, each access runs on the caller's thread.
        package var onAccess: (@Sendable (String) throws(StoreError) -> Void)?

        package init(
            busyTimeout: Duration = .seconds(2), pageCountMax: Int? = nil, machine: Machine? = nil,
            calendar: (@Sendable () -> WallTime)? = nil, onStatement: (@Sendable (String) -> Void)? = nil
        ) {
            self.busyTimeout = busyTimeout
            self.pageCountMax = pageCountMax
            self.machine = machine
            self.calendar = calendar
            self.onStatement = onStatement
        }
    }

    /// Opens the store; creates a missing one, and upgrades an older one.
    ///
    /// Checks only header and tables, which is fast for any size; `quickCheck` checks the rest. Renames a damaged store
    /// and creates a new one (`setAside`). Rejects files of other programs and of newer versions.
    package static func open(path: String, options: Options = Options()) throws(StoreError) -> MeterStore {
        let lock = try StoreLock(storePath: path)
        try checkRestored(path)
        if let loss = DamagedFile.loss(of: path) { return try begin(path, lock: lock, options: options, after: loss) }
        do {
            return try MeterStore(path: path, lock: lock, options: options, setAside: nil, predecessor: nil)
        } catch {
            guard DamagedFile.isMeant(by: error), DamagedFile.wasOurs(path) else {
                throw StoreError(error, path: path, action: "opened")
            }
            return try replace(path, lock: lock, options: options, because: error)
        }
    }

    private static func begin(
        _ path: String, lock: StoreLock<StoreError>, options: Options, after loss: Loss
    ) throws(StoreError) -> MeterStore {
        let aside = loss == .deleted(hasLog: false) ? nil : try DamagedFile.setAside(path)
        DamagedFile.clearDoubt(path)
        let told = QuarantinedFile(of: path, to: aside, because: loss)
        do {
            return try MeterStore(path: path, lock: lock, options: options, setAside: told, predecessor: nil)
        } catch {
            throw StoreError(error, path: path, action: "opened")
        }
    }

    private static func replace(
        _ path: String, lock: StoreLock<StoreError>, options: Options, because damage: any Error
    ) throws(StoreError) -> MeterStore {
        let host = DamagedFile.host(in: path)
        let aside = try DamagedFile.setAside(path)
        DamagedFile.clearDoubt(path)
        let told = QuarantinedFile(of: path, to: aside, because: damage, keepsHost: host != nil)
        do {
            return try MeterStore(path: path, lock: lock, options: options, setAside: told, predecessor: host)
        } catch {
            throw StoreError(error, path: path, action: "opened")
        }
    }

    private init(
        path: String, lock: StoreLock<StoreError>, options: Options, setAside: QuarantinedFile?, predecessor: HostRow?
    ) throws {
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration(options))
        try queue.writeWithoutTransaction { db in
            let isNew = try StoreSchema.inspect(db, path: path)
            if isNew { try StoreSchema.layOut(db) } else { try StoreSchema.checkWritable(db) }
            try StoreSchema.tune(db, pageCountMax: options.pageCountMax)
            try DamagedFile.settleDoubt(db, path: path)
        }
        try StoreSchema.migrator.migrate(queue)
        identity = try queue.writeWithoutTransaction { db in
            try StoreSchema.checkTables(db, path: path)
            try predecessor?.restoreIdentity(db)
            let identity = try HostRow.identify(on: options.machine, db)
            try OwnIDs.adopt(db, host: identity.host)
            return identity
        }
        self.path = path
        self.queue = queue
        self.lock = lock
        self.setAside = setAside
        boot = options.machine?.boot
        calendar = options.calendar
        catalogue = options.catalogue
        onAccess = options.onAccess
        place = FilePlace(path)
        DamagedFile.noteMade(path)
    }

    /// Moves the write-ahead log's contents into the file and closes the store. Later calls throw.
    package func close() throws(StoreError) {
        do {
            try queue.close()
        } catch {
            throw StoreError(error, path: path, action: "closed")
        }
        lock.release()
    }

    /// Error if the file was deleted or replaced while open; nil otherwise. Readings written to such a file are lost
    /// when the program ends.
    package var trouble: String? {
        guard let place, FilePlace(path) != place else { return nil }
        return "the store \(path) was deleted or replaced while it was in use, so nothing more is written to it. "
            + "Start the program again"
    }

    /// Reads the whole file and returns its faults. Takes seconds for a large file.
    package func quickCheck() async throws(StoreError) -> [String] {
        try await access("checked") { db in
            var faults = try String.fetchAll(db, sql: "PRAGMA quick_check(20)").filter { $0 != "ok" }
            guard faults.isEmpty else { return faults }
            faults += try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map {
                "\($0[0] as String) refers to nothing"
            }
            let strays = try Int.fetchOne(db, sql: StoreSchema.strayEntries) ?? 0
            if strays > 0 { faults.append("\(strays) entries of the outbox match nothing in their records") }
            return faults
        }
    }

    private static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration(label: "MeterStore", busyTimeout: options.busyTimeout)
        configuration.onStatement(options.onStatement)
        return configuration
    }
}

private struct FilePlace: Hashable, Sendable {
    private var device: UInt64
    private var inode: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}

// MARK: - Access

extension MeterStore {
    /// Runs `body` on the connection, outside any transaction, even if the task is cancelled, unlike GRDB's own async
    /// `write`.
    ///
    /// - Parameter action: verb for the message "the store … cannot be <action>".
    func access<Value: Sendable>(
        _ action: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        if action == "written", let trouble { throw StoreError(.system, trouble) }
        if let onAccess {
            try onAccess(action)
            return try answer(action, body).get()
        }
        let result = await withCheckedContinuation { continuation in
            queue.asyncWriteWithoutTransaction { db in
                continuation.resume(returning: self.result(of: action) { try body(db) })
            }
        }
        return try result.get()
    }

    private func answer<Value>(_ action: String, _ body: (Database) throws -> Value) -> Result<Value, StoreError> {
        queue.writeWithoutTransaction { db in result(of: action) { try body(db) } }
    }

    private func result<Value>(of action: String, _ body: () throws -> Value) -> Result<Value, StoreError> {
        defer { if action == "written" { knownProgress.withLock { $0 = nil } } }
        let result = Result(catching: body)
        if case .failure(let error) = result, DamagedFile.isMeant(by: error) { DamagedFile.doubt(path) }
        return result.mapError { StoreError($0, path: path, action: action) }
    }

    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        try await access("written") { db in try db.inImmediateTransaction(body) }
    }
}

extension Database {
    func inImmediateTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        var result: Result<Value, any Error>?
        try inTransaction(.immediate) {
            result = .success(try body(self))
            return .commit
        }
        guard let result else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
        return try result.get()
    }

    private static let synchronousFull = 2

    /// Like `inImmediateTransaction`, but waits for the disk. For users' changes, which should survive a power cut.
    func inDurableTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try execute(sql: "PRAGMA synchronous = FULL")
        let result = Result {
            // Verify the setting, because it cannot be changed inside another transaction.
            guard try Int.fetchOne(self, sql: "PRAGMA synchronous") == Self.synchronousFull else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "synchronous cannot be set to FULL")
            }
            return try inImmediateTransaction(body)
        }
        try execute(sql: "PRAGMA synchronous = NORMAL")
        return try result.get()
    }
}
