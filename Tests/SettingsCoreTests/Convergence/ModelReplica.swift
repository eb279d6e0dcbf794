import Domain

/// A model of a host's records: its clock, its records, its outbox, and how far it has read.
struct ModelReplica {
    /// A change that waits to be pushed.
    struct Pending: Hashable {
        var key: RecordKey
        /// Nil for the deletion.
        var property: String?
        var stamp: Stamp
    }

    /// Counts of what happened, so that a schedule in which nothing happens does not count as a test.
    struct Met {
        var restamped = 0
        var refetched = 0
        var droppedInRefetch = 0
        var adopted = 0
        var folded = 0
        var lifted = 0
        var overflowed = 0
    }

    let index: Int
    let rule: MergeRule
    var clock: HybridClock
    /// How far its calendar is off, in milliseconds.
    var skew: Int64 = 0
    /// Resolution of its calendar, in milliseconds.
    var resolution: UInt64 = 1
    /// The correction that it learned from the cloud's clock.
    var correction: Int64 = 0
    /// Whether it is an older version, which keeps names as they are and does not fold.
    var isOlder = false
    var records: [RecordKey: SyncRecord] = [:]
    var outbox: [Pending] = []
    var token = 0
    var epoch = 1
    /// Records seen since a refetch began; nil if none is under way.
    var seen: Set<RecordKey>?
    /// Rises with each refetch and each new epoch, so that earlier answers are no longer accepted.
    var generation = 0
    /// How often it met the troubles that the schedules are for.
    var met = Met()
    /// The greatest stamp that the cloud accepted from here or sent.
    var known: Stamp?

    func physical(at now: UInt64) -> UInt64 {
        let time = max(0, Int64(now) + skew + correction)
        return UInt64(time) / resolution * resolution
    }

    // MARK: Changes

    /// Stores what a person set here.
    mutating func write(_ value: Int64, to property: String, of key: RecordKey, at now: UInt64) -> Pending {
        let key = isOlder ? key : key.normalised
        let stamp = clock.tick(physical: physical(at: now))
        if stamp.counter == 0, stamp.milliseconds > physical(at: now) { met.overflowed += 1 }
        let register = Register(value: .int(value), stamp: stamp)
        take(SyncRecord(key: key, properties: [property: register]), fromCloud: false)
        return Pending(key: key, property: property, stamp: stamp)
    }

    /// Deletes a record, if it exists.
    mutating func delete(_ key: RecordKey, at now: UInt64) -> Pending? {
        let key = isOlder ? key : key.normalised
        guard records[key] != nil else { return nil }
        let stamp = clock.tick(physical: physical(at: now))
        take(SyncRecord(key: key, deletion: Deletion(stamp: stamp)), fromCloud: false)
        return Pending(key: key, property: nil, stamp: stamp)
    }

    /// Merges a record, in the way of its version.
    mutating func take(_ record: SyncRecord, fromCloud: Bool) {
        guard !isOlder, rule == .real else {
            let before = records[record.key] ?? SyncRecord(key: record.key)
            var after = before
            rule.merge(record, into: &after)
            store(RecordMerge(from: before, to: after), tell: !fromCloud)
            return
        }
        let ingest = Ingest(record) { records[$0] }
        if let fold = ingest.fold { count(fold) }
        for merge in ingest.merges { store(merge, tell: !fromCloud) }
        if fromCloud { for merge in ingest.mergesToTell { queue(merge) } }
    }

    /// Folds the first record under an older form of a name.
    ///
    /// - Returns: false if there is no such record.
    mutating func rebuildStep() -> Bool {
        let losers = records.values.filter { $0.key != $0.key.normalised && !$0.properties.isEmpty }
        guard let loser = losers.min(by: { $0.key.name < $1.key.name }),
            let fold = RebuildPlan.fold(loser, into: records[loser.key.normalised])
        else { return false }
        count(fold)
        store(fold.loser, tell: true)
        store(fold.canonical, tell: true)
        return true
    }

    private mutating func count(_ fold: RebuildPlan.Fold) {
        met.folded += 1
        if fold.canonical.after.properties.contains(where: { $0.value.stamp.isLifted }) { met.lifted += 1 }
    }

    private mutating func store(_ merge: RecordMerge, tell: Bool) {
        guard !merge.isEmpty else { return }
        records[merge.after.key] = merge.after
        if tell { queue(merge) }
    }

    private mutating func queue(_ merge: RecordMerge) {
        let record = merge.after
        for name in merge.news {
            guard let stamp = record.properties[name]?.stamp else { continue }
            queue(Pending(key: record.key, property: name, stamp: stamp))
        }
        if merge.deletionIsNews, let stamp = record.deletion?.stamp {
            queue(Pending(key: record.key, property: nil, stamp: stamp))
        }
    }

    private mutating func queue(_ pending: Pending) {
        guard !outbox.contains(pending) else { return }
        outbox.removeAll { $0.key == pending.key && $0.property == pending.property }
        outbox.append(pending)
    }

    // MARK: Pushing

    /// The first changes that wait, as partial records.
    mutating func batch(recordsMax: Int) -> [SyncRecord] {
        // What something greater has since replaced need not be pushed.
        outbox = outbox.filter { stamp(of: $0) == $0.stamp }
        var batch: [SyncRecord] = []
        for pending in outbox {
            guard let whole = records[pending.key] else { continue }
            let part = SyncRecord(
                key: pending.key,
                properties: pending.property.map { [$0: whole.properties[$0]].compactMapValues { $0 } } ?? [:],
                deletion: pending.property == nil ? whole.deletion : nil)
            if let index = batch.firstIndex(where: { $0.key == pending.key }) {
                batch[index].merge(part)
            } else if batch.count < recordsMax {
                batch.append(part)
            }
        }
        return batch
    }

    private func stamp(of pending: Pending) -> Stamp? {
        guard let record = records[pending.key] else { return nil }
        return pending.property.map { record.properties[$0]?.stamp } ?? record.deletion?.stamp
    }

    /// - Returns: the changes that got another stamp, as they were, and the new stamp.
    mutating func settle(_ answers: [ModelCloud.Answer], cloudTime: UInt64, at now: UInt64) -> [(Pending, Stamp)] {
        for answer in answers where !answer.isRefused {
            outbox.removeAll { pending in
                guard pending.key == answer.sent.key else { return false }
                guard let property = pending.property else { return answer.sent.deletion?.stamp == pending.stamp }
                return answer.sent.properties[property]?.stamp == pending.stamp
            }
            learn(answer.sent)
            if let merged = answer.merged {
                learn(merged)
                take(merged, fromCloud: true)
            }
        }
        return answers.contains(where: \.isRefused) ? restamp(cloudTime: cloudTime, at: now) : []
    }

    private mutating func learn(_ record: SyncRecord) {
        guard let newest = record.newestStamp else { return }
        known = known.map { max($0, newest) } ?? newest
        clock.observe(newest)
    }

    private mutating func restamp(cloudTime: UInt64, at now: UInt64) -> [(Pending, Stamp)] {
        correction = Int64(cloudTime) - (Int64(now) + skew)
        outbox = outbox.filter { stamp(of: $0) == $0.stamp }
        let stamps = clock.restamp(
            outbox.map { .init(refused: $0.stamp, now: cloudTime) }, accepted: known)
        var moved: [(Pending, Stamp)] = []
        var changes: [RecordKey: [(property: String?, old: Stamp, new: Stamp)]] = [:]
        for (index, stamp) in stamps.enumerated() {
            guard let stamp else { continue }
            let pending = outbox[index]
            changes[pending.key, default: []].append((pending.property, pending.stamp, stamp))
            outbox[index].stamp = stamp
            moved.append((pending, stamp))
            met.restamped += 1
        }
        for (key, changes) in changes { records[key]?.restamp(changes) }
        return moved
    }

    // MARK: Reading

    mutating func apply(_ page: ModelCloud.Page, inAnyOrder: Bool) {
        if page.epoch > epoch { return adopt(epoch: page.epoch) }
        guard page.epoch == epoch else { return }
        guard page.since == token else {
            if inAnyOrder { page.records.forEach { takeFromPage($0) } }
            return
        }
        page.records.forEach { takeFromPage($0) }
        token = page.token
        if !page.moreComing { endRefetch() }
    }

    private mutating func takeFromPage(_ record: SyncRecord) {
        learn(record)
        if seen?.insert(record.key).inserted == true { keepWaiting(of: record.key) }
        take(record, fromCloud: true)
    }

    /// Its token expired, so it reads everything anew.
    mutating func beginRefetch() {
        met.refetched += 1
        seen = []
        token = 0
        generation += 1
    }

    /// What was not seen is gone, except for what waits to be pushed.
    private mutating func endRefetch() {
        guard let seen else { return }
        self.seen = nil
        for key in records.keys where !seen.contains(key) { keepWaiting(of: key) }
    }

    private mutating func keepWaiting(of key: RecordKey) {
        let before = records[key]
        let waiting = outbox.filter { $0.key == key && stamp(of: $0) == $0.stamp }
        records[key] = before?.keeping(
            properties: Set(waiting.compactMap(\.property)), deletion: waiting.contains { $0.property == nil })
        if records[key] != before { met.droppedInRefetch += 1 }
    }

    /// The cloud is another store, so everything is pushed again.
    private mutating func adopt(epoch: Int) {
        met.adopted += 1
        self.epoch = epoch
        token = 0
        seen = nil
        generation += 1
        for record in records.values.sorted(by: { $0.key.name < $1.key.name }) {
            queue(RecordMerge(from: SyncRecord(key: record.key), to: record))
        }
    }
}
