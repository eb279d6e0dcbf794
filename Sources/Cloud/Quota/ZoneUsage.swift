package import Domain

/// Usage of a zone's quota by records, in total and by host.
///
/// Depends on the records alone, so a counter updated with each change equals a recount. A record counts the bytes of
/// its type, its name, and its properties' names and values (8 for a value that is not a text). It counts another 64
/// bytes each for itself, every property and its deletion, to cover stamps and keys. A tombstone counts until it is
/// purged.
///
/// A property or deletion counts for the host of its stamp if that host sent it itself, otherwise only for the zone.
/// The record itself, with its name, counts for the host of its newest stamp.
package struct ZoneUsage: Hashable, Sendable {
    package static let overhead = 64

    package private(set) var total = QuotaAmount.zero
    /// Usage by host, without hosts that use nothing.
    package private(set) var hosts: [HostID: QuotaAmount] = [:]

    package init() {}

    /// Clamps the values, which come from a store.
    package init(total: QuotaAmount, hosts: [HostID: QuotaAmount]) {
        self.total = total.inRange
        self.hosts = hosts.mapValues(\.inRange).filter { $0.value != .zero }
    }

    package init(of record: SyncRecord?) {
        guard let record else { return }
        let base = QuotaAmount(
            bytes: Self.overhead + record.key.type.rawValue.utf8.count + record.key.name.utf8.count, records: 1)
        add(base, for: Self.owner(of: record))
        for (name, register) in record.properties {
            let bytes = Self.overhead + name.utf8.count + register.value.quotaBytes
            add(QuotaAmount(bytes: bytes, records: 0), for: Self.owner(of: register.stamp, register.broughtBy))
        }
        if let deletion = record.deletion {
            let bytes = Self.overhead + (deletion.mergedInto?.utf8.count ?? 0)
            add(QuotaAmount(bytes: bytes, records: 0), for: Self.owner(of: deletion.stamp, deletion.broughtBy))
        }
    }

    package static func change(from old: SyncRecord?, to new: SyncRecord?) -> ZoneUsage {
        var change = ZoneUsage(of: new)
        let before = ZoneUsage(of: old)
        change.total = change.total + -before.total
        for (host, amount) in before.hosts { change.addShare(-amount, of: host) }
        return change
    }

    package mutating func add(_ change: ZoneUsage) {
        total = total + change.total
        for (host, amount) in change.hosts { addShare(amount, of: host) }
    }

    /// Returns the exceeded limit, if any.
    ///
    /// A change that adds no bytes is never refused for bytes, and one that adds no records never for records. So any
    /// host can delete data from a full zone.
    package func excess(adding change: ZoneUsage, under quota: ZoneQuota) -> QuotaExcess? {
        for (resource, amount) in Self.resources where change.total[keyPath: amount] > 0 {
            let (used, limit) = (total[keyPath: amount], quota.zone[keyPath: amount])
            let needed = change.total[keyPath: amount]
            guard used <= limit, needed <= limit - used else {
                return QuotaExcess(resource: resource, limit: limit, used: used, needed: needed, isHostsShare: false)
            }
            for (host, share) in change.hosts where share[keyPath: amount] > 0 {
                let (used, limit) = (hosts[host, default: .zero][keyPath: amount], quota.host[keyPath: amount])
                let needed = share[keyPath: amount]
                guard used <= limit, needed <= limit - used else {
                    return QuotaExcess(resource: resource, limit: limit, used: used, needed: needed, isHostsShare: true)
                }
            }
        }
        return nil
    }

    private static var resources: [(QuotaExcess.Resource, KeyPath<QuotaAmount, Int>)] {
        [(.bytes, \.bytes), (.records, \.records)]
    }

    private mutating func add(_ amount: QuotaAmount, for host: HostID?) {
        total = total + amount
        if let host { addShare(amount, of: host) }
    }

    private mutating func addShare(_ amount: QuotaAmount, of host: HostID) {
        let sum = hosts[host, default: .zero] + amount
        hosts[host] = sum == .zero ? nil : sum
    }

    private static func owner(of stamp: Stamp, _ bringer: HostID?) -> HostID? {
        bringer == nil && stamp.host != .nobody ? stamp.host : nil
    }

    /// Returns the record's owner: the host of the newest stamp, if it sent any part with this stamp itself. All parts
    /// with the newest stamp are from one host.
    private static func owner(of record: SyncRecord) -> HostID? {
        guard let newest = record.newestStamp else { return nil }
        var parts = record.properties.values.filter { $0.stamp == newest }.map(\.broughtBy)
        if let deletion = record.deletion, deletion.stamp == newest { parts.append(deletion.broughtBy) }
        return owner(of: newest, parts.contains(nil) ? nil : newest.host)
    }
}

extension QuotaAmount {
    fileprivate var inRange: Self {
        QuotaAmount(
            bytes: min(max(bytes, 0), ZoneQuota.limitMax), records: min(max(records, 0), ZoneQuota.limitMax))
    }
}

extension SettingValue {
    fileprivate var quotaBytes: Int {
        if case .string(let text) = self { text.utf8.count } else { 8 }
    }
}
