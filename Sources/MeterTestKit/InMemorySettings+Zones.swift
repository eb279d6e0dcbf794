package import Domain
package import Gateway
package import GatewayAPI

extension InMemorySettings {
    /// Properties that are set aside.
    struct Aside {
        var number: Int
        var reason: ParkedEntry.Reason
        var zone: String?
        var zoneName: String?
        var key: RecordKey
        var registers: [String: Register]
        var learned: WallTime
        var agedFrom: WallTime?
    }

    package func adopt(_ zone: SyncZone, _ entry: ZoneEntry) throws {
        try change { $0.enter(zone, entry) }
    }

    package func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) throws {
        try change { state in
            guard isComplete else { return state.record.failures += 1 }
            state.record = RunHistory(lastSuccess: wall)
            if let zone = state.zone?.identity, let serverTime, let visit = state.visits[zone] {
                state.visits[zone]?.serverTime = max(visit.serverTime, serverTime)
            }
        }
    }

    package func parked(limit: Int) -> [ParkedEntry] {
        let refused = state.parked.enumerated().map { number, parked in
            ParkedEntry(
                id: "r\(number + 1)", reason: parked.isRefused ? .refused : .unreadable, words: parked.reason,
                type: parked.key.type.rawValue, name: parked.key.name, values: [:],
                own: state.records[parked.key]?.hasStamp(of: state.clock.host) ?? false, zone: nil,
                at: WallTime(millisecondsSince1970: 0))
        }
        let aside = state.aside.map { aside in
            ParkedEntry(
                id: "a\(aside.number)", reason: aside.reason, words: aside.reason.rawValue,
                type: aside.key.type.rawValue, name: aside.key.name,
                values: aside.registers.mapValues { "\($0.value)" },
                own: aside.registers.values.contains { $0.stamp.host == state.clock.host }, zone: aside.zoneName,
                at: aside.learned)
        }
        return Array((refused + aside).prefix(max(limit, 0)))
    }

    package func restoreParked(_ id: String) throws -> ParkedRestore {
        try change { state in
            if let place = state.place(ofRefused: id) {
                let refused = state.parked[place]
                guard refused.isRefused else { return .nothing(because: refused.reason) }
                state.parked.remove(at: place)
                return .restored(properties: state.queue(refused.key), MergeOutcome())
            }
            guard let place = state.aside.firstIndex(where: { "a\($0.number)" == id }) else { return .unknown }
            let aside = state.aside[place]
            let part = SyncRecord(key: aside.key, properties: aside.registers)
            let merge = (state.records[aside.key] ?? SyncRecord(key: aside.key)).merging(part)
            guard !merge.isEmpty else { return .nothing(because: "what stands here is newer") }
            state.store(merge)
            state.tell(merge)
            state.aside[place].registers = aside.registers.filter { !merge.news.contains($0.key) }
            state.aside.removeAll { $0.registers.isEmpty }
            return .restored(properties: merge.news.count, MergeOutcome(changed: [aside.key]))
        }
    }

    package func dropParked(_ id: String) throws -> Bool {
        try change { state in
            let before = state.aside.count
            state.aside.removeAll { "a\($0.number)" == id }
            guard let place = state.place(ofRefused: id) else { return state.aside.count < before }
            state.parked.remove(at: place)
            return true
        }
    }

    package func ageParked(to confirmed: WallTime) throws -> Int {
        try change { state in
            let before = state.aside.count
            for index in state.aside.indices where state.aside[index].agedFrom == nil {
                state.aside[index].agedFrom = confirmed
            }
            let (old, host) = (confirmed + (.zero - parkedAgeMax), state.clock.host)
            state.aside.removeAll { aside in
                (aside.agedFrom ?? confirmed) < old && !aside.registers.values.contains { $0.stamp.host == host }
            }
            return before - state.aside.count
        }
    }
}

extension InMemorySettings.State {
    /// Implements `SyncRepository.adopt`.
    mutating func enter(_ zone: SyncZone, _ entry: ZoneEntry) {
        let left = self.zone
        let identity = zone.identity(after: left?.identity, name: left?.name)
        self.zone = (identity, zone.name)
        visits[identity] = SyncVisit(
            identity: identity, name: zone.name, serverTime: max(visits[identity]?.serverTime ?? 0, zone.serverTime))
        if let left, left.identity != identity, entry != .own {
            leave(left, bringsAll: entry == .another(bringsAll: true))
            comeBack(to: identity)
        }
        (epoch, accepted, tokens, seen, cursors, told, heldBack) = (zone.epoch, nil, [:], [:], [:], [:], [:])
        switch entry {
        case .everything, .another: for key in records.keys { _ = queue(key) }
        case .own:
            refetchEverything()
            let host = host
            for key in records.keys { _ = queue(key) { $0.property != nil && $1.host == host } }
        case .afterLong: return refetchEverything()
        }
        parked.removeAll(where: \.isRefused)
    }

    private var host: HostID { clock.host }

    private mutating func refetchEverything() {
        for type in RecordType.known { seen[type] = [] }
    }

    /// - Returns: how many entries wait now that did not before.
    fileprivate mutating func queue(
        _ key: RecordKey, where isMeant: (InMemorySettings.Slot, Stamp) -> Bool = { _, _ in true }
    ) -> Int {
        let before = outbox.count
        for slot in records[key]?.slots ?? [] where outbox[slot] == nil {
            guard let stamp = stamp(in: slot), isMeant(slot, stamp) else { continue }
            outbox[slot] = InMemorySettings.Waiting(stamp: stamp)
        }
        return outbox.count - before
    }

    private mutating func leave(_ zone: (identity: String, name: String), bringsAll: Bool) {
        for (key, record) in records {
            let slot = InMemorySettings.Slot(key: key, property: nil)
            if let deletion = record.deletion {
                deletionsElsewhere[zone.identity, default: [:]][key] = (deletion, outbox[slot] != nil)
            }
            outbox[slot] = nil
            let live = SyncRecord(key: key, properties: record.properties)
            records[key] = live.properties.isEmpty ? nil : live
            guard !bringsAll, !live.properties.isEmpty, !isBrought(live) else { continue }
            putAside(live.properties, of: key, because: .otherZone, zone: zone)
            for slot in live.slots { outbox[slot] = nil }
            records[key] = nil
        }
    }

    private func isBrought(_ record: SyncRecord) -> Bool {
        if record.hasStamp(of: host) { return true }
        let canonical = record.properties.values.compactMap { register -> String? in
            if case .string(let text) = register.value { text } else { nil }
        }
        switch record.key.type {
        case .deviceSettings: return met.contains(record.key.name)
        case .meterAlias: return met.contains(record.key.name) || !met.isDisjoint(with: canonical)
        default: return false
        }
    }

    private mutating func comeBack(to zone: String) {
        for (key, kept) in deletionsElsewhere.removeValue(forKey: zone) ?? [:] {
            let merge = (records[key] ?? SyncRecord(key: key)).merging(SyncRecord(key: key, deletion: kept.deletion))
            store(merge)
            if kept.isPending { tell(merge) }
        }
    }

    mutating func putAside(
        _ registers: [String: Register], of key: RecordKey, because reason: ParkedEntry.Reason,
        zone: (identity: String, name: String)?
    ) {
        guard !registers.isEmpty else { return }
        let place = aside.firstIndex { $0.key == key && $0.reason == reason && $0.zone == zone?.identity }
        if let place {
            aside[place].registers.merge(registers) { max($0, $1) }
            aside[place].agedFrom = nil
            return
        }
        aside.append(
            InMemorySettings.Aside(
                number: nextAside, reason: reason, zone: zone?.identity, zoneName: zone?.name, key: key,
                registers: registers, learned: learned))
        nextAside += 1
    }

    /// Updates what is set aside when the cloud lists a record: properties no newer than that are removed.
    mutating func outdateAside(_ listed: SyncRecord) {
        for index in aside.indices where aside[index].key == listed.key {
            aside[index].registers = aside[index].registers.filter { !listed.has($0, asNewAs: $1.stamp) }
        }
        aside.removeAll { $0.registers.isEmpty }
    }

    fileprivate func place(ofRefused id: String) -> Int? {
        guard id.first == "r", let number = Int(id.dropFirst()), parked.indices.contains(number - 1) else { return nil }
        return number - 1
    }
}

extension SyncRecord {
    fileprivate func hasStamp(of host: HostID) -> Bool { properties.values.contains { $0.stamp.host == host } }
}
