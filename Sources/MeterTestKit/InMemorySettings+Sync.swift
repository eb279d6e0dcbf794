package import Domain
package import Gateway
import GatewayAPI

extension InMemorySettings: SyncRepository {
    package func progress() -> SyncProgress {
        var tokens = state.tokens
        for type in state.seen.keys { tokens[type] = state.cursors[type] }
        var progress = SyncProgress(
            epoch: state.epoch, zone: state.zone?.identity, zoneName: state.zone?.name, tokens: tokens,
            refetching: Set(state.seen.keys), pending: state.outbox.count,
            parked: state.parked.count + state.aside.count)
        progress.heldBack = state.keysHeldBack.count
        progress.visits = state.visits
        progress.record = state.record
        return progress
    }

    package func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) throws -> OutboxBatch? {
        try change { state in
            var records: [SyncRecord] = []
            var room = bytesMax
            for key in state.keysThatWait.filter({ state.heldBack[$0]?.isHeld != true && only ?? $0 == $0 })
            where records.count < max(recordsMax, 1) {
                let part = state.waitingPart(of: key, room: records.isEmpty ? room : nil)
                if !records.isEmpty, part.bytes > room { break }
                room -= part.bytes
                records.append(part.record)
            }
            for record in records {
                for slot in record.slots { state.outbox[slot]?.isTold = true }
            }
            return records.isEmpty ? nil : OutboxBatch(records: records)
        }
    }

    package func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) throws -> MergeOutcome {
        try change { state in
            var result = MergeOutcome()
            for answer in outcome.results {
                guard let record = batch.records.first(where: { $0.key == answer.key }) else { continue }
                if let failure = answer.failure {
                    let isForGood = failure.kind.isForGood(isAlone: batch.records.count == 1)
                    if state.refuse(record, failure, isForGood: isForGood) { result.parked += 1 }
                } else {
                    state.accept(record)
                }
                if let merged = answer.merged { state.merge(merged, into: &result) }
            }
            return result
        }
    }

    package func retryHeldBack(recordsMax: Int) throws -> Int {
        try change { state in
            let keys = state.keysHeldBack.prefix(max(recordsMax, 1))
            for key in keys { state.heldBack[key]?.isHeld = false }
            return keys.count
        }
    }

    package func apply(_ page: ChangesPage) throws -> MergeOutcome {
        try change { state in
            guard state.epoch ?? page.epoch == page.epoch else {
                throw StoreError(.system, "a page of the cloud's store \(page.epoch) has to be adopted first")
            }
            if let zone = page.zoneID, let known = state.zone?.identity, zone != known {
                throw StoreError(.system, "a page of the zone \(zone): it has to be joined first")
            }
            state.epoch = page.epoch
            var result = MergeOutcome()
            for record in page.records {
                if state.seen[page.type] != nil {
                    state.setAside(record.key, listed: record, into: &result)
                }
                state.merge(record, into: &result)
                state.confirm(by: record)
            }
            guard state.seen[page.type] != nil, page.moreComing else {
                state.finishRefetch(of: page.type, into: &result)
                if !page.moreComing { result.toldAgain += state.repeatTold(of: page.type) }
                state.tokens[page.type] = page.token
                return result
            }
            state.cursors[page.type] = page.token
            return result
        }
    }

    package func beginRefetch(of type: RecordType) throws {
        try change { state in
            state.seen[type] = []
            state.cursors[type] = nil
        }
    }

    package func restamp(from physical: UInt64) throws {
        try change { state in
            let latest = max(
                StampLimit.latest(now: physical, accepted: 0) - StampLimit.ahead / 2, state.accepted?.milliseconds ?? 0)
            state.restamp { $0.stamp.milliseconds > latest ? physical : nil }
        }
    }

    package func correct(clockOffset: Duration, at moment: HostMoment) throws {
        try change { state in
            let now = HostMoment(wall: moment.wall + clockOffset, sinceBoot: moment.sinceBoot)
            state.anchor = now
            let isOff = state.outbox.values.contains { State.made($0, now) != nil }
            if isOff { state.restamp { State.made($0, now) } }
        }
    }

    package func cleanUp(now: WallTime) throws {
        try change { state in
            let day = 86_400
            for key in state.history.keys {
                state.history[key]?.removeAll { $0.at < now + .seconds(-90 * day) }
            }
            let expired = now + .seconds(-180 * day)
            for (key, record) in state.records where record.isTombstone {
                guard let stamp = record.deletion?.stamp, let learned = state.deletions[key], learned < expired,
                    WallTime(millisecondsSince1970: Int64(stamp.milliseconds)) < expired,
                    !state.outbox.keys.contains(where: { $0.key == key })
                else { continue }
                state.records[key] = nil
            }
        }
    }
}

extension InMemorySettings.State {
    mutating func tell(_ merge: RecordMerge, written: MonotonicTime? = nil) {
        let key = merge.after.key
        let news = merge.news.map { Optional($0) } + (merge.deletionIsNews ? [nil] : [])
        for property in news where outbox[InMemorySettings.Slot(key: key, property: property)] == nil {
            let slot = InMemorySettings.Slot(key: key, property: property)
            outbox[slot] = stamp(in: slot).map { InMemorySettings.Waiting(stamp: $0, written: written) }
            heldBack[key] = nil
        }
    }

    mutating func observe(cloud stamp: Stamp?) {
        guard let stamp else { return }
        clock.observe(stamp)
        accepted = accepted.map { max($0, stamp) } ?? stamp
    }

    mutating func merge(_ record: SyncRecord, into result: inout MergeOutcome) {
        observe(cloud: record.newestStamp)
        if let fault = record.fault {
            park(record.key, isRefused: false, because: fault.description)
            result.parked += 1
            return
        }
        let ingest = Ingest(record) { records[$0] }
        for merge in ingest.merges { store(merge) }
        if ingest.fold != nil || !parked.contains(where: { $0.key == record.key && $0.isRefused }) {
            for merge in ingest.mergesToTell { tell(merge) }
        }
        for value in ingest.fold?.outdone ?? [] { remember(value, of: record.key.normalised) }
        seen[record.key.type]?.insert(record.key)
        outdateAside(record)
        result.add(MergeOutcome(changed: ingest.merges.map(\.after.key), unchanged: ingest.merges.isEmpty ? 1 : 0))
        result.news += ingest.merges.compactMap { RecordNews($0) }
    }

    mutating func accept(_ sent: SyncRecord) {
        observe(cloud: sent.newestStamp)
        for slot in sent.slots {
            guard let stamp = sent.stamp(in: slot) else { continue }
            if outbox[slot]?.stamp == stamp { outbox[slot] = nil }
            let isRepeated = told[slot].map { $0.isRepeated && $0.stamp == stamp } ?? false
            told[slot] = InMemorySettings.Told(stamp: stamp, isRepeated: isRepeated)
        }
        heldBack[sent.key] = nil
        seen[sent.key.type]?.insert(sent.key)
    }

    /// Held-back records of which something still waits; those refused least often come first.
    var keysHeldBack: [RecordKey] {
        let waiting = Set(outbox.keys.map(\.key))
        return heldBack.filter { $0.value.isHeld && waiting.contains($0.key) }
            .sorted { ($0.value.refusals, $0.key.name) < ($1.value.refusals, $1.key.name) }.map(\.key)
    }

    mutating func holdBack(_ key: RecordKey) {
        guard outbox.keys.contains(where: { $0.key == key }) else { return }
        heldBack[key] = InMemorySettings.HeldBack(isHeld: true, refusals: (heldBack[key]?.refusals ?? 0) + 1)
    }

    mutating func confirm(by listed: SyncRecord) {
        for (slot, waiting) in outbox where slot.key == listed.key && listed.stamp(in: slot) == waiting.stamp {
            let own = slot.property.flatMap { records[listed.key]?.properties[$0]?.value }
            if own == slot.property.flatMap({ listed.properties[$0]?.value }) { outbox[slot] = nil }
        }
        for (slot, entry) in told where slot.key == listed.key {
            let stands = [listed.deletion?.stamp, listed.stamp(in: slot)].compactMap { $0 }
            if stands.contains(where: { $0 >= entry.stamp }) { told[slot] = nil }
        }
    }

    /// - Returns: how many entries wait again.
    mutating func repeatTold(of type: RecordType) -> Int {
        var repeated = 0
        for (slot, entry) in told where slot.key.type == type && outbox[slot] == nil {
            if stamp(in: slot) != entry.stamp || entry.isAwaited && entry.isRepeated {
                told[slot] = nil
            } else if entry.isAwaited {
                outbox[slot] = InMemorySettings.Waiting(stamp: entry.stamp)
                told[slot] = InMemorySettings.Told(stamp: entry.stamp, isRepeated: true)
                repeated += 1
            } else {
                told[slot]?.isAwaited = true
            }
        }
        return repeated
    }

    /// - Returns: whether it was set aside. What is gone meanwhile is not.
    mutating func refuse(_ sent: SyncRecord, _ failure: SyncFailure, isForGood: Bool) -> Bool {
        guard records[sent.key] != nil else { return false }
        for slot in sent.slots {
            outbox[slot]?.isTold = false
            if isForGood, outbox[slot]?.stamp == sent.stamp(in: slot) { outbox[slot] = nil }
        }
        if failure.kind == .quotaExceeded { holdBack(sent.key) }
        if isForGood { park(sent.key, isRefused: true, because: failure.message) }
        return isForGood
    }

    mutating func park(_ key: RecordKey, isRefused: Bool, because reason: String) {
        parked.removeAll { $0.key == key && $0.isRefused == isRefused }
        parked.append((key, isRefused, reason))
    }

    // MARK: Batches

    /// In the order in which they are sent.
    var keysThatWait: [RecordKey] {
        let oldest = Dictionary(outbox.map { ($0.key.key, $0.value.stamp) }) { min($0, $1) }
        let types = RecordType.known.map(\.rawValue)
        func rank(_ type: RecordType) -> Int { types.firstIndex(of: type.rawValue) ?? types.count }
        return oldest.sorted { left, right in
            let (first, second) = (left.key.type, right.key.type)
            return (rank(first), first.rawValue, left.value) < (rank(second), second.rawValue, right.value)
        }.map(\.key)
    }

    /// - Parameter room: the limit in bytes, with at least one property in any case; nil for no limit.
    func waitingPart(of key: RecordKey, room: Int?) -> (record: SyncRecord, bytes: Int) {
        let whole = records[key] ?? SyncRecord(key: key)
        var record = SyncRecord(key: key)
        var bytes = 64 + key.name.utf8.count
        for (slot, _) in outbox.filter({ $0.key.key == key }).sorted(by: { $0.value.stamp < $1.value.stamp }) {
            var part = SyncRecord(key: key, deletion: slot.property == nil ? whole.deletion : nil)
            var size = 120
            if let property = slot.property, let register = whole.properties[property] {
                part = SyncRecord(key: key, properties: [property: register])
                size += 120 + property.utf8.count + register.value.bytes
            }
            if let room, bytes + size > room, !record.slots.isEmpty { break }
            record.merge(part)
            bytes += size
        }
        return (record, bytes)
    }

    // MARK: Refetch

    /// Sets aside what the cloud does not list, unless it waits to be sent or was refused.
    mutating func setAside(_ key: RecordKey, listed: SyncRecord?, into result: inout MergeOutcome) {
        guard let before = records[key], !parked.contains(where: { $0.key == key && $0.isRefused }) else { return }
        func waits(_ property: String?) -> Bool {
            let slot = InMemorySettings.Slot(key: key, property: property)
            return outbox[slot] != nil || told[slot] != nil
        }
        let gone = before.properties.filter { property, register in
            listed?.properties[property] == nil && !waits(property)
                && (listed?.deletion.map { $0.stamp < register.stamp } ?? true)
        }
        let deletion = listed?.deletion != nil || waits(nil) ? before.deletion : nil
        let kept = before.properties.filter { gone[$0.key] == nil }
        let after = SyncRecord(key: key, properties: kept, deletion: deletion)
        guard after != before else { return }
        putAside(gone, of: key, because: .unlisted, zone: zone)
        if !gone.isEmpty { result.parked += 1 }
        records[key] = after.slots.isEmpty && listed == nil ? nil : after
        result.add(MergeOutcome(changed: [key]))
    }

    mutating func finishRefetch(of type: RecordType, into result: inout MergeOutcome) {
        guard let seen = seen[type] else { return }
        for key in records.keys where key.type == type && !seen.contains(key) {
            setAside(key, listed: nil, into: &result)
        }
        self.seen[type] = nil
        cursors[type] = nil
    }

    // MARK: Clocks

    /// When an entry was written, if its stamp is more than a minute off.
    static func made(_ waiting: InMemorySettings.Waiting, _ now: HostMoment) -> UInt64? {
        guard waiting.isMovable, let written = waiting.written else { return nil }
        let made = (now.wall + (written - now.sinceBoot)).millisecondsSince1970
        return HybridClock.Waiting(stamp: waiting.stamp, made: UInt64(clamping: made)).physical
    }

    /// - Parameter physical: the new time of an entry; nil if it is not to be moved.
    mutating func restamp(_ physical: (InMemorySettings.Waiting) -> UInt64?) {
        let waiting = outbox.sorted { $0.value.stamp < $1.value.stamp }
        let stamps = clock.restamp(
            waiting.map { .init(stamp: $0.value.stamp, physical: physical($0.value)) }, accepted: accepted)
        var changes: [RecordKey: [(property: String?, old: Stamp, new: Stamp)]] = [:]
        for (entry, stamp) in zip(waiting, stamps) {
            guard let stamp else { continue }
            changes[entry.key.key, default: []].append((entry.key.property, entry.value.stamp, stamp))
            outbox[entry.key] = InMemorySettings.Waiting(stamp: stamp, written: entry.value.written)
        }
        for (key, changes) in changes { records[key]?.restamp(changes) }
    }
}

extension SyncRecord {
    /// The slots of its properties and its deletion.
    var slots: [InMemorySettings.Slot] {
        let names = properties.keys.sorted().map { Optional($0) } + (deletion == nil ? [] : [nil])
        return names.map { InMemorySettings.Slot(key: key, property: $0) }
    }

    fileprivate func stamp(in slot: InMemorySettings.Slot) -> Stamp? {
        slot.property.map { properties[$0]?.stamp } ?? deletion?.stamp
    }
}

extension SettingValue {
    fileprivate var bytes: Int {
        if case .string(let text) = self { text.utf8.count } else { 32 }
    }
}

extension SyncFailure.Kind {
    /// Whether the same record can never be accepted. `limitExceeded` for several says nothing about a single one.
    fileprivate func isForGood(isAlone: Bool) -> Bool {
        switch self {
        case .badRequest, .permissionDenied: true
        case .limitExceeded: isAlone
        default: false
        }
    }
}
