import CloudAPI
import LeaseCore
import MeterModel
import SettingsCore
import SyncCore

/// What the cloud's store holds: each commit is one whole state.
struct CloudState {
    struct Stored {
        var record: Record
        var sequence: UInt64
        /// When it became a tombstone; nil: it is none.
        var tombstoneSince: TrueTime?
    }

    var epoch = "e1"
    var hasZone = false
    var sequence: UInt64 = 0
    /// Of purged tombstones.
    var floor: UInt64 = 0
    /// The greatest milliseconds of a stamp ever accepted.
    var accepted: UInt64 = 0
    var records: [RecordKey: Stored] = [:]
    /// By meter.
    var leases: [LeaseRecord?]
    var tokenFloor = FencingToken(rawValue: 0)
    /// A backup was restored, and the wait after it is not over.
    var isRestoring = false

    init(meters: Int) { leases = Array(repeating: nil, count: meters) }

    enum Fate { case unchanged, changed, clockSkew }

    /// Takes one record as the engines do: refuses what is too far ahead, merges, gives a sequence to what is news.
    mutating func take(_ incoming: Record, now: UInt64, at time: TrueTime, merge: Merge) -> Fate {
        guard let newest = incoming.newestStamp else { return .unchanged }
        guard newest.milliseconds <= StampLimit.latest(now: now, accepted: accepted) else { return .clockSkew }
        let before = records[incoming.key]
        let merged = before.map { merge.merged($0.record, incoming) } ?? incoming
        guard merged != before?.record else { return .unchanged }
        sequence += 1
        accepted = max(accepted, merged.newestStamp?.milliseconds ?? 0)
        records[incoming.key] = Stored(
            record: merged, sequence: sequence, tombstoneSince: merged.isTombstone ? time : nil)
        return .changed
    }

    /// - Returns: those that went.
    mutating func purge(before time: TrueTime) -> [RecordKey] {
        let old = records.filter { $0.value.tombstoneSince.map { $0 < time } ?? false }
        for (key, stored) in old {
            floor = max(floor, stored.sequence)
            records[key] = nil
        }
        return Array(old.keys)
    }

    /// nil: the token is good for nothing any more.
    func changes(of type: RecordType, since text: String?, limit: Int) -> ChangesPage? {
        let token = text.flatMap { ChangeToken($0) }
        if let token {
            guard token.epoch == epoch, token.isGood(above: floor), token.sequence <= sequence else { return nil }
        }
        let news = records.values.filter { $0.record.key.type == type && $0.sequence > token?.sequence ?? 0 }
            .sorted { $0.sequence < $1.sequence }
        let page = news.prefix(limit)
        let moreComing = news.count > page.count
        var next = ChangeToken(epoch: epoch, sequence: sequence)
        if moreComing {
            next.sequence = page.last?.sequence ?? 0
            next.floor = token == nil ? floor : token?.floor
        }
        return ChangesPage(
            type: type, records: page.map(\.record), token: next.description, moreComing: moreComing, epoch: epoch)
    }
}

/// How records are merged and told: as they should be, or with the fault that a test plants.
struct Merge {
    var takesEqual: Bool
    /// A host tells the cloud what it lacks of a record that it sent.
    var tellsAgain: Bool

    func merged(_ mine: Record, _ theirs: Record) -> Record {
        guard takesEqual else { return mine.merged(with: theirs) }
        // What `>` turned into `>=` makes of it: of two equal stamps that which came last.
        var properties = mine.properties
        for (name, register) in theirs.properties where register.stamp >= properties[name]?.stamp ?? register.stamp {
            properties[name] = register
        }
        let deletion = [mine.deletion, theirs.deletion].compactMap { $0 }.max()
        return Record(key: mine.key, properties: properties, deletion: deletion)
    }
}
