package import Domain
package import Gateway
package import GatewayAPI

/// Settings that are kept in memory. They keep the contracts of `SettingsRepository` and `SyncRepository`, as
/// `MeterStore` does.
package actor InMemorySettings: SettingsRepository {
    private(set) var state: State
    /// The error thrown by every call that writes, if any.
    private var failure: StoreError?
    /// What the next reading of a record waits for.
    private var held: (@Sendable () async -> Void)?

    /// - Parameter host: the host that stamps everything.
    package init(host: HostID = HostID(high: 0x4000, low: 0x8000_0000_0000_0001)) { state = State(host: host) }

    /// Makes every call that writes throw `error` from now on; nil ends that.
    package func failWrites(with error: StoreError?) { failure = error }

    /// Delays the next reading of a record: what it found stays the same while it waits.
    package func holdNextReading(_ wait: @escaping @Sendable () async -> Void) { held = wait }

    /// Stores a record without looking at its name, as an older version left it.
    package func plant(_ record: SyncRecord) { state.records[record.key] = record }

    /// Notes that this host has met the meter with this name.
    package func meet(_ name: String) { state.met.insert(name) }

    package func hostIdentity() -> HostID { state.clock.host }

    package func record(_ key: RecordKey) async -> SyncRecord? {
        let record = state.records[key]
        if let wait = held {
            held = nil
            await wait()
        }
        return record
    }

    package func records(of type: RecordType) -> [SyncRecord] {
        state.records.values.filter { $0.key.type == type }.sorted { $0.key.name.utf8Precedes($1.key.name) }
    }

    package func write(_ changes: [SettingChange], at moment: HostMoment) throws -> MergeOutcome {
        try change(at: moment.wall) { state in
            var outcome = MergeOutcome()
            for change in changes { outcome.add(try state.write(change, at: moment)) }
            return outcome
        }
    }

    package func delete(_ key: RecordKey, at moment: HostMoment) throws -> MergeOutcome {
        try change(at: moment.wall) { state in
            guard let before = state.records[key], !before.properties.isEmpty else { return MergeOutcome(unchanged: 1) }
            if let newest = before.newestStamp { state.clock.observe(newest) }
            let deletion = Deletion(stamp: state.clock.tick(physical: state.physical(at: moment)))
            let merge = before.merging(SyncRecord(key: key, deletion: deletion))
            state.store(merge)
            state.tell(merge, written: moment.sinceBoot)
            return MergeOutcome(changed: [key])
        }
    }

    package func history(of key: RecordKey, property: String?, limit: Int) -> [HistoryEntry] {
        let entries = state.history[key, default: []].reversed()
        return Array(entries.filter { property == nil || $0.overwritten.property == property }.prefix(max(limit, 0)))
    }

    package func rebuildProgress() -> RebuildProgress { state.rebuild }

    package func rebuildStep(
        recordsMax: Int, at now: WallTime
    ) throws -> (progress: RebuildProgress, changed: [RecordKey]) {
        try change(at: now) { state in
            guard !state.rebuild.isComplete else { return (state.rebuild, []) }
            var changed: [RecordKey] = []
            let keys = state.keysToScan.prefix(max(recordsMax, 1))
            for key in keys {
                state.rebuild.cursor = key
                state.rebuild.scanned += 1
                guard let record = state.records[key] else { continue }
                guard let fold = RebuildPlan.fold(record, into: state.records[key.normalised]) else { continue }
                state.rebuild.folded += 1
                state.store(fold)
                changed += [fold.loser, fold.canonical].filter { !$0.isEmpty }.map(\.after.key)
            }
            state.rebuild.isComplete = keys.count < max(recordsMax, 1)
            return (state.rebuild, changed)
        }
    }

    package func rebuildReport() -> RebuildReportBody {
        var copy = state
        copy.rebuild = RebuildProgress(version: RebuildPlan.version)
        var report = RebuildReportBody()
        for key in copy.keysToScan {
            report.scanned += 1
            guard let record = state.records[key] else { continue }
            guard let fold = RebuildPlan.fold(record, into: state.records[key.normalised]) else { continue }
            report.folded += 1
            guard report.examples.count < RebuildReportBody.examplesMax else { continue }
            let moved = fold.canonical.news
            report.examples.append(
                RebuildReportBody.Example(
                    type: key.type.rawValue, from: key.name, into: key.normalised.name, moved: moved,
                    kept: record.properties.keys.filter { !moved.contains($0) }.sorted()))
        }
        return report
    }

    /// Makes a change either completely or not at all.
    func change<Value>(at now: WallTime? = nil, _ body: (inout State) throws -> Value) throws -> Value {
        if let failure { throw failure }
        var copy = state
        copy.learned = now ?? WallTime(millisecondsSince1970: Int64(copy.clock.milliseconds))
        let value = try body(&copy)
        state = copy
        return value
    }
}

extension InMemorySettings {
    struct Slot: Hashable {
        var key: RecordKey
        /// Nil stands for the deletion.
        var property: String?
    }

    struct Waiting {
        var stamp: Stamp
        /// Nil if this host did not write it.
        var written: MonotonicTime?
        var isTold = false

        var isMovable: Bool { written != nil && !isTold }
    }

    struct HeldBack {
        var isHeld: Bool
        var refusals: Int
    }

    struct Told {
        var stamp: Stamp
        /// Whether a reading of the type has ended since.
        var isAwaited = false
        var isRepeated = false
    }

    /// The whole content, as a value, so that a failed change leaves no trace.
    struct State {
        var clock: HybridClock
        /// The greatest stamp that the cloud accepted or sent.
        var accepted: Stamp?
        var epoch: String?
        /// `SyncZone.identity` and the zone's name.
        var zone: (identity: String, name: String)?
        var visits: [String: SyncVisit] = [:]
        var record = RunHistory()
        /// Meters that this host has met, by name.
        var met: Set<String> = []
        var aside: [Aside] = []
        var nextAside = 1
        /// By zone; each with whether it waits to be sent there.
        var deletionsElsewhere: [String: [RecordKey: (deletion: Deletion, isPending: Bool)]] = [:]
        var records: [RecordKey: SyncRecord] = [:]
        var outbox: [Slot: Waiting] = [:]
        /// Records that the cloud has no room for, and how often it said so.
        var heldBack: [RecordKey: HeldBack] = [:]
        /// Entries that the cloud has acknowledged and not listed since.
        var told: [Slot: Told] = [:]
        /// By record, latest last.
        var history: [RecordKey: [HistoryEntry]] = [:]
        var parked: [(key: RecordKey, isRefused: Bool, reason: String)] = []
        var tokens: [RecordType: String] = [:]
        /// Types that are being read again from the beginning, with the records seen so far.
        var seen: [RecordType: Set<RecordKey>] = [:]
        var cursors: [RecordType: String] = [:]
        /// When each deletion was learned of, for the clean-up.
        var deletions: [RecordKey: WallTime] = [:]
        var rebuild = RebuildProgress(version: RebuildPlan.version)
        /// The cloud's clock at some moment since the machine started.
        var anchor: HostMoment?
        var learned = WallTime(millisecondsSince1970: 0)

        init(host: HostID) { clock = HybridClock(host: host) }
    }
}

extension InMemorySettings.State {
    func physical(at moment: HostMoment) -> UInt64 {
        let wall = anchor.map { $0.wall + (moment.sinceBoot - $0.sinceBoot) } ?? moment.wall
        return UInt64(clamping: wall.millisecondsSince1970)
    }

    mutating func write(_ change: SettingChange, at moment: HostMoment) throws -> MergeOutcome {
        let key = change.key.normalised
        let before = records[key] ?? SyncRecord(key: key)
        if let newest = before.newestStamp { clock.observe(newest) }
        let register = Register(value: change.value, stamp: clock.tick(physical: physical(at: moment)))
        let merge = before.merging(SyncRecord(key: key, properties: [change.property: register]))
        if let fault = SyncRecord(key: key, properties: [change.property: register]).fault ?? merge.after.fault {
            throw StoreError(.system, "this setting cannot be kept: \(fault)")
        }
        store(merge)
        tell(merge, written: moment.sinceBoot)
        return MergeOutcome(changed: [key])
    }

    mutating func store(_ merge: RecordMerge) {
        guard !merge.isEmpty else { return }
        let key = merge.after.key
        records[key] = merge.after
        if merge.deletionIsNews { deletions[key] = learned }
        for value in merge.overwritten { remember(value, of: key) }
        // An entry waits only for the value that is stored; anything else need not be sent any more.
        for (slot, waiting) in outbox where slot.key == key && stamp(in: slot) != waiting.stamp {
            outbox[slot] = nil
        }
    }

    mutating func store(_ fold: RebuildPlan.Fold) {
        for merge in [fold.loser, fold.canonical] {
            store(merge)
            tell(merge)
        }
        for value in fold.outdone { remember(value, of: fold.canonical.after.key) }
    }

    mutating func remember(_ value: OverwrittenValue, of key: RecordKey) {
        history[key, default: []].append(HistoryEntry(overwritten: value, at: learned))
    }

    func stamp(in slot: InMemorySettings.Slot) -> Stamp? {
        guard let property = slot.property else { return records[slot.key]?.deletion?.stamp }
        return records[slot.key]?.properties[property]?.stamp
    }

    var keysToScan: [RecordKey] {
        let all = RebuildPlan.types.flatMap { type in
            records.keys.filter { $0.type == type }.sorted { $0.name.utf8Precedes($1.name) }
        }
        guard let cursor = rebuild.cursor, let place = all.firstIndex(of: cursor) else { return all }
        return Array(all[(place + 1)...])
    }
}

extension MergeOutcome {
    mutating func add(_ other: MergeOutcome) {
        changed += other.changed.filter { !changed.contains($0) }
        unchanged += other.unchanged
        parked += other.parked
    }
}

extension String {
    /// Compares by bytes, as SQLite does.
    func utf8Precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
