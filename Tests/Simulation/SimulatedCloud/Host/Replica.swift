import MeterModel
import SettingsCore
import SyncCore

/// A host's store: the records, what waits to be told, how far the cloud was read. Each commit is one whole state.
///
/// The same promises as `SyncRepository`, without SQL. Folding of older names is not modelled.
struct Replica {
    /// A register, or the deletion (property nil), that waits to be told.
    struct Waiting {
        var key: RecordKey
        var property: String?
        var stamp: Stamp
        var boot: UInt64
        var madeAt: MonotonicTime
        var wasTold: Bool
    }

    var clock: HybridClock
    var records: [RecordKey: Record] = [:]
    /// In the order in which they were made.
    var outbox: [Waiting] = []
    var epoch: String?
    /// By name: the simulated cloud has no identities.
    var zone: String?
    var tokens: [RecordType: String] = [:]
    var refetching: Set<RecordType> = []
    var seen: Set<RecordKey> = []
    /// The greatest stamp that the cloud accepted from here or sent.
    var accepted: Stamp?
    /// By the wall clock, milliseconds since 1970, when a deletion was learned of.
    var learned: [RecordKey: Int64] = [:]
    var parked = 0
    var session: SessionID
    /// By meter, whether a person wants it.
    var wants: [Bool]

    var progress: SyncProgress {
        SyncProgress(
            epoch: epoch, zone: zone.map { SyncZone.standIn(for: $0) }, zoneName: zone, tokens: tokens,
            refetching: refetching, pending: outbox.count, parked: parked)
    }

    // MARK: Local writes

    mutating func write(
        _ value: SettingValue?, _ key: RecordKey, _ property: String?, physical: UInt64, wall: Int64, boot: UInt64,
        at now: MonotonicTime
    ) -> Stamp {
        let stamp = clock.tick(physical: physical)
        var change = Record(key: key, deletion: Deletion(stamp: stamp))
        if let value, let property {
            change = Record(key: key, properties: [property: Register(value: value, stamp: stamp)])
        }
        records[key] = records[key]?.merged(with: change) ?? change
        if property == nil { learned[key] = wall }
        outbox.removeAll { $0.key == key && ($0.property == property || property == nil) }
        outbox.append(
            Waiting(key: key, property: property, stamp: stamp, boot: boot, madeAt: now, wasTold: false))
        return stamp
    }

    // MARK: Telling

    mutating func nextBatch(recordsMax: Int) -> OutboxBatch? {
        let order = RecordType.known
        var keys: [RecordKey] = []
        for type in order {
            for waiting in outbox where waiting.key.type == type && !keys.contains(waiting.key) {
                keys.append(waiting.key)
            }
        }
        keys = Array(keys.prefix(recordsMax))
        guard !keys.isEmpty else { return nil }
        for index in outbox.indices where keys.contains(outbox[index].key) { outbox[index].wasTold = true }
        return OutboxBatch(records: keys.map { pendingPart(of: $0) })
    }

    private func pendingPart(of key: RecordKey) -> Record {
        let waiting = outbox.filter { $0.key == key }
        let record = records[key] ?? Record(key: key)
        let names = Set(waiting.compactMap(\.property))
        let isDeletionPending = waiting.contains { $0.property == nil }
        return Record(
            key: key, properties: record.properties.filter { names.contains($0.key) },
            deletion: isDeletionPending ? record.deletion : nil)
    }

    mutating func settle(
        _ batch: OutboxBatch, _ outcome: PushOutcome, merge: Merge, settlesUnsent: Bool, wall: Int64
    ) -> MergeOutcome {
        var changed: [RecordKey] = []
        for result in outcome.results {
            guard let sent = batch.records.first(where: { $0.key == result.key }) else { continue }
            outbox.removeAll { waiting in
                guard waiting.key == sent.key else { return false }
                if settlesUnsent { return true }
                let stamp = waiting.property.map { sent.properties[$0]?.stamp } ?? sent.deletion?.stamp
                return stamp == waiting.stamp
            }
            if result.failure != nil {
                parked += 1
                continue
            }
            observe(sent)
            // The cloud holds it, so a refetch that is under way will not find it missing.
            if refetching.contains(sent.key.type) { seen.insert(sent.key) }
            if let merged = result.merged, take(merged, merge, wall: wall) { changed.append(result.key) }
        }
        return MergeOutcome(changed: changed)
    }

    // MARK: Reading

    mutating func apply(_ page: ChangesPage, merge: Merge, wall: Int64) -> MergeOutcome {
        var outcome = MergeOutcome()
        let isRefetching = refetching.contains(page.type)
        for record in page.records {
            if isRefetching { forget(record.key, keeping: record) }
            if take(record, merge, wall: wall) { outcome.changed.append(record.key) } else { outcome.unchanged += 1 }
            if isRefetching { seen.insert(record.key) }
        }
        tokens[page.type] = page.token
        if !page.moreComing, isRefetching {
            for key in records.keys where key.type == page.type && !seen.contains(key) { forget(key, keeping: nil) }
            refetching.remove(page.type)
            seen = seen.filter { $0.type != page.type }
        }
        return outcome
    }

    /// In a refetch: takes away what the cloud has no more, but for what waits to be told.
    private mutating func forget(_ key: RecordKey, keeping sent: Record?) {
        let waiting = outbox.filter { $0.key == key }.map(\.property)
        records[key] = records[key]?.keeping(
            properties: Set(waiting.compactMap { $0 }).union(sent?.properties.keys ?? [:].keys),
            deletion: waiting.contains(nil) || sent?.deletion != nil)
    }

    mutating func beginRefetch(of type: RecordType) {
        refetching.insert(type)
        tokens[type] = nil
        seen = seen.filter { $0.type != type }
    }

    mutating func adopt(_ zone: SyncZone) {
        (epoch, self.zone) = (zone.epoch, zone.name)
        accepted = nil
        tokens = [:]
        refetching = []
        seen = []
        // In an order of their own: a dictionary's is another each time.
        let keys = records.keys.sorted { ($0.type.rawValue, $0.name) < ($1.type.rawValue, $1.name) }
        for record in keys.compactMap({ records[$0] }) {
            for (name, register) in record.properties.sorted(by: { $0.key < $1.key }) {
                queue(record.key, name, register.stamp)
            }
            if let deletion = record.deletion { queue(record.key, nil, deletion.stamp) }
        }
    }

    /// What was not written just now: it keeps its stamp, whatever the calendar was.
    private mutating func queue(_ key: RecordKey, _ property: String?, _ stamp: Stamp) {
        guard !outbox.contains(where: { $0.key == key && $0.property == property }) else { return }
        outbox.append(
            Waiting(key: key, property: property, stamp: stamp, boot: 0, madeAt: .origin, wasTold: true))
    }

    private mutating func take(_ record: Record, _ merge: Merge, wall: Int64) -> Bool {
        observe(record)
        let before = records[record.key]
        let ingest = Ingest(record) { records[$0] }
        let after = merge.takesEqual ? before.map { merge.merged($0, record) } ?? record : ingest.arrived.after
        records[record.key] = after
        if let deletion = after.deletion, deletion != before?.deletion { learned[record.key] = wall }
        if merge.tellsAgain { ingest.mergesToTell.forEach { tell($0) } }
        // What was overwritten waits no more: the cloud has something younger.
        outbox.removeAll { waiting in
            guard waiting.key == record.key else { return false }
            let stamp = waiting.property.map { after.properties[$0]?.stamp } ?? after.deletion?.stamp
            return stamp != waiting.stamp
        }
        return before != after
    }

    /// What the cloud lacks: it has forgotten a deletion, or has not been told yet.
    private mutating func tell(_ lacking: RecordMerge) {
        let record = lacking.after
        for name in lacking.news {
            if let register = record.properties[name] { queue(record.key, name, register.stamp) }
        }
        if lacking.deletionIsNews, let deletion = record.deletion { queue(record.key, nil, deletion.stamp) }
    }

    private mutating func observe(_ record: Record) {
        guard let newest = record.newestStamp else { return }
        clock.observe(newest)
        accepted = max(accepted ?? newest, newest)
    }

    /// Forgets tombstones that were stamped and learned of before a time.
    ///
    /// - Parameter limit: by the wall clock, milliseconds since 1970.
    /// - Returns: those that went.
    mutating func cleanUp(before limit: Int64) -> [RecordKey] {
        let old = records.values.filter { record in
            guard record.isTombstone, let deletion = record.deletion, let time = learned[record.key] else {
                return false
            }
            return time < limit && Int64(deletion.stamp.milliseconds) < limit
                && !outbox.contains { $0.key == record.key }
        }
        for record in old {
            records[record.key] = nil
            learned[record.key] = nil
        }
        return old.map(\.key)
    }

    // MARK: Wrong calendars

    /// - Returns: the stamps that changed, old and new.
    mutating func restamp(from physical: UInt64) -> [(old: Stamp, new: Stamp)] {
        // Half of what the cloud allows: what lies between may have been accepted by an answer that got lost.
        let limit = StampLimit.latest(now: physical, accepted: 0) - StampLimit.ahead / 2
        let latest = max(limit, accepted?.milliseconds ?? 0)
        return restamp {
            HybridClock.Waiting(stamp: $0.stamp, physical: $0.stamp.milliseconds > latest ? physical : nil)
        }
    }

    /// - Parameter wall: the corrected wall clock, milliseconds since 1970.
    mutating func correct(wall: Int64, boot: UInt64, at now: MonotonicTime) -> [(old: Stamp, new: Stamp)] {
        restamp { waiting in
            guard waiting.boot == boot, !waiting.wasTold else {
                return HybridClock.Waiting(stamp: waiting.stamp, physical: nil)
            }
            let made = wall - (now - waiting.madeAt).milliseconds
            return HybridClock.Waiting(stamp: waiting.stamp, made: UInt64(clamping: made))
        }
    }

    private mutating func restamp(_ judge: (Waiting) -> HybridClock.Waiting) -> [(old: Stamp, new: Stamp)] {
        let stamps = clock.restamp(outbox.map(judge), accepted: accepted)
        var changes: [(old: Stamp, new: Stamp)] = []
        var moves: [RecordKey: [(property: String?, old: Stamp, new: Stamp)]] = [:]
        for (index, stamp) in stamps.enumerated() {
            guard let stamp else { continue }
            let waiting = outbox[index]
            moves[waiting.key, default: []].append((waiting.property, waiting.stamp, stamp))
            outbox[index].stamp = stamp
            changes.append((waiting.stamp, stamp))
        }
        for (key, moves) in moves { records[key]?.restamp(moves) }
        return changes
    }
}
