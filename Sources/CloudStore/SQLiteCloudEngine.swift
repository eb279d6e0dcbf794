package import Cloud
package import Domain
import GRDB
import StoreKit
import Synchronization

/// Engine of a cloud on one machine: one SQLite file in its own data folder.
///
/// All writes pass through one queue that commits many together (`GroupCommit`). Each write is on disk before its
/// answer (`synchronous = FULL`). Readers run concurrently on snapshots. Zones, credentials and held leases are also in
/// memory; lease queues only there. The caller passes the time; opening reads no clock.
package final class SQLiteCloudEngine: CloudEngine {
    package let path: String
    package let epoch: String
    // Declared before the lock, so that the pool closes before the lock is released.
    let pool: DatabasePool
    private let lock: StoreLock<CloudStoreError>
    let writer: GroupCommit
    let zoneTable: ZoneTable
    let leaseTable: LeaseTable
    let limits: Mutex<LeaseLimits>
    let waiting = InMemoryQueues()
    let rng: Mutex<any RandomNumberGenerator & Sendable>
    let markID: UInt64

    package struct Options: Sendable {
        package var busyTimeout: Duration
        /// Maximum size of the database in pages, to simulate a full disk; nil for no limit.
        package var pageCountMax: Int?
        /// Called with each statement before the writer runs it.
        package var onStatement: (@Sendable (String) -> Void)?
        /// Whether to open even a store that moved elsewhere, to finish an interrupted move. It then serves no hosts.
        package var opensDeparted = false

        package init(
            busyTimeout: Duration = .seconds(2), pageCountMax: Int? = nil,
            onStatement: (@Sendable (String) -> Void)? = nil
        ) {
            self.busyTimeout = busyTimeout
            self.pageCountMax = pageCountMax
            self.onStatement = onStatement
        }
    }

    /// Creates a missing folder or store, and migrates an older store.
    ///
    /// - Parameters:
    ///   - now: monotonic time. Every unreleased lease counts as renewed now.
    ///   - rng: generates the epoch of a new store, the ids of its zones, and the id of this process's timeline marks.
    package static func open(
        directory: String, now: MonotonicTime, rng: inout some RandomNumberGenerator & Sendable,
        options: Options = Options()
    ) throws(CloudStoreError) -> SQLiteCloudEngine {
        let lock = try StoreLock(directory: directory)
        let path = DataDirectory(directory).store
        do {
            try DataDirectory(directory).checkUsable()
            try prepareFile(path, options)
            let pool = try DatabasePool(path: path, configuration: configuration(options))
            try pool.writeWithoutTransaction { db in
                try CloudSchema.tune(db, pageCountMax: options.pageCountMax)
            }
            try CloudSchema.migrator.migrate(pool)
            let newEpoch = UniqueID<Never>(using: &rng).description
            let leases = LeaseTable()
            let loaded = try pool.writeWithoutTransaction { db in
                try CloudSchema.checkTables(db, path: path)
                if !options.opensDeparted, let destination = try Meta.destination.read(db) {
                    let time = try Meta.departed.read(db).flatMap { Int64($0) }
                    throw CloudStoreError(departed: path, to: destination, at: time)
                }
                if try Meta.epoch.read(db) == nil { try Meta.epoch.write(newEpoch, db) }
                try db.inTransaction(.immediate) {
                    try AliasTable.adopt(db)
                    return .commit
                }
                leases.load(try AliasTable.fetchAll(db))
                try LeaseRow.forEach(db, in: nil, isHeldOnly: true, renewedAt: now) { leases.load($0, $1) }
                return try Loaded(db, now: now)
            }
            DataDirectory(directory).noteMade()
            return SQLiteCloudEngine(
                path: path, pool: pool, lock: lock, leases: leases, loaded: loaded, markID: rng.next(), rng: rng)
        } catch {
            throw CloudStoreError(error, path: path, action: "opened")
        }
    }

    private init(
        path: String, pool: DatabasePool, lock: StoreLock<CloudStoreError>, leases: LeaseTable, loaded: Loaded,
        markID: UInt64, rng: any RandomNumberGenerator & Sendable
    ) {
        self.path = path
        self.markID = markID
        self.rng = Mutex(rng)
        self.pool = pool
        self.lock = lock
        epoch = loaded.epoch
        limits = Mutex(loaded.limits)
        zoneTable = ZoneTable()
        leaseTable = leases
        zoneTable.load(zones: loaded.zones, credentials: loaded.credentials)
        writer = GroupCommit(pool: pool, path: path, leases: leaseTable, zones: zoneTable)
    }

    private struct Loaded {
        var epoch: String
        var limits: LeaseLimits
        var zones: [StoredZone]
        var credentials: [Credential]

        init(_ db: Database, now: MonotonicTime) throws {
            epoch = try Meta.epoch.read(db) ?? ""
            zones = try StoredZone.fetchAll(db)
            credentials = try CredentialRow.fetchAll(db)
            let floor = try Meta.tokenFloor.read(db).flatMap { UInt64($0) } ?? 0
            limits = LeaseLimits(tokenFloor: FencingToken(rawValue: floor))
            guard try Meta.restoring.read(db) != nil else { return }
            // The backup lacks later leases, so grant nothing new until even a lease with the longest time to live
            // would be over.
            let lockDelay = zones.map(\.zone.terms.lockDelay).max() ?? .zero
            let longest = LeaseTerms(
                timeToLive: LeaseTerms.timeToLiveRange.upperBound, lockDelay: lockDelay, policy: .strict)
            limits.grantsNothingNewBefore = now + longest.over
        }
    }

    /// Examines the file, and prepares a new one. Uses a single connection, because a pool would switch any database to
    /// a write-ahead log.
    private static func prepareFile(_ path: String, _ options: Options) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration(options))
        try queue.writeWithoutTransaction { db in
            let isNew = try CloudSchema.inspect(db, path: path)
            if isNew { try CloudSchema.layOut(db) } else { try CloudSchema.checkWritable(db) }
        }
        try queue.close()
    }

    private static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration(label: "CloudStore", busyTimeout: options.busyTimeout)
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase { db in try CloudSchema.prepare(db) }
        configuration.onStatement(options.onStatement)
        return configuration
    }

    package func close() throws(CloudStoreError) {
        do {
            try pool.close()
        } catch {
            throw CloudStoreError(error, path: path, action: "closed")
        }
        lock.release()
    }

    /// Returns the faults of the file. Takes seconds for a large file.
    package func check() async throws(CloudFailure) -> [String] {
        try await read { db in try CloudSchema.faults(db) }
    }

    /// Runs `body` on a snapshot of the database. Finishes even if the task is cancelled, unlike GRDB's async `read`.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(CloudFailure) -> Value {
        let path = path
        let result: Result<Value, CloudFailure> = await withCheckedContinuation { continuation in
            pool.asyncRead { db in
                let result = Result { try body(db.get()) }
                continuation.resume(
                    returning: result.mapError {
                        $0 as? CloudFailure ?? CloudStoreError($0, path: path, action: "read").failure
                    })
            }
        }
        return try result.get()
    }
}
