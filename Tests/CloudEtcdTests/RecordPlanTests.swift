import Cloud
import Domain
import Testing

@testable import CloudEtcd

/// What one request changes: as many records as etcd takes at once, and not one more.
struct RecordPlanTests {
    private let keys = StoreKeys(prefix: "p/")
    private let zone = "home"
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_000)
    private static let much = QuotaAmount(bytes: 1 << 40, records: 1 << 40)

    /// A host whose id begins with this digit.
    private func host(_ digit: Int) -> HostID { HostID(high: UInt64(digit) << 60 | 0x4000, low: 1) }

    private func stamp(_ after: Int64, by digit: Int) -> Stamp {
        Stamp(milliseconds: UInt64(now.millisecondsSince1970 + after), counter: 0, host: host(digit))
    }

    private func record(_ name: String, _ value: SettingValue = .int(1), by digit: Int = 0, after: Int64 = 0)
        -> SyncRecord
    {
        SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: ["a": Register(value: value, stamp: stamp(after, by: digit))])
    }

    private func tombstone(_ name: String, by digit: Int, after: Int64 = 0) -> SyncRecord {
        SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name), deletion: Deletion(stamp: stamp(after, by: digit)))
    }

    private func plan(_ stored: [SyncRecord] = [], mark: TimelineMark? = nil) -> RecordPlan {
        var usage = ZoneUsage()
        for record in stored { usage.add(ZoneUsage(of: record)) }
        let places = stored.enumerated().map { index, record in
            let time = RecordIntake.tombstoneTime(of: record) == nil ? nil : now
            return (record.key, StoredRecord(record: record, sequence: UInt64(index + 1), tombstoneTime: time))
        }
        let head = StoredHead(sequence: UInt64(stored.count), accepted: 7, floor: 3, used: StoredAmount(usage.total))
        return RecordPlan(
            zone: zone, keys: keys, head: head, headRevision: 9, quota: ZoneQuota(zone: Self.much, host: Self.much),
            usage: usage, stored: Dictionary(uniqueKeysWithValues: places), life: 1, mark: mark)
    }

    /// Each record takes five operations at most, all shares that begin with one digit take one, and three are others.
    @Test(arguments: [(1, 24), (5, 24), (6, 23), (10, 23), (11, 22), (15, 22), (16, 21)])
    func plan_isFull_whereEtcdTakesNoMoreOperations(digits: Int, count: Int) {
        var plan = plan()
        for number in 0..<count {
            let outcome = plan.merge(record("m\(number)", by: number % digits), now: now)
            #expect(outcome?.fate == .changed(sequence: UInt64(number + 1)))
        }
        #expect(plan.merge(record("one more", by: 0), now: now) == nil)
        #expect(plan.merge(record("m0", by: 0), now: now)?.fate == .unchanged, "nothing has no need of room")
        let again = plan.merge(record("m0", .int(2), by: 0, after: 1), now: now)
        #expect(again?.fate == .changed(sequence: UInt64(count + 1)), "a record is written once")
        #expect(plan.records.count == count)
    }

    /// Tombstones that take the places of other tombstones, by other hosts, and a mark: the most there can be.
    @Test func fullestRequest_fits_andNamesNoKeyTwice() throws {
        for digits in 1...15 {
            let names = (0..<30).map { "m\($0)" }
            var plan = plan(
                names.map { tombstone($0, by: 15) }, mark: TimelineMark(number: 1, id: 2, first: 30))
            var count = 0
            while plan.merge(tombstone(names[count], by: count % digits, after: 1), now: now) != nil { count += 1 }

            let (transaction, head) = try plan.transaction(writer: "w")

            let changed = transaction.success.map { operation -> [UInt8] in
                switch operation {
                case .put(let key, _), .delete(let key): return key
                default: return []
                }
            }
            #expect(changed.count <= EtcdTransaction.operationsMax, "\(digits) digits")
            #expect(changed.count == 3 + min(digits, count) + 1 + 5 * count, "\(digits) digits")
            #expect(changed.count + 5 > EtcdTransaction.operationsMax - 1, "\(digits) digits: there was room for more")
            #expect(Set(changed).count == changed.count, "\(digits) digits")
            #expect(transaction.compares == [EtcdCompare(key: keys.head(zone), revision: 9)])
            #expect(transaction.failure == [.range(EtcdRange(key: keys.head(zone)))])
            let written = try StoredHead(EtcdEntry(key: keys.head(zone), value: head, revision: 1))
            #expect((written.before, written.sequence, written.floor) == (30, UInt64(30 + count), 3))
            #expect(written.types == [RecordType.deviceSettings.rawValue])
            #expect(written.writer == "w")
            #expect(written.accepted == UInt64(now.millisecondsSince1970) + 1)
            #expect(written.used?.amount == plan.usage.total)
        }
    }

    private func size(_ record: SyncRecord) -> Int {
        StoredRecord(record: record, sequence: 1, tombstoneTime: nil).bytes.count + 4
            * (record.key.name.utf8.count + 200)
    }

    /// A record that takes exactly as much of a request.
    private func record(_ name: String, ofSize bytes: Int) -> SyncRecord {
        record(name, .string(String(repeating: "x", count: bytes - size(record(name, .string(""))))))
    }

    /// Of one record, and of all in one request.
    @Test func bytes_areAsManyAsEtcdTakes_andNotOneMore() {
        let greatest = RecordPlan.recordBytesMax
        #expect(greatest == (1 << 20) - (1 << 16))
        var plan = plan()
        #expect(plan.merge(record("n", ofSize: greatest + 1), now: now)?.fate == .tooManyProperties, "it never fits")
        #expect(plan.isEmpty)
        #expect(plan.merge(record("m", ofSize: greatest), now: now)?.fate == .changed(sequence: 1))
        #expect(plan.merge(record("o", ofSize: (1 << 16) + 1), now: now) == nil, "the next request has room for it")
        #expect(plan.merge(record("p", ofSize: 1 << 16), now: now)?.fate == .changed(sequence: 2))
        #expect(plan.merge(record("q"), now: now) == nil)
    }

    @Test func tombstone_isNamedByItsEntry() {
        let tombstone = tombstone("a/b", by: 1)
        let stored = StoredRecord(record: tombstone, sequence: 5, tombstoneTime: now)
        let entry = RecordPlan.puts(of: stored, in: zone, keys)[2]
        #expect(entry.key == keys.tombstone(5, at: now, in: zone))
        #expect(RecordPlan.recordKey(ofTombstone: entry.value) == tombstone.key)
        for bad: [UInt8] in [[], Array("no end".utf8), [0xFF, 0, 0x61], [0x61, 0, 0xFF]] {
            #expect(RecordPlan.recordKey(ofTombstone: bad) == nil, "\(bad)")
        }
    }
}
