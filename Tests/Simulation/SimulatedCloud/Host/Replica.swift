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
    var tokens: [RecordType: String] = [:]
    var refetching: Set<RecordType> = []
    var seen: Set<RecordKey> = []
    /// The greatest stamp that the cloud accepted from here or sent.
    var accepted: Stamp?
    var parked = 0
    var session: SessionID
    /// By meter, whether a person wants it.
    var wants: [Bool]

    var progress: SyncProgress {
        SyncProgress(epoch: epoch, tokens: tokens, refetching: refetching, pending: outbox.count, parked: parked)
    }

    // MARK: Local writes

    mutating func write(
        _ value: SettingValue?, _ key: RecordKey, _ property: String?, physical: UInt64, boot: UInt64,
        at now: MonotonicTime
    ) -> Stamp {
        let stamp = clock.tick(physical: physical)
        var change = Record(key: key, deletion: Deletion(stamp: stamp))
        if let value, let property {
            change = Record(key: key, properties: [property: Register(value: value, stamp: stamp)])
        }
        records[key] = records[key]?.merged(with: change) ?? change
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
        _ batch: OutboxBatch, _ outcome: PushOutcome, merge: Merge, settlesUnsent: Bool
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
            if let merged = result.merged, take(merged, merge) { changed.append(result.key) }
        }
        return MergeOutcome(changed: changed)
    }

    // MARK: Reading

    mutating func apply(_ page: ChangesPage, merge: Merge) -> MergeOutcome {
        var outcome = MergeOutcome()
        for record in page.records {
            if take(record, merge) { outcome.changed.append(record.key) } else { outcome.unchanged += 1 }
            if refetching.contains(page.type) { seen.insert(record.key) }
        }
        tokens[page.type] = page.token
        if !page.moreComing, refetching.contains(page.type) {
            let waiting = Set(outbox.map(\.key))
            records = records.filter {
                $0.key.type != page.type || seen.contains($0.key) || waiting.contains($0.key)
            }
            refetching.remove(page.type)
            seen = seen.filter { $0.type != page.type }
        }
        return outcome
    }

    mutating func beginRefetch(of type: RecordType) {
        refetching.insert(type)
        tokens[type] = nil
        seen = seen.filter { $0.type != type }
    }

    mutating func adopt(epoch: String, boot: UInt64, at now: MonotonicTime) {
        self.epoch = epoch
        tokens = [:]
        refetching = []
        seen = []
        // In an order of their own: a dictionary's is another each time.
        let keys = records.keys.sorted { ($0.type.rawValue, $0.name) < ($1.type.rawValue, $1.name) }
        for record in keys.compactMap({ records[$0] }) {
            for (name, register) in record.properties.sorted(by: { $0.key < $1.key }) {
                queue(record.key, name, register.stamp, boot, now)
            }
            if let deletion = record.deletion { queue(record.key, nil, deletion.stamp, boot, now) }
        }
    }

    private mutating func queue(
        _ key: RecordKey, _ property: String?, _ stamp: Stamp, _ boot: UInt64, _ now: MonotonicTime
    ) {
        guard !outbox.contains(where: { $0.key == key && $0.property == property }) else { return }
        outbox.append(Waiting(key: key, property: property, stamp: stamp, boot: boot, madeAt: now, wasTold: true))
    }

    private mutating func take(_ record: Record, _ merge: Merge) -> Bool {
        observe(record)
        let before = records[record.key]
        let after = before.map { merge.merged($0, record) } ?? record
        records[record.key] = after
        // What was overwritten waits no more: the cloud has something younger.
        outbox.removeAll { waiting in
            guard waiting.key == record.key else { return false }
            let stamp = waiting.property.map { after.properties[$0]?.stamp } ?? after.deletion?.stamp
            return stamp != waiting.stamp
        }
        return before != after
    }

    private mutating func observe(_ record: Record) {
        guard let newest = record.newestStamp else { return }
        clock.observe(newest)
        accepted = max(accepted ?? newest, newest)
    }

    // MARK: Wrong calendars

    /// - Returns: the stamps that changed, old and new.
    mutating func restamp(from physical: UInt64) -> [(old: Stamp, new: Stamp)] {
        restamp { HybridClock.Waiting(refused: $0.stamp, now: physical) }
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
