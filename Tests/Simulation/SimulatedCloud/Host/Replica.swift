import Domain

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

    /// What the cloud acknowledged and has not listed since.
    struct Told {
        var key: RecordKey
        var property: String?
        var stamp: Stamp
        /// A reading of the type ended since.
        var isAwaited = false
        var isRepeated = false
    }

    var clock: HybridClock
    var records: [RecordKey: SyncRecord] = [:]
    /// In the order in which they were made.
    var outbox: [Waiting] = []
    var told: [Told] = []
    var epoch: String?
    /// By identity.
    var zone: String?
    var zoneName: String?
    var tokens: [RecordType: String] = [:]
    var refetching: Set<RecordType> = []
    var seen: Set<RecordKey> = []
    /// The greatest stamp that the cloud accepted from here or sent.
    var accepted: Stamp?
    /// By the wall clock, milliseconds since 1970, when a deletion was learned of.
    var learned: [RecordKey: Int64] = [:]
    /// The date from which ages count back; nil before anything was stored.
    var believed: BelievedDate?
    /// For the judge alone: when something is stored, and when each deletion was learned of.
    var trueTime: TrueTime = 0
    var learnedAt: [RecordKey: TrueTime] = [:]
    /// What a refetch did not list, and what was others' in the zone before: listed for people, told to nobody.
    var aside: [RecordKey: [String: Register]] = [:]
    /// By the identity of a zone that was left: its deletions, which are not in force elsewhere.
    var deletionsElsewhere: [String: [RecordKey: DeletionElsewhere]] = [:]
    var parked = 0
    var session: SessionID
    /// By meter, whether a person wants it.
    var wants: [Bool]

    var progress: SyncProgress {
        SyncProgress(
            epoch: epoch, zone: zone, zoneName: zoneName, tokens: tokens, refetching: refetching,
            pending: outbox.count, parked: parked + aside.count)
    }

    // MARK: Local writes

    mutating func write(
        _ value: SettingValue?, _ key: RecordKey, _ property: String?, physical: UInt64, wall: Int64, boot: UInt64,
        at now: MonotonicTime
    ) -> Stamp {
        let stamp = clock.tick(physical: physical)
        var change = SyncRecord(key: key, deletion: Deletion(stamp: stamp))
        if let value, let property {
            change = SyncRecord(key: key, properties: [property: Register(value: value, stamp: stamp)])
        }
        records[key] = records[key]?.merged(with: change) ?? change
        if property == nil { learn(key, wall) }
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

    private func pendingPart(of key: RecordKey) -> SyncRecord {
        let waiting = outbox.filter { $0.key == key }
        let record = records[key] ?? SyncRecord(key: key)
        let names = Set(waiting.compactMap(\.property))
        let isDeletionPending = waiting.contains { $0.property == nil }
        return SyncRecord(
            key: key, properties: record.properties.filter { names.contains($0.key) },
            deletion: isDeletionPending ? record.deletion : nil)
    }

    /// - Parameter bug: how it goes wrong on purpose.
    mutating func settle(
        _ batch: OutboxBatch, _ outcome: PushOutcome, merge: Merge, bug: PlantedBug?, wall: Int64
    ) -> MergeOutcome {
        var changed: [RecordKey] = []
        for result in outcome.results {
            guard let sent = batch.records.first(where: { $0.key == result.key }) else { continue }
            outbox.removeAll { waiting in
                guard waiting.key == sent.key else { return false }
                if bug == .settlesUnsent { return true }
                let stamp = waiting.property.map { sent.properties[$0]?.stamp } ?? sent.deletion?.stamp
                return stamp == waiting.stamp
            }
            if result.failure != nil {
                parked += 1
                continue
            }
            observe(sent)
            if bug != .forgetsUnfetched { remember(sent) }
            // The cloud holds it, so a refetch that is under way will not find it missing.
            if refetching.contains(sent.key.type) { seen.insert(sent.key) }
            if let merged = result.merged, take(merged, merge, wall: wall) { changed.append(result.key) }
        }
        return MergeOutcome(changed: changed)
    }

    // MARK: Reading

    /// - Parameter dropsUnlisted: as an old host does: what a refetch does not list is gone.
    mutating func apply(_ page: ChangesPage, merge: Merge, dropsUnlisted: Bool, wall: Int64) -> MergeOutcome {
        var outcome = MergeOutcome()
        let isRefetching = refetching.contains(page.type)
        for record in page.records {
            if isRefetching { setAside(record.key, listed: record, drops: dropsUnlisted) }
            if take(record, merge, wall: wall) { outcome.changed.append(record.key) } else { outcome.unchanged += 1 }
            confirm(record)
            if isRefetching { seen.insert(record.key) }
        }
        tokens[page.type] = page.token
        if !page.moreComing, isRefetching {
            for key in records.keys where key.type == page.type && !seen.contains(key) {
                setAside(key, listed: nil, drops: dropsUnlisted)
            }
            refetching.remove(page.type)
            seen = seen.filter { $0.type != page.type }
        }
        if !page.moreComing { outcome.toldAgain = repeatTold(of: page.type) }
        return outcome
    }

    // MARK: What the cloud acknowledged

    private mutating func remember(_ sent: SyncRecord) {
        var stamps: [(property: String?, stamp: Stamp)] = sent.properties.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.stamp) }
        if let deletion = sent.deletion { stamps.append((nil, deletion.stamp)) }
        for (property, stamp) in stamps {
            let known = told.firstIndex { $0.key == sent.key && $0.property == property }
            let isRepeated = known.map { told[$0].isRepeated && told[$0].stamp == stamp } ?? false
            if let known { told.remove(at: known) }
            told.append(Told(key: sent.key, property: property, stamp: stamp, isRepeated: isRepeated))
        }
    }

    /// A page has it: what was told and stands there is in the cloud's changes, and what waits as it stands need not be
    /// told.
    private mutating func confirm(_ listed: SyncRecord) {
        func stands(_ property: String?) -> Stamp? {
            property.map { listed.properties[$0]?.stamp } ?? listed.deletion?.stamp
        }
        let own = records[listed.key]
        outbox.removeAll { waiting in
            guard waiting.key == listed.key, stands(waiting.property) == waiting.stamp else { return false }
            return waiting.property.map { own?.properties[$0]?.value == listed.properties[$0]?.value } ?? true
        }
        told.removeAll { entry in
            entry.key == listed.key
                && [stands(entry.property), listed.deletion?.stamp].contains { $0.map { $0 >= entry.stamp } ?? false }
        }
    }

    /// - Returns: how many wait again.
    private mutating func repeatTold(of type: RecordType) -> Int {
        let before = outbox.count
        told = told.compactMap { entry in
            guard entry.key.type == type,
                !outbox.contains(where: { $0.key == entry.key && $0.property == entry.property })
            else { return entry }
            let record = records[entry.key]
            let stands = entry.property.map { record?.properties[$0]?.stamp } ?? record?.deletion?.stamp
            guard stands == entry.stamp, !(entry.isAwaited && entry.isRepeated) else { return nil }
            var entry = entry
            if entry.isAwaited {
                queue(entry.key, entry.property, entry.stamp)
                (entry.isAwaited, entry.isRepeated) = (false, true)
            } else {
                entry.isAwaited = true
            }
            return entry
        }
        return outbox.count - before
    }

    /// In a refetch: sets aside what the cloud does not list and whose deletion was not seen, but for what waits to be
    /// told.
    private mutating func setAside(_ key: RecordKey, listed: SyncRecord?, drops: Bool) {
        guard let before = records[key] else { return }
        let waiting = outbox.filter { $0.key == key }.map(\.property) + told.filter { $0.key == key }.map(\.property)
        let gone = before.properties.filter { name, register in
            guard listed?.properties[name] == nil, !waiting.contains(name) else { return false }
            return drops || listed?.deletion.map { $0.stamp < register.stamp } ?? true
        }
        if !drops { putAside(key, gone) }
        let after = SyncRecord(
            key: key, properties: before.properties.filter { gone[$0.key] == nil },
            deletion: waiting.contains(nil) || listed?.deletion != nil ? before.deletion : nil)
        records[key] = after.properties.isEmpty && after.deletion == nil ? nil : after
    }

    private mutating func putAside(_ key: RecordKey, _ registers: [String: Register]) {
        guard !registers.isEmpty else { return }
        aside[key, default: [:]].merge(registers) { $0.stamp > $1.stamp ? $0 : $1 }
    }

    mutating func beginRefetch(of type: RecordType) {
        refetching.insert(type)
        tokens[type] = nil
        seen = seen.filter { $0.type != type }
    }

    /// - Parameter bug: how leaving another zone goes wrong on purpose.
    mutating func adopt(_ zone: SyncZone, _ entry: ZoneEntry, bug: PlantedBug?) {
        if case .another = entry, let left = self.zone {
            leave(left, bug: bug)
            comeBack(to: zone.identity)
        }
        (epoch, self.zone, zoneName) = (zone.epoch, zone.identity, zone.name)
        told = []
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

    private mutating func take(_ record: SyncRecord, _ merge: Merge, wall: Int64) -> Bool {
        observe(record)
        let before = records[record.key]
        let ingest = Ingest(record) { records[$0] }
        let after = merge.takesEqual ? before.map { merge.merged($0, record) } ?? record : ingest.arrived.after
        records[record.key] = after
        if let deletion = after.deletion, deletion != before?.deletion { learn(record.key, wall) }
        if merge.tellsAgain { ingest.mergesToTell.forEach { tell($0) } }
        unqueueOverwritten(of: record.key)
        outdateAside(record)
        return before != after
    }

    /// What was overwritten waits no more: the cloud has something younger.
    mutating func unqueueOverwritten(of key: RecordKey) {
        let record = records[key]
        outbox.removeAll { waiting in
            guard waiting.key == key else { return false }
            let stamp = waiting.property.map { record?.properties[$0]?.stamp } ?? record?.deletion?.stamp
            return stamp != waiting.stamp
        }
    }

    /// The cloud lists this record: what was set aside of it and is no newer leaves the list.
    private mutating func outdateAside(_ listed: SyncRecord) {
        guard let entry = aside[listed.key] else { return }
        let rest = entry.filter { name, register in
            let known = [listed.deletion?.stamp, listed.properties[name]?.stamp].compactMap { $0 }.max()
            return known.map { $0 < register.stamp } ?? true
        }
        aside[listed.key] = rest.isEmpty ? nil : rest
    }

    /// What the cloud lacks: it has forgotten a deletion, or has not been told yet.
    private mutating func tell(_ lacking: RecordMerge) {
        let record = lacking.after
        for name in lacking.news {
            if let register = record.properties[name] { queue(record.key, name, register.stamp) }
        }
        if lacking.deletionIsNews, let deletion = record.deletion { queue(record.key, nil, deletion.stamp) }
    }

    private mutating func observe(_ record: SyncRecord) {
        guard let newest = record.newestStamp else { return }
        clock.observe(newest)
        accepted = max(accepted ?? newest, newest)
    }

    private mutating func learn(_ key: RecordKey, _ wall: Int64) {
        learned[key] = wall
        learnedAt[key] = trueTime
    }

    /// As `RetentionCalendar`: something is stored under a calendar that nobody confirms.
    mutating func doubt(_ wall: WallTime) {
        var date = believed ?? firstBelieved(wall)
        date.doubt(wall...wall)
        believed = date
    }

    /// The calendar is confirmed, and time goes on towards it.
    mutating func goOn(to wall: WallTime, running: Duration) {
        var date = believed ?? firstBelieved(wall)
        let next = learned.values.filter { $0 > date.date.millisecondsSince1970 }.min()
        date.advance(
            toConfirmed: wall, running: running, next: next.map { WallTime(millisecondsSince1970: $0) })
        believed = date
    }

    private func firstBelieved(_ wall: WallTime) -> BelievedDate {
        BelievedDate(newest: learned.values.max().map { WallTime(millisecondsSince1970: $0) }, calendar: wall)
    }

    /// Forgets tombstones that were stamped and learned of long ago.
    ///
    /// - Parameter date: instead of the believed one.
    /// - Returns: those that went.
    mutating func cleanUp(olderThan age: Duration, by date: BelievedDate?) -> [RecordKey] {
        guard let date = date ?? believed else { return [] }
        let limit = date.date.millisecondsSince1970 - age.milliseconds
        let old = records.values.filter { record in
            guard record.isTombstone, let deletion = record.deletion, let time = learned[record.key] else {
                return false
            }
            return date.isOlder(WallTime(millisecondsSince1970: time), than: age)
                && Int64(deletion.stamp.milliseconds) < limit
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
