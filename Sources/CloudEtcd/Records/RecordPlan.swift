import Cloud
import CloudAPI
import Domain

/// Changes to records of one zone, decided one by one and written in one transaction, which fails if the zone's head
/// has changed.
struct RecordPlan: Sendable {
    /// Number of operations for a record: write it; write and delete its place in the feed and among the tombstones.
    private static let operationsPerRecord = 5
    /// Number of operations for the head, and for a timeline mark, which is stored under two keys.
    private static let otherOperations = 3
    /// Maximum size of a record in bytes, so that it fits into a request.
    static let recordBytesMax = EtcdTransaction.bytesMax - (64 << 10)

    private let zone: String
    private let keys: StoreKeys
    let headRevision: Int64
    private(set) var head: StoredHead
    let sequence: UInt64
    let quota: ZoneQuota
    private let usageBefore: ZoneUsage
    private(set) var usage: ZoneUsage
    private let stored: [RecordKey: StoredRecord]
    private var changed: [RecordKey: StoredRecord] = [:]
    private var bytes = 0
    let life: UInt64
    private let aliases: AliasBasis?
    private(set) var followed: AliasBasis.Step?
    /// Timeline mark to write; nil if this replica has written one since `life` last changed.
    let mark: TimelineMark?

    init(
        zone: String, keys: StoreKeys, head: StoredHead, headRevision: Int64, quota: ZoneQuota, usage: ZoneUsage,
        stored: [RecordKey: StoredRecord], life: UInt64, mark: TimelineMark? = nil, aliases: AliasBasis? = nil
    ) {
        self.quota = quota
        self.usage = usage
        usageBefore = usage
        self.aliases = aliases
        self.life = life
        self.mark = mark
        self.zone = zone
        self.keys = keys
        self.head = head
        sequence = head.sequence
        self.headRevision = headRevision
        self.stored = stored
    }

    var isEmpty: Bool { changed.isEmpty }

    var records: [RecordKey: StoredRecord] { stored.merging(changed) { $1 } }

    /// Nil if the request has no room for the record.
    mutating func merge(_ record: SyncRecord, now: WallTime) -> RecordOutcome? {
        let present = changed[record.key] ?? stored[record.key]
        let intake = RecordIntake.decide(
            record, onto: present?.record, now: now, accepted: head.accepted, usage: usage, quota: quota)
        switch intake {
        case .unchanged: return RecordOutcome(fate: .unchanged, record: present?.record)
        case .clockSkew: return RecordOutcome(fate: .clockSkew, record: present?.record)
        case .tooManyProperties: return RecordOutcome(fate: .tooManyProperties, record: present?.record)
        case .quotaExceeded(let excess): return RecordOutcome(fate: .quotaExceeded(excess), record: present?.record)
        case .changed(let merged, let change):
            let next = StoredRecord(
                record: merged, sequence: head.sequence + 1,
                tombstoneTime: RecordIntake.tombstoneTime(of: merged))
            let size = next.bytes.count + 4 * (record.key.name.utf8.count + 200)
            guard size <= Self.recordBytesMax else {
                return RecordOutcome(fate: .tooManyProperties, record: present?.record)
            }
            let count = changed.count + (changed[record.key] == nil ? 1 : 0)
            var used = usage
            used.add(change)
            let shares = used.digits(from: usageBefore).count
            guard count * Self.operationsPerRecord + Self.otherOperations + shares <= EtcdTransaction.operationsMax,
                bytes + size <= EtcdTransaction.bytesMax
            else { return nil }
            if let aliases, let change = aliases.seen.book.change(with: merged) {
                switch aliases.decide(change) {
                case .refused(let fate): return RecordOutcome(fate: fate, record: present?.record)
                case .followed(let step): followed = step
                }
            }
            bytes += size
            usage = used
            head.used = StoredAmount(used.total)
            head.sequence += 1
            head.accepted = max(head.accepted, RecordIntake.newestMilliseconds(of: merged))
            changed[record.key] = next
            return RecordOutcome(fate: .changed(sequence: next.sequence), record: merged)
        }
    }

    func transaction(writer: String) throws(EtcdError) -> (transaction: EtcdTransaction, head: [UInt8]) {
        var head = head
        head.before = sequence
        head.types = Set(changed.keys.map(\.type.rawValue)).sorted()
        head.writer = writer
        let bytes = try head.bytes
        let headKey = keys.head(zone)
        var transaction = EtcdTransaction(compares: [EtcdCompare(key: headKey, revision: headRevision)])
        transaction.success = [.put(key: headKey, value: bytes)]
        if let mark { transaction.success += try mark.puts(of: zone, keys).map { .put(key: $0.key, value: $0.value) } }
        transaction.success += try usage.operations(from: usageBefore, in: zone, keys)
        for (key, next) in changed.sorted(by: { $0.value.sequence < $1.value.sequence }) {
            transaction.success += operations(key, from: stored[key], to: next)
        }
        if let followed { try followed.add(to: &transaction, in: zone, keys, writer: writer) }
        transaction.failure = [.range(EtcdRange(key: headKey))]
        return (transaction, bytes)
    }

    private func operations(_ key: RecordKey, from old: StoredRecord?, to next: StoredRecord) -> [EtcdOperation] {
        var operations: [EtcdOperation] = Self.puts(of: next, in: zone, keys).map { .put(key: $0.key, value: $0.value) }
        guard let old else { return operations }
        operations.append(.delete(key: keys.place(old.sequence, of: key.type, in: zone)))
        if let time = old.tombstoneTime {
            operations.append(.delete(key: keys.tombstone(old.sequence, at: time, in: zone)))
        }
        return operations
    }

    static func puts(of stored: StoredRecord, in zone: String, _ keys: StoreKeys) -> [EtcdPut] {
        let key = stored.record.key
        var puts = [
            EtcdPut(key: keys.record(key, in: zone), value: stored.bytes),
            EtcdPut(key: keys.place(stored.sequence, of: key.type, in: zone), value: Array(key.name.utf8)),
        ]
        if let time = stored.tombstoneTime {
            puts.append(
                EtcdPut(
                    key: keys.tombstone(stored.sequence, at: time, in: zone),
                    value: Array("\(key.type.rawValue)\u{0}\(key.name)".utf8)))
        }
        return puts
    }
}

extension RecordPlan {
    /// Nil if the value is invalid.
    static func recordKey(ofTombstone value: [UInt8]) -> RecordKey? {
        guard let end = value.firstIndex(of: 0), let type = String(validating: value[..<end], as: UTF8.self),
            let name = String(validating: value[(end + 1)...], as: UTF8.self)
        else { return nil }
        return RecordKey(type: RecordType(rawValue: type), name: name)
    }
}
