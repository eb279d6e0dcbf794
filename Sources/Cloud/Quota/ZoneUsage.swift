package import MeterModel
package import SettingsCore

/// What records count towards a zone's quota, and how much of that each host brought of its own.
///
/// A function of the records alone: the usage of a zone is the sum of its records' usages, so a counter that is moved by
/// each change is what counting everything anew would find. A record counts the bytes of its type, its name and its
/// properties' names and values (8 for a value that is not a text), and 64 for itself, for each property and for its
/// deletion, which stand for stamps and keys. A tombstone counts as a record until it is purged.
///
/// A property or deletion counts for the host of its stamp where that host itself brought it, and for the zone alone where
/// another did; the record itself, with its name, for whom its newest stamp counts for.
package struct ZoneUsage: Hashable, Sendable {
    package static let overhead = 64

    package private(set) var total = QuotaAmount.zero
    /// Without those that have nothing.
    package private(set) var hosts: [HostID: QuotaAmount] = [:]

    package init() {}

    /// As a store has it, whatever that says.
    package init(total: QuotaAmount, hosts: [HostID: QuotaAmount]) {
        self.total = total.inRange
        self.hosts = hosts.mapValues(\.inRange).filter { $0.value != .zero }
    }

    /// Of one record; of none where it is nil.
    package init(of record: Record?) {
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

    /// By how much a zone's usage changes where `new` takes the place of `old`.
    package static func change(from old: Record?, to new: Record?) -> ZoneUsage {
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

    /// Why a change is refused; nil where it is allowed.
    ///
    /// What needs no more bytes is never refused for bytes, nor for records what needs no more records, whoever it counts
    /// for afterwards: so a full zone can be emptied, by any of its hosts.
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

    /// nil means the zone alone has it.
    private static func owner(of stamp: Stamp, _ bringer: HostID?) -> HostID? {
        bringer == nil && stamp.host != .nobody ? stamp.host : nil
    }

    /// All that has the newest stamp is one host's; it owns the record where it brought any of it.
    private static func owner(of record: Record) -> HostID? {
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
