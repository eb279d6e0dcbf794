import CloudAPI
import LeaseCore
import MeterModel
import SettingsCore
import SyncCore

/// Watches the whole run from outside, on true time, and notes the first promise that is broken.
struct Judge {
    /// A change that was acknowledged to a user.
    private struct Change {
        var host: Int
        var key: RecordKey
        /// nil: the record's deletion.
        var property: String?
        var value: SettingValue?
        /// What it is stamped with; several where nobody knows which.
        var stamps: [Stamp]
        /// Whoever is not younger than the least of them has not overwritten it.
        var least: Stamp
    }

    private struct Place: Hashable {
        var host: Int
        var key: RecordKey
    }

    private(set) var violation: String?
    private(set) var history: [LeaseOperation] = []
    private var granted: [(token: FencingToken, session: SessionID?)]
    private var changes: [Change] = []
    /// The greatest deletion of each record that the cloud accepted, also after it was purged.
    private var deletions: [RecordKey: Stamp] = [:]
    /// Records whose tombstones the cloud or a host purged: what they hid may be back.
    private var forgotten: Set<RecordKey> = []
    /// Records that a host may have otherwise than the cloud at the end.
    private var excused: Set<Place> = []

    init(meters: Int) { granted = Array(repeating: (FencingToken(rawValue: 0), nil), count: meters) }

    /// A promise is broken.
    mutating func object(_ what: String) {
        if violation == nil { violation = what }
    }

    // MARK: Leases

    mutating func record(_ operation: LeaseOperation) { history.append(operation) }

    /// An answer with a token leaves the server.
    mutating func grants(_ token: FencingToken, to session: SessionID, meter: Int) {
        let last = granted[meter]
        if token < last.token || (token == last.token && session != last.session) {
            object("meter \(meter): token \(token.rawValue) was granted after \(last.token.rawValue)")
        }
        granted[meter] = (token, session)
    }

    /// - Parameter talkers: those that may talk to a meter now.
    mutating func sees(talkers: [String], meter: Int) {
        if talkers.count > 1 { object("meter \(meter): \(talkers.joined(separator: " and ")) may both talk to it") }
    }

    // MARK: Changes

    mutating func acknowledges(
        _ value: SettingValue?, of key: RecordKey, _ property: String?, stamp: Stamp, by host: Int
    ) {
        overwrites(key, property, by: host)
        changes.append(Change(host: host, key: key, property: property, value: value, stamps: [stamp], least: stamp))
    }

    /// What the same host wrote before is overwritten, whatever becomes of the stamp; also where it was killed in the
    /// middle of the write and nobody knows whether it is there.
    mutating func overwrites(_ key: RecordKey, _ property: String?, by host: Int) {
        changes.removeAll { $0.host == host && $0.key == key && ($0.property == property || property == nil) }
    }

    /// - Parameter isCertain: false where the host was killed in the middle: the old stamps may still be there.
    mutating func restamps(_ pairs: [(old: Stamp, new: Stamp)], by host: Int, isCertain: Bool) {
        guard !pairs.isEmpty else { return }
        let new = Dictionary(pairs, uniquingKeysWith: { $1 })
        for index in changes.indices where changes[index].host == host {
            guard let stamp = changes[index].stamps.lazy.compactMap({ new[$0] }).first else { continue }
            changes[index].stamps = (isCertain ? [] : changes[index].stamps) + [stamp]
            changes[index].least = isCertain ? stamp : min(changes[index].least, stamp)
        }
    }

    /// The cloud merged a batch: a record only grows, whatever came first.
    mutating func merged(
        _ batch: OutboxBatch, _ outcome: PushOutcome, from before: [RecordKey: CloudState.Stored],
        to after: [RecordKey: CloudState.Stored]
    ) {
        for (record, result) in zip(batch.records, outcome.results) where result.failure == nil {
            guard let new = after[record.key]?.record, record.newestStamp != nil else { continue }
            let old = before[record.key]?.record ?? record
            guard new.merged(with: old).merged(with: record) != new else { continue }
            object("the cloud had \(record.key.name) as \(old), was told \(record) and has \(new)")
        }
    }

    /// An answer to a batch leaves the server.
    mutating func accepted(_ batch: OutboxBatch, _ outcome: PushOutcome) {
        for (record, result) in zip(batch.records, outcome.results) where result.failure == nil {
            guard let stamp = record.deletion?.stamp else { continue }
            deletions[record.key] = max(deletions[record.key] ?? stamp, stamp)
        }
    }

    /// Tombstones are purged.
    mutating func forgot(_ keys: [RecordKey]) { forgotten.formUnion(keys) }

    /// A host has read a type up to `token`: it has all that the cloud has before it.
    mutating func read(
        _ replica: Replica, upTo token: String, of type: RecordType, from cloud: CloudState, by host: String
    ) {
        guard let token = ChangeToken(token), token.epoch == cloud.epoch else { return }
        for stored in cloud.records.values where stored.record.key.type == type && stored.sequence <= token.sequence {
            let key = stored.record.key
            let mine = replica.records[key] ?? Record(key: key)
            let merged = mine.merged(with: stored.record)
            // A tombstone may be gone here, with what it hid.
            guard forgotten.contains(key) ? merged.properties != mine.properties : merged != mine else { continue }
            object("\(host) has read up to \(token) and misses \(key.name) of \(stored.sequence)")
        }
    }

    /// A host that has not read a type once holds a record of it, and the cloud forgets that it was deleted.
    mutating func excuses(_ key: RecordKey, at host: Int) { excused.insert(Place(host: host, key: key)) }

    func isExcused(_ key: RecordKey, at host: Int) -> Bool { excused.contains(Place(host: host, key: key)) }

    /// After everything is healed and quiet.
    mutating func judgeEnd(_ cloud: CloudState) {
        for (key, stamp) in deletions where !forgotten.contains(key) {
            guard cloud.records[key]?.record.deletion.map({ $0.stamp < stamp }) ?? true else { continue }
            object("the deletion \(stamp) of \(key.name) was accepted and is lost")
        }
        for change in changes {
            let record = cloud.records[change.key]?.record
            let deleted = max(deletions[change.key], record?.deletion?.stamp)
            if let deleted, deleted >= change.least { continue }
            guard let property = change.property else {
                object("the deletion \(change.least) of \(change.key.name) is lost")
                continue
            }
            let register = record?.properties[property]
            // Of two with one stamp the greater value wins.
            let least = Register(value: change.value ?? .null, stamp: change.least)
            let survives = register.map { $0.value == change.value || $0 >= least } ?? false
            guard !survives else { continue }
            object(
                "\(change.key.name).\(property) = \(change.value ?? .null) of \(change.least) is lost: "
                    + "\(register.map { "\($0)" } ?? "nothing") is there")
        }
    }

    private func max(_ left: Stamp?, _ right: Stamp?) -> Stamp? { [left, right].compactMap { $0 }.max() }
    private func max(_ left: Stamp, _ right: Stamp) -> Stamp { left < right ? right : left }
    private func min(_ left: Stamp, _ right: Stamp) -> Stamp { left < right ? left : right }
}
