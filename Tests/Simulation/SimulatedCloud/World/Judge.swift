import CloudAPI
package import Domain

/// Watches the whole run from outside, on true time, and notes the first promise that is broken.
package struct Judge {
    /// A change that was acknowledged to a user.
    private struct Change {
        var host: Int
        /// Where the host was when it was made; nil until it reaches its first zone.
        var zone: Int?
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

    /// A record of a zone.
    private struct Spot: Hashable {
        var zone: Int
        var key: RecordKey
    }

    package private(set) var violation: String?
    package private(set) var history: [LeaseOperation] = []
    private var granted: [(token: FencingToken, session: SessionID?)]
    /// By meter, whom each token was ever given to, also by a store that lost it.
    private var givenOut: [[FencingToken: SessionID]]
    private var changes: [Change] = []
    /// The greatest deletion of each record that the cloud accepted, also after it was purged.
    private var deletions: [Spot: Stamp] = [:]
    /// The zone in which each deletion was made.
    private var deletedIn: [Stamp: Int] = [:]
    /// Records whose tombstones the cloud or a host purged: what they hid may be back.
    private var forgotten: Set<RecordKey> = []
    /// Records that a host may have otherwise than the cloud at the end.
    private var excused: Set<Place> = []

    package init(meters: Int) {
        granted = Array(repeating: (FencingToken(rawValue: 0), nil), count: meters)
        givenOut = Array(repeating: [:], count: meters)
    }

    /// A promise is broken.
    package mutating func object(_ what: String) {
        if violation == nil { violation = what }
    }

    // MARK: Leases

    package mutating func record(_ operation: LeaseOperation) { history.append(operation) }

    /// An answer with a token leaves the server.
    mutating func grants(_ token: FencingToken, to request: LeaseAcquire, meter: Int) {
        let session = request.session
        let last = granted[meter]
        if let former = givenOut[meter][token], former != session, let seen = request.tokenFloor, token <= seen {
            object("meter \(meter): token \(token.rawValue) was given out twice, to a host that knew it")
        }
        givenOut[meter][token] = session
        if token < last.token || (token == last.token && session != last.session) {
            object("meter \(meter): token \(token.rawValue) was granted after \(last.token.rawValue)")
        }
        granted[meter] = (token, session)
    }

    /// A request that was granted before others were is decided no more.
    mutating func repeats(
        _ call: CloudCall, _ response: CloudResponse, from before: LeaseRecord?, to after: LeaseRecord?
    ) {
        var isGranted = false
        if case .granted = response { isGranted = true }
        guard isGranted || before?.state != after?.state || before?.token != after?.token else { return }
        object("a late repetition of \(call.request.name) was decided anew: \(response.name)")
    }

    /// The store is as it was when a copy of it was made: tokens go on from there.
    mutating func storeWentBack(to state: CloudState) {
        for (meter, lease) in state.leases.enumerated() {
            granted[meter] = (lease?.token ?? FencingToken(rawValue: 0), lease?.holder?.session)
        }
    }

    /// - Parameter talkers: those that may talk to a meter now.
    package mutating func sees(talkers: [String], meter: Int) {
        if talkers.count > 1 { object("meter \(meter): \(talkers.joined(separator: " and ")) may both talk to it") }
    }

    // MARK: Changes

    package mutating func acknowledges(
        _ value: SettingValue?, of key: RecordKey, _ property: String?, stamp: Stamp, by host: Int,
        in zone: Int?
    ) {
        overwrites(key, property, by: host)
        if property == nil { deletedIn[stamp] = zone }
        changes.append(
            Change(
                host: host, zone: zone, key: key, property: property, value: value, stamps: [stamp], least: stamp))
    }

    /// A host reaches its first zone: what it wrote before comes along, deletions too.
    mutating func reaches(_ zone: Int?, by host: Int) {
        for index in changes.indices where changes[index].host == host && changes[index].zone == nil {
            changes[index].zone = zone
            guard changes[index].property == nil else { continue }
            for stamp in changes[index].stamps { deletedIn[stamp] = zone }
        }
    }

    /// What the same host wrote before is overwritten, whatever becomes of the stamp; also where it was killed in the
    /// middle of the write and nobody knows whether it is there.
    package mutating func overwrites(_ key: RecordKey, _ property: String?, by host: Int) {
        changes.removeAll { $0.host == host && $0.key == key && ($0.property == property || property == nil) }
    }

    /// - Parameter isCertain: false where the host was killed in the middle: the old stamps may still be there.
    package mutating func restamps(_ pairs: [(old: Stamp, new: Stamp)], by host: Int, isCertain: Bool) {
        guard !pairs.isEmpty else { return }
        let new = Dictionary(pairs, uniquingKeysWith: { $1 })
        for index in changes.indices where changes[index].host == host {
            guard let stamp = changes[index].stamps.lazy.compactMap({ new[$0] }).first else { continue }
            changes[index].stamps = (isCertain ? [] : changes[index].stamps) + [stamp]
            changes[index].least = isCertain ? stamp : min(changes[index].least, stamp)
            if changes[index].property == nil { deletedIn[stamp] = changes[index].zone }
        }
        // Whoever tells a restored cloud of it, whose calendar is behind, gives it an earlier stamp.
        for (spot, stamp) in deletions { if let moved = new[stamp] { deletions[spot] = min(stamp, moved) } }
    }

    /// The cloud merged a batch: a record only grows, whatever came first.
    mutating func merged(
        _ batch: OutboxBatch, _ outcome: PushOutcome, from before: [RecordKey: CloudZone.Stored],
        to after: [RecordKey: CloudZone.Stored]
    ) {
        for (record, result) in zip(batch.records, outcome.results) where result.failure == nil {
            guard let new = after[record.key]?.record, record.newestStamp != nil else { continue }
            let old = before[record.key]?.record ?? record
            guard new.merged(with: old).merged(with: record) != new else { continue }
            object("the cloud had \(record.key.name) as \(old), was told \(record) and has \(new)")
        }
    }

    /// An answer to a batch leaves the server.
    package mutating func accepted(_ batch: OutboxBatch, _ outcome: PushOutcome, in zone: Int) {
        for (record, result) in zip(batch.records, outcome.results) where result.failure == nil {
            accepted(record, in: zone)
        }
    }

    /// The cloud crashed: a deletion that is in its store then was accepted, also if no answer ever said so.
    mutating func survived(_ zones: [CloudZone]) {
        for (zone, state) in zones.enumerated() {
            for stored in state.records.values { accepted(stored.record, in: zone) }
        }
    }

    private mutating func accepted(_ record: SyncRecord, in zone: Int) {
        guard let stamp = record.deletion?.stamp else { return }
        let spot = Spot(zone: zone, key: record.key)
        deletions[spot] = max(deletions[spot] ?? stamp, stamp)
    }

    /// A batch reaches a zone: deletions are of the zone in which they were made.
    mutating func tells(_ batch: OutboxBatch, in zone: Int) {
        for record in batch.records {
            guard let deletion = record.deletion, let origin = deletedIn[deletion.stamp], origin != zone else {
                continue
            }
            object("\(record.key.name) was deleted in \(CloudZone.names[origin]), and \(CloudZone.names[zone]) is told")
        }
    }

    /// A host reads a zone anew or enters another one: whatever was no deletion's is there or listed as set aside.
    mutating func keeps(_ before: [RecordKey: SyncRecord], in replica: Replica, by host: String) {
        for (key, record) in before {
            let after = replica.records[key]
            for (name, register) in record.properties {
                let kept = [
                    after?.properties[name]?.stamp, after?.deletion?.stamp, replica.aside[key]?[name]?.stamp,
                ]
                if kept.contains(where: { $0.map { $0 >= register.stamp } ?? false }) { continue }
                object("\(host) drops \(key.name).\(name) = \(register), which nobody deleted")
            }
        }
    }

    /// Tombstones are purged.
    mutating func forgot(_ keys: [RecordKey]) { forgotten.formUnion(keys) }

    /// A host has read a type up to `token`: it has all that the cloud has before it.
    mutating func read(
        _ replica: Replica, upTo token: String, of type: RecordType, from cloud: CloudZone, epoch: String,
        by host: String
    ) {
        // A page of a store that went back since says nothing of this one.
        guard let token = ChangeToken(token), cloud.knows(token, epoch: epoch) else { return }
        for stored in cloud.records.values where stored.record.key.type == type && stored.sequence <= token.sequence {
            let key = stored.record.key
            let mine = replica.records[key] ?? SyncRecord(key: key)
            let merged = mine.merged(with: stored.record)
            // A tombstone may be gone here, with what it hid.
            guard forgotten.contains(key) ? merged.properties != mine.properties : merged != mine else { continue }
            object("\(host) has read up to \(token) and misses \(key.name) of \(stored.sequence)")
        }
    }

    /// A host that has not read a type once holds a record of it, and the cloud forgets that it was deleted.
    mutating func excuses(_ key: RecordKey, at host: Int) { excused.insert(Place(host: host, key: key)) }

    func isExcused(_ key: RecordKey, at host: Int, in zone: Int) -> Bool {
        excused.contains(Place(host: host, key: key))
    }

    /// After everything is healed and quiet.
    ///
    /// - Parameters:
    ///   - zones: the records of each, as the cloud has them.
    ///   - whereabouts: by host, the zone in which it is.
    package mutating func judgeEnd(_ zones: [[RecordKey: SyncRecord]], whereabouts: [Int]) {
        for (spot, stamp) in deletions where !forgotten.contains(spot.key) {
            let stored = zones[spot.zone][spot.key]
            guard stored?.deletion.map({ $0.stamp < stamp }) ?? true else { continue }
            object("the deletion \(stamp) of \(spot.key.name) was accepted and is lost")
        }
        for change in changes { judgeEnd(change, zones, in: whereabouts[change.host]) }
    }

    /// - Parameter zone: where its host is at the end, and where the change has to be: it comes along. A deletion does not.
    private mutating func judgeEnd(_ change: Change, _ zones: [[RecordKey: SyncRecord]], in zone: Int) {
        guard let property = change.property else {
            guard change.zone == zone, !isDeleted(change, zones, in: zone) else { return }
            object("the deletion \(change.least) of \(change.key.name) is lost")
            return
        }
        guard !isDeleted(change, zones, in: zone) else { return }
        let register = zones[zone][change.key]?.properties[property]
        // Of two with one stamp the greater value wins.
        let least = Register(value: change.value ?? .null, stamp: change.least)
        let survives = register.map { $0.value == change.value || $0 >= least } ?? false
        // What somebody overwrote in the zone that the host left was no longer its own.
        let isOverwritten = zones.indices.contains { other in
            guard other != zone else { return false }
            let theirs = zones[other][change.key]?.properties[property]
            return theirs.map { $0 > least && $0.value != change.value } ?? false
                || isDeleted(change, zones, in: other)
        }
        guard !survives, !isOverwritten else { return }
        object(
            "\(change.key.name).\(property) = \(change.value ?? .null) of \(change.least) is lost: "
                + "\(register.map { "\($0)" } ?? "nothing") is there")
    }

    private func isDeleted(_ change: Change, _ zones: [[RecordKey: SyncRecord]], in zone: Int) -> Bool {
        let stamps = [
            deletions[Spot(zone: zone, key: change.key)],
            zones[zone][change.key]?.deletion?.stamp,
        ]
        return stamps.compactMap { $0 }.max().map { $0 >= change.least } ?? false
    }

    private func max(_ left: Stamp, _ right: Stamp) -> Stamp { left < right ? right : left }
    private func min(_ left: Stamp, _ right: Stamp) -> Stamp { left < right ? left : right }
}
