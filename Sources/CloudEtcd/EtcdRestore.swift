import Cloud
package import Domain
import Synchronization

/// Turns an etcd restored from a snapshot into a separate store, while no replica runs (Docs/Leases.md#rule-5 and
/// Docs/Sync.md#zones-and-change-tokens).
///
/// A new epoch makes hosts fetch and push everything again. New fencing tokens exceed any granted since the snapshot.
/// Replicas grant no new lease until former holders must have stopped.
package struct EtcdRestore: Hashable, Sendable {
    package var epoch: String
    package var tokenFloor: UInt64
    package var leases: Int

    /// Marks the store as restored at the present time. A snapshot has no date, and dates in it may come from a host
    /// whose clock was years ahead.
    ///
    /// - Throws: `badSetting` if etcd has no cloud.
    package static func run(
        on engine: EtcdCloudEngine, at now: WallTime, rng: inout some RandomNumberGenerator
    ) async throws -> EtcdRestore {
        let epoch = UniqueID<Never>(using: &rng).description
        let keys = engine.keys
        let found = try await engine.client.read([EtcdRange(key: keys.epoch), EtcdRange(key: keys.tokenFloor)]).ranges
        let zones = try await engine.zones()
        guard let old = found[0].entries.first, !zones.isEmpty else {
            throw EtcdError(
                .badSetting, "etcd holds no cloud under this prefix. Restore the snapshot first, and give the prefix")
        }
        var (greatest, leases) = (UInt64(0), 0)
        for zone in zones {
            try await engine.client.readAll(EtcdRange(prefix: keys.leases(in: zone.name))) { entry in
                let lease = try StoredLease(entry)
                greatest = max(greatest, lease.token)
                leases += 1
            }
        }
        let earlier = engine.limits.withLock { $0.tokenFloor.rawValue }
        let floor = floor(above: greatest, earlier, at: now)
        var change = EtcdTransaction(compares: [EtcdCompare(key: keys.epoch, revision: old.revision)])
        change.success = [
            .put(key: keys.epoch, value: Array(epoch.utf8)),
            .put(key: keys.tokenFloor, value: Array(String(floor).utf8)),
            .put(key: keys.restoring, value: []),
            // Anyone with the snapshot knows the replicas' shared secret, so make them create a new one.
            .delete(key: keys.copiesKey), .delete(key: keys.backup),
        ]
        change.failure = [.range(EtcdRange(key: keys.epoch))]
        let answer = try await engine.client.commit(change)
        guard answer.succeeded || answer.range(0)?.entries.first?.value == Array(epoch.utf8) else {
            throw EtcdError(.overloaded, "something else changes the store. Stop every copy of metercloud first")
        }
        return EtcdRestore(epoch: epoch, tokenFloor: floor, leases: leases)
    }

    /// Returns the least fencing token that the restored store may grant.
    ///
    /// - Parameter earlier: previous value of this floor.
    static func floor(above greatest: UInt64, _ earlier: UInt64, at now: WallTime) -> UInt64 {
        let most = FencingToken.max.rawValue
        return min(most, max(min(greatest, most) + 1, earlier, FencingToken.floor(ofRestoreAt: now).rawValue))
    }
}
