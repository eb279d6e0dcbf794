import Cloud
import LeaseCore
package import MeterModel
import Synchronization

/// Makes a store of its own of an etcd that was restored from a snapshot, while no copy of the cloud runs
/// (leases-and-sync.md, section 1, rule 5, and section 5).
///
/// Its epoch is new, so that hosts fetch and push everything anew; its tokens begin above any that can have been given
/// out since the snapshot; and from then on nothing goes to anybody new until old holders have surely stopped.
package struct EtcdRestore: Hashable, Sendable {
    /// Of the restored store.
    package var epoch: String
    package var tokenFloor: UInt64
    package var leases: Int

    /// - Parameter now: this machine's calendar.
    /// - Throws: `badSetting` where the calendar is older than what is in the store, because tokens would begin too low,
    ///   and where no cloud is there.
    package static func run(
        on engine: EtcdCloudEngine, at now: WallTime, dice: inout some RandomNumberGenerator
    ) async throws -> EtcdRestore {
        let epoch = UniqueID<Never>(using: &dice).description
        let keys = engine.keys
        let found = try await engine.client.read([EtcdRange(key: keys.epoch), EtcdRange(key: keys.tokenFloor)]).ranges
        let zones = try await engine.zones()
        guard let old = found[0].entries.first, !zones.isEmpty else {
            throw EtcdError(
                .badSetting, "etcd holds no cloud under this prefix. Restore the snapshot first, and give the prefix")
        }
        var (greatest, newest, leases) = (UInt64(0), Int64(0), 0)
        for zone in zones {
            try await engine.client.readAll(EtcdRange(prefix: keys.leases(in: zone.name))) { entry in
                let lease = try StoredLease(entry)
                greatest = max(greatest, lease.token)
                newest = max(newest, lease.acquired ?? 0)
                leases += 1
            }
        }
        guard now.millisecondsSince1970 >= newest else {
            throw EtcdError(
                .badSetting,
                "the snapshot is from \(WallTime(millisecondsSince1970: newest)) or later, and this machine's "
                    + "clock says \(now). Set the clock first")
        }
        let earlier = engine.limits.withLock { $0.tokenFloor.rawValue }
        let seconds = UInt64(clamping: now.millisecondsSince1970 / 1000)
        let byClock = seconds.multipliedReportingOverflow(by: 1 << 20)
        let most = FencingToken.max.rawValue
        let floor = min(most, max(min(greatest, most) + 1, earlier, byClock.overflow ? most : byClock.partialValue))
        var change = EtcdTransaction(compares: [EtcdCompare(key: keys.epoch, revision: old.revision)])
        change.success = [
            .put(key: keys.epoch, value: Array(epoch.utf8)),
            .put(key: keys.tokenFloor, value: Array(String(floor).utf8)),
            .put(key: keys.restoring, value: []),
        ]
        change.failure = [.range(EtcdRange(key: keys.epoch))]
        let answer = try await engine.client.commit(change)
        guard answer.succeeded || answer.range(0)?.entries.first?.value == Array(epoch.utf8) else {
            throw EtcdError(.overloaded, "something else changes the store. Stop every copy of metercloud first")
        }
        return EtcdRestore(epoch: epoch, tokenFloor: floor, leases: leases)
    }
}
