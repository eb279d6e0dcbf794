package import Cloud
import CloudAPI
import Domain
package import Logging
import Synchronization

/// Engine of a cloud over etcd with any number of equal replicas, which communicate only through the store.
///
/// Correctness depends only on transactions and linearizable reads, not on etcd's leases, keep-alives or watches.
/// Clocks of different machines are never compared. A replica gives an unreleased lease to another host only after it
/// has seen the lease unchanged for its time to live and its lock-delay. A new replica therefore waits that long
/// (Docs/Leases.md#rule-3 and Docs/Leases.md#rule-5).
package final class EtcdCloudEngine: CloudEngine {
    package let epoch: String
    let client: EtcdClient
    let keys: StoreKeys
    let clock: CloudClock
    let logger: Logger
    let work = SharedWork()
    let reads: SharedReads
    let leaseCache: LeaseCache
    let aliases: AliasCache
    let pendingRenewals = PendingRenewals()
    let leaseDesk: LeaseBatcher
    let recordDesk: RecordBatcher
    let writer: String
    private let knownZones = Mutex(KnownZones())
    let rng: Mutex<any RandomNumberGenerator & Sendable>
    let limits: Mutex<LeaseLimits>
    let heads = HeadCache()
    private let changes = Atomic<UInt64>(0)

    /// Connects, and creates the epoch of a new store.
    package static func open(
        _ settings: EtcdSettings, clock: CloudClock, rng: inout some RandomNumberGenerator & Sendable, logger: Logger
    ) async throws(EtcdError) -> EtcdCloudEngine {
        let client = try EtcdClient(settings, clock: clock, logger: logger)
        let keys = StoreKeys(prefix: settings.prefix)
        let (writer, newEpoch) = (UniqueID<Never>(using: &rng), UniqueID<Never>(using: &rng))
        do throws(EtcdError) {
            let start = try await StoreStart(client: client, keys: keys, newEpoch: newEpoch.description)
            return EtcdCloudEngine(
                client: client, keys: keys, clock: clock, logger: logger, writer: writer.description, start: start,
                rng: rng)
        } catch {
            await client.shutdown()
            throw error
        }
    }

    private init(
        client: EtcdClient, keys: StoreKeys, clock: CloudClock, logger: Logger, writer: String, start: StoreStart,
        rng: any RandomNumberGenerator & Sendable
    ) {
        self.rng = Mutex(rng)
        self.client = client
        self.keys = keys
        self.clock = clock
        self.logger = logger
        self.writer = writer
        epoch = start.epoch
        limits = Mutex(start.limits(at: clock.now()))
        reads = SharedReads(client: client, work: work)
        leaseCache = LeaseCache()
        aliases = AliasCache(client: client, keys: keys, writer: writer)
        leaseDesk = LeaseBatcher(
            client: client, keys: keys, leaseCache: leaseCache, aliases: aliases, pendingRenewals: pendingRenewals,
            writer: writer,
            work: work, now: clock.now)
        recordDesk = RecordBatcher(
            client: client, keys: keys, heads: heads, leases: leaseCache, aliases: aliases, writer: writer, work: work,
            rng: rng, now: clock.now)
    }

    func nextWriter() -> String { "\(writer) \(changes.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// Closes the connections and waits for shared tasks. Calls in progress fail; later calls throw.
    package func close() async {
        await client.shutdown()
        await work.end()
    }

    /// Closes the connections, for callers that cannot await. Calls in progress fail soon after.
    package func closeAtOnce() throws { try client.shutdownAtOnce() }

    /// Runs `body` to its end, even if the task is cancelled.
    func finish<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(CloudFailure) -> Value {
        let result = await Task { () async -> Result<Value, CloudFailure> in
            do {
                return .success(try await body())
            } catch let failure as CloudFailure {
                return .failure(failure)
            } catch let error as EtcdError {
                return .failure(error.failure)
            } catch {
                return .failure(CloudFailure(.internalError, "the store failed: \(error)"))
            }
        }.value
        return try result.get()
    }

    /// Returns the zone's id. Zones are never deleted, so a known zone is read again only if etcd may have reverted to
    /// an older state.
    ///
    /// - Throws: `zoneNotFound`.
    @discardableResult
    func check(_ zone: String) async throws -> Zone.ID {
        let life = client.life
        if let known = knownZones.withLock({ $0.life == life ? $0.ids[zone] : nil }) { return known }
        async let terms = reads.entry(keys.zone(zone))
        async let identity = reads.entry(keys.identity(of: zone))
        guard try await terms != nil else { throw CloudFailure.zoneNotFound(zone) }
        let id: Zone.ID
        if let entry = try await identity { id = try Zone.ID(entry) } else { id = try await identify(zone) }
        knownZones.withLock { known in
            if known.life != life { known = KnownZones(life: life) }
            known.ids[zone] = id
        }
        return id
    }

    private struct KnownZones {
        var life: UInt64 = 0
        var ids: [String: Zone.ID] = [:]
    }

    /// Gives an id to a zone of an older version. All replicas compute the same id.
    private func identify(_ zone: String) async throws(EtcdError) -> Zone.ID {
        let (key, id) = (keys.identity(of: zone), Zone.ID(ofEarlier: zone, epoch: epoch))
        var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: 0)])
        transaction.success = [.put(key: key, value: Array(id.description.utf8))]
        transaction.failure = [.range(EtcdRange(key: key))]
        let answer = try await client.commit(transaction)
        guard !answer.succeeded else { return id }
        guard let entry = answer.range(0)?.entries.first else { throw EtcdError(damaged: key, "it is deleted again") }
        return try Zone.ID(entry)
    }
}

struct StoreStart: Hashable, Sendable {
    let epoch: String
    let tokenFloor: UInt64
    /// Longest lock-delay of any zone while a restored store grants no new leases; nil otherwise.
    let restoringLockDelay: Duration?

    init(client: EtcdClient, keys: StoreKeys, newEpoch: String) async throws(EtcdError) {
        let others = [
            EtcdRange(key: keys.epoch), EtcdRange(key: keys.tokenFloor), EtcdRange(key: keys.restoring),
            EtcdRange(prefix: keys.allZones), EtcdRange(key: keys.arriving),
        ]
        var found = try await client.read(others).ranges
        if found[0].entries.isEmpty, found[4].entries.isEmpty {
            // Write only for a new store: etcd refuses writes once its quota is reached, and a replica must start even
            // then.
            var made = EtcdTransaction(compares: [
                EtcdCompare(key: keys.epoch, revision: 0), EtcdCompare(key: keys.arriving, revision: 0),
            ])
            made.success = [.put(key: keys.epoch, value: Array(newEpoch.utf8))]
            _ = try await client.commit(made)
            found = try await client.read(others).ranges
        }
        guard found[4].entries.isEmpty else {
            throw EtcdError(
                .badSetting,
                "the move of a cloud into this etcd is not complete. Run metercloud migrate, or restore, again "
                    + "until it says that everything is in etcd")
        }
        guard let entry = found[0].entries.first, let epoch = String(validating: entry.value, as: UTF8.self),
            !epoch.isEmpty
        else { throw EtcdError(damaged: keys.epoch, "it is not text") }
        self.epoch = epoch
        var floor: UInt64 = 0
        if let entry = found[1].entries.first {
            guard let number = String(validating: entry.value, as: UTF8.self).flatMap({ UInt64($0) }) else {
                throw EtcdError(damaged: keys.tokenFloor, "it is not a number")
            }
            floor = number
        }
        tokenFloor = floor
        guard !found[2].entries.isEmpty else {
            restoringLockDelay = nil
            return
        }
        var longest = Duration.zero
        for entry in found[3].entries {
            guard let terms = try StoredTerms(entry).terms else {
                throw EtcdError(damaged: entry.key, "no such policy")
            }
            longest = max(longest, terms.lockDelay)
        }
        restoringLockDelay = longest
    }

    func limits(at now: MonotonicTime) -> LeaseLimits {
        var limits = LeaseLimits(tokenFloor: FencingToken(rawValue: tokenFloor))
        guard let restoringLockDelay else { return limits }
        // Assume the longest time to live, because a host may have acquired such a lease after the backup.
        let longest = LeaseTerms(
            timeToLive: LeaseTerms.timeToLiveRange.upperBound, lockDelay: restoringLockDelay, policy: .strict)
        limits.grantsNothingNewBefore = now + longest.over
        return limits
    }
}
