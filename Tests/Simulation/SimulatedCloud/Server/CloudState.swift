import Cloud
import CloudAPI
import Domain

/// What the cloud's store holds: each commit is one whole state.
struct CloudState {
    var epoch = "e1"
    /// The first is where everybody begins.
    var zones: [CloudZone]
    /// By meter, of the first zone: who is away from it uses no meters.
    var leases: [LeaseRecord?]
    var tokenFloor = FencingToken(rawValue: 0)
    /// A backup was restored, and the wait after it is not over.
    var isRestoring = false

    init(meters: Int) {
        leases = Array(repeating: nil, count: meters)
        zones = CloudZone.names.map { CloudZone(name: $0) }
    }
}

/// A zone as the store has it: its records, and the timeline of its changes.
struct CloudZone {
    struct Stored {
        var record: SyncRecord
        var sequence: UInt64
        /// When it became a tombstone, and what the cloud's calendar said then; nil: it is none.
        var tombstone: Tombstone?
    }

    struct Tombstone {
        var since: TrueTime
        /// Milliseconds since 1970.
        var wall: Int64
    }

    /// What the cloud's clocks say at a change, and how a run's first change marks the timeline.
    struct Moment {
        var time: TrueTime
        var wall: Int64
        /// The id of the mark that this change sets; nil: this run has set one.
        var mark: UInt64?
    }

    static let names = ["home", "cabin"]

    let name: String
    let id: Zone.ID
    /// Somebody made it.
    var exists = false
    var sequence: UInt64 = 0
    /// Of purged tombstones.
    var floor: UInt64 = 0
    /// The greatest milliseconds of a stamp ever accepted.
    var accepted: UInt64 = 0
    var records: [RecordKey: Stored] = [:]
    /// By number.
    var marks: [TimelineMark] = []

    init(name: String) {
        self.name = name
        id = Zone.ID(ofEarlier: name, epoch: "e1")
    }

    enum Fate { case unchanged, changed, clockSkew }

    /// Takes one record as the engines do: refuses what is too far ahead, merges, gives a sequence to what is news.
    mutating func take(_ incoming: SyncRecord, at moment: Moment, merge: Merge) -> Fate {
        guard let newest = incoming.newestStamp else { return .unchanged }
        let latest = StampLimit.latest(now: UInt64(clamping: moment.wall), accepted: accepted)
        guard newest.milliseconds <= latest else { return .clockSkew }
        let before = records[incoming.key]
        let merged = before.map { merge.merged($0.record, incoming) } ?? incoming
        guard merged != before?.record else { return .unchanged }
        if let id = moment.mark { marks.append(TimelineMark(after: marks.last, at: sequence, id: id)) }
        sequence += 1
        accepted = max(accepted, merged.newestStamp?.milliseconds ?? 0)
        records[incoming.key] = Stored(
            record: merged, sequence: sequence,
            tombstone: merged.isTombstone ? Tombstone(since: moment.time, wall: moment.wall) : nil)
        return .changed
    }

    /// Whether tombstones are there that became so before a date of the cloud's calendar.
    func hasTombstones(before wall: Int64) -> Bool {
        records.values.contains { $0.tombstone.map { $0.wall < wall } ?? false }
    }

    /// - Returns: those that went.
    mutating func purge(before wall: Int64) -> [RecordKey: Tombstone] {
        var gone: [RecordKey: Tombstone] = [:]
        for (key, stored) in records {
            guard let tombstone = stored.tombstone, tombstone.wall < wall else { continue }
            floor = max(floor, stored.sequence)
            gone[key] = tombstone
        }
        for key in gone.keys { records[key] = nil }
        marks.removeFirst(TimelineMark.outdated(marks, floor: floor).count)
        return gone
    }

    // MARK: The feed

    private func feed(_ epoch: String) -> FeedState {
        FeedState(zone: id, epoch: epoch, floor: floor, sequence: sequence, mark: marks.last)
    }

    /// Whether reading may go on after a token, by the cloud's own rule.
    func knows(_ token: ChangeToken, epoch: String) -> Bool {
        do {
            try feed(epoch).check(token, marks: marks)
            return true
        } catch {
            return false
        }
    }

    /// - Parameter heedsTimeline: false for a cloud as it was before there were marks.
    func changes(
        of type: RecordType, since text: String?, limit: Int, epoch: String, heedsTimeline: Bool
    ) throws(CloudFailure) -> ChangesPage {
        let token = text.flatMap { ChangeToken($0) }
        let feed = feed(epoch)
        var judged = token
        if !heedsTimeline { judged?.origin = nil }
        try feed.check(judged, marks: marks)
        let news = records.values.filter { $0.record.key.type == type && $0.sequence > token?.sequence ?? 0 }
            .sorted { $0.sequence < $1.sequence }
        let page = news.prefix(limit)
        let moreComing = news.count > page.count
        let next = feed.token(after: token, last: page.last?.sequence, moreComing: moreComing)
        return ChangesPage(
            type: type, records: page.map(\.record), token: next.description, moreComing: moreComing, epoch: epoch,
            zoneID: id.description)
    }
}

/// How records are merged and told: as they should be, or with the fault that a test plants.
struct Merge {
    var takesEqual: Bool
    /// A host tells the cloud what it lacks of a record that it sent.
    var tellsAgain: Bool

    func merged(_ mine: SyncRecord, _ theirs: SyncRecord) -> SyncRecord {
        guard takesEqual else { return mine.merged(with: theirs) }
        // What `>` turned into `>=` makes of it: of two equal stamps that which came last.
        var properties = mine.properties
        for (name, register) in theirs.properties where register.stamp >= properties[name]?.stamp ?? register.stamp {
            properties[name] = register
        }
        let deletion = [mine.deletion, theirs.deletion].compactMap { $0 }.max()
        return SyncRecord(key: mine.key, properties: properties, deletion: deletion)
    }
}
