import CloudAPI
import LeaseCore
import MeterModel
import SettingsCore

/// Watches the whole run from outside, on true time, and notes the first promise that is broken.
struct Judge {
    /// A change that was acknowledged to a user.
    private struct Change {
        var host: Int
        var key: RecordKey
        /// nil: the record's deletion.
        var property: String?
        var value: SettingValue?
        /// All that it was ever stamped with.
        var stamps: [Stamp]
        /// Whoever is not younger than the least of them has not overwritten it.
        var least: Stamp
    }

    private(set) var violation: String?
    private(set) var history: [LeaseOperation] = []
    private var granted: [(token: FencingToken, session: SessionID?)]
    private var changes: [Change] = []
    /// The greatest deletion of each record that anybody was told of, also after it was purged.
    private var deletions: [RecordKey: Stamp] = [:]

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
        if property == nil { deletions[key] = max(deletions[key] ?? stamp, stamp) }
        // What the same host wrote before is overwritten by this, whatever becomes of its stamp.
        changes.removeAll { $0.host == host && $0.key == key && ($0.property == property || property == nil) }
        changes.append(Change(host: host, key: key, property: property, value: value, stamps: [stamp], least: stamp))
    }

    mutating func restamps(_ pairs: [(old: Stamp, new: Stamp)], by host: Int) {
        guard !pairs.isEmpty else { return }
        let new = Dictionary(pairs, uniquingKeysWith: { $1 })
        for index in changes.indices where changes[index].host == host {
            guard let stamp = changes[index].stamps.lazy.compactMap({ new[$0] }).first else { continue }
            changes[index].stamps.append(stamp)
            changes[index].least = min(changes[index].least, stamp)
        }
    }

    mutating func cloudAccepted(_ record: Record) {
        guard let stamp = record.deletion?.stamp else { return }
        deletions[record.key] = max(deletions[record.key] ?? stamp, stamp)
    }

    /// The greatest that anybody was told of.
    func deletion(of key: RecordKey) -> Stamp? { deletions[key] }

    /// A host has read a type up to `token`: it has all that the cloud has before it.
    mutating func read(
        _ replica: Replica, upTo token: String, of type: RecordType, from cloud: CloudState, by host: String
    ) {
        guard let token = ChangeToken(token), token.epoch == cloud.epoch else { return }
        for stored in cloud.records.values where stored.record.key.type == type && stored.sequence <= token.sequence {
            let mine = replica.records[stored.record.key]
            guard mine == nil || mine?.merged(with: stored.record) != mine else { continue }
            object("\(host) has read up to \(token) and misses \(stored.record.key.name) of \(stored.sequence)")
        }
    }

    /// After everything is healed and quiet.
    mutating func judgeEnd(_ cloud: CloudState) {
        for change in changes {
            let record = cloud.records[change.key]?.record
            let deleted = max(deletions[change.key], record?.deletion?.stamp)
            if let deleted, deleted >= change.least { continue }
            guard let property = change.property else {
                object("the deletion \(change.least) of \(change.key.name) is lost")
                continue
            }
            let register = record?.properties[property]
            let survives = register.map { $0.value == change.value || $0.stamp >= change.least } ?? false
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
