import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Testing

@testable import CloudEtcd

/// Keys, values and what this copy keeps in memory, without an etcd. What lies in it is read by copies of other versions
/// too.
struct EtcdLayoutTests {
    private let keys = StoreKeys(prefix: "p/")
    private let place = MeterPlace(zone: "home", meter: "port:pi:/dev/x")
    private let host = HostID(high: 0x1000_0000_0000_4000, low: 1)

    private func text(_ key: [UInt8]) -> String { String(decoding: key, as: UTF8.self) }

    // MARK: Keys

    @Test func keys_areThese() {
        let type = RecordType(rawValue: "a/b%c")
        let time = WallTime(millisecondsSince1970: 255)
        let made: [([UInt8], String)] = [
            (keys.mark(0x1F, of: "home"), "p/k/home/000000000000001f"),
            (keys.record(RecordKey(type: type, name: "n/m"), in: "home"), "p/r/home/a%2Fb%25c/n/m"),
            (keys.record(RecordKey(type: .host, name: "n"), in: "home"), "p/r/home/\(RecordType.host.rawValue)/n"),
            (keys.record(RecordKey(type: RecordType(rawValue: "a%"), name: "n"), in: "z"), "p/r/z/a%25/n"),
            (keys.record(RecordKey(type: RecordType(rawValue: "a/"), name: "n"), in: "z"), "p/r/z/a%2F/n"),
            (keys.shares("f", in: "home"), "p/u/home/f"),
            (keys.place(.max, of: .host, in: "home"), "p/x/home/\(RecordType.host.rawValue)/ffffffffffffffff"),
            (keys.tombstone(16, at: time, in: "home"), "p/t/home/00000000000000ff/0000000000000010"),
            (keys.lease(of: place.meter, in: "home"), "p/w/l/home/port:pi:/dev/x"),
            (keys.pulse(of: place.meter, in: "home"), "p/p/home/port:pi:/dev/x"),
            (keys.queue(at: place), "p/w/q/home/port:pi:/dev/x"),
            (keys.command(.numbered(1), in: "home"), "p/o/home/00000000-0000-4000-8000-000000000001"),
            (
                keys.commandShare(.numbered(1), of: host.description, in: "home"),
                "p/s/home/\(host)/00000000-0000-4000-8000-000000000001"
            ),
            (keys.credential(hash: [0, 0x09, 0x9A, 0xA0, 0xFF]), "p/w/k/00099aa0ff"),
        ]
        for (key, expected) in made { #expect(text(key) == expected) }
    }

    @Test func watchedKeys_areToldApart() {
        let all: [([UInt8], StoreKeys.Watched?)] = [
            (keys.head("home"), .head(zone: "home")), (keys.credential(hash: [1]), .credential),
            (keys.lease(of: place.meter, in: "home"), .lease(zone: "home", meter: place.meter)),
            (keys.queue(at: place), .queue(place)), (keys.renewals, .renewals),
            (keys.lease(of: "", in: "home"), .lease(zone: "home", meter: "")), (keys.zone("home"), nil),
            (Array("p/w/h".utf8), nil), (Array("p/w/b/x".utf8), nil), (Array("p/w/z/x".utf8), nil),
            (Array("p/w/l/home".utf8), nil), (Array("q/w/h/home".utf8), nil), (Array("p/w/h/".utf8) + [0xFF], nil),
            (Array("p/w/l/home/".utf8) + [0xFF], nil),
        ]
        for (key, what) in all { #expect(keys.watched(key) == what, "\(text(key))") }
    }

    @Test func numbers_sort_andAreReadBack() {
        let numbers: [UInt64] = [0, 9, 10, 15, 16, 255, 1 << 60, .max]
        let made = numbers.map { keys.place($0, of: .host, in: "home") }
        #expect(made.map { text($0) } == made.map { text($0) }.sorted())
        let feed = keys.feed("home", type: .host)
        #expect(made.map { StoreKeys.number(at: $0, after: feed) } == numbers)
        for rest in ["", "1", "00000000000000000", "000000000000000g"] {
            #expect(StoreKeys.number(at: feed + rest.utf8, after: feed) == nil, "\(rest)")
        }
        #expect(StoreKeys.number(at: made[0], after: keys.feed("lab", type: .host)) == nil)
        #expect(StoreKeys.text(of: keys.zone("home"), after: keys.allZones) == "home")
        #expect(StoreKeys.text(of: keys.head("home"), after: keys.allZones) == nil)
        #expect(StoreKeys.text(of: keys.allZones + [0xFF], after: keys.allZones) == nil)
    }

    @Test func sharesOfCommands_areReadBack() {
        let share = keys.commandShare(.numbered(1), of: host.description, in: "home")
        let mark = CommandMark(zone: "home", requestID: .numbered(1), author: host.description, mark: 7)
        #expect(keys.commandMark(EtcdEntry(key: share, value: [], revision: 7)) == mark)
        for other in [Array(share.dropLast()), share + [0x61], keys.command(.numbered(1), in: "home")] {
            #expect(keys.commandMark(EtcdEntry(key: other, value: [], revision: 7)) == nil)
        }
    }

    // MARK: Values

    private func entry(_ value: String) -> EtcdEntry {
        EtcdEntry(key: Array("k".utf8), value: Array(value.utf8), revision: 1)
    }

    private func entry(_ value: [UInt8]) -> EtcdEntry { EtcdEntry(key: Array("k".utf8), value: value, revision: 1) }

    @Test func record_comesBack_withItsPlace() throws {
        let record = SyncRecord(
            key: RecordKey(type: .host, name: "n"),
            properties: ["a": Register(value: .int(1), stamp: Stamp(milliseconds: 1, counter: 2, host: host))])
        for time in [nil, WallTime(millisecondsSince1970: -5)] {
            let stored = StoredRecord(record: record, sequence: 7, tombstoneTime: time)
            #expect(text(stored.bytes).hasPrefix("1 7 \(time == nil ? "-" : "-5")\n"))
            #expect(try StoredRecord(entry(stored.bytes)) == stored)
        }
        // The same as another program would write it.
        let words =
            "\(text(StoredRecord(record: record, sequence: 7, tombstoneTime: nil).bytes).dropFirst("1 7 -\n".count))"
        let spaced = "1 7 -\n " + words + " "
        #expect(try StoredRecord(entry(spaced)).record == record)
        for line in ["2 7 -", "1 7", "1 7 - 9", "1 x -", "", "7 1 -"] {
            #expect(throws: EtcdError.self, "\(line)") { try StoredRecord(entry(line + "\n" + words)) }
        }
        #expect(throws: EtcdError.self) { try StoredRecord(entry(words)) }
        #expect(throws: EtcdError.self) { try StoredRecord(entry("1 7 -\n{")) }
    }

    @Test func mark_comesBack() throws {
        let mark = TimelineMark(number: 3, id: .max, first: 9)
        let puts = try mark.puts(of: "home", keys)
        #expect(puts.map { text($0.key) } == ["p/n/home", "p/k/home/0000000000000003"])
        for put in puts { #expect(try TimelineMark(entry(put.value)) == mark) }
        #expect(text(puts[0].value).contains("\"id\":\"ffffffffffffffff\""))
        #expect(throws: EtcdError.self) { try TimelineMark(entry(#"{"number":1,"id":"xyz","first":1}"#)) }
        #expect(throws: EtcdError.self) { try Zone.ID(entry("no UUID")) }
    }

    private func lease(_ change: (inout LeaseRecord) -> Void = { _ in }) -> LeaseRecord {
        let holder = LeaseHolder(
            host: host, hostName: "pi", session: SessionID(high: 0x4000, low: 2), transport: .ble,
            acquiredAt: WallTime(millisecondsSince1970: 4))
        let grants = (1...3).map {
            LeaseGrant(requestID: RequestID(high: 0x4000, low: $0), token: FencingToken(rawValue: $0))
        }
        var record = LeaseRecord(
            state: .held(holder), token: FencingToken(rawValue: 3), terms: .standard,
            renewedAt: .origin + .seconds(5), grants: grants)
        change(&record)
        return record
    }

    private var revoking: LeaseRecord {
        lease { if case .held(let holder) = $0.state { $0.state = .revoking(holder) } }
    }

    @Test func lease_comesBack_inEachState() throws {
        let one = LeaseRecord(
            state: .free, token: FencingToken(rawValue: 3), terms: .standard, renewedAt: .origin + .seconds(5),
            grants: [LeaseGrant(requestID: RequestID(high: 0x4000, low: 1), token: FencingToken(rawValue: 3))])
        for record in [lease(), revoking, lease { $0.state = .free }, one] {
            let stored = StoredLease(record, writer: "w")
            let again = try StoredLease(entry(try stored.bytes))
            #expect(again == stored)
            #expect(again.record(renewedAt: record.renewedAt) == record)
        }
        #expect(StoredLease(one, writer: "w").earlier == nil)
        #expect(StoredLease(lease(), writer: "w").earlier?.map(\.token) == [1, 2])
    }

    @Test func leaseWithAWordThatIsNone_isDamaged() {
        let changes: [(String, (inout StoredLease) -> Void)] = [
            ("state", { $0.state = "lent" }), ("host", { $0.host = "x" }), ("no host", { $0.host = nil }),
            ("session", { $0.session = "x" }), ("transport", { $0.transport = "x" }), ("name", { $0.hostName = nil }),
            ("acquired", { $0.acquired = nil }), ("policy", { $0.terms.policy = "x" }),
            ("request", { $0.request = "x" }), ("earlier", { $0.earlier?[0].request = "x" }),
            ("token", { $0.token = .max }),
        ]
        for (what, change) in changes {
            var stored = StoredLease(lease(), writer: "w")
            change(&stored)
            #expect(stored.record(renewedAt: .origin) == nil, "\(what)")
        }
        var greatest = StoredLease(lease(), writer: "w")
        greatest.token = FencingToken.max.rawValue
        #expect(greatest.record(renewedAt: .origin)?.token == .max)
    }

    @Test func credential_comesBack_boundAndRevoked() throws {
        var credential = Credential(
            id: "1", hash: [1, 2], zone: "home", kind: .host, role: .full, label: "l",
            createdAt: WallTime(millisecondsSince1970: 1))
        for step in 0..<3 {
            if step > 0 { credential.binding = Credential.Binding(host: host, hostName: "pi", machine: "m") }
            if step > 1 { credential.revokedAt = WallTime(millisecondsSince1970: 9) }
            let stored = StoredCredential(credential, writer: "w")
            #expect(try StoredCredential(entry(try stored.bytes)).credential == credential)
        }
        for change in [{ $0.host = "x" }, { $0.hostName = nil }, { $0.machine = nil }]
            as [(inout StoredCredential) -> Void]
        {
            var stored = StoredCredential(credential, writer: "w")
            change(&stored)
            #expect(stored.credential == nil)
        }
    }

    @Test func terms_haveAQuotaOnlyWhereItIsAnother() throws {
        #expect(StoredTerms(.standard).quota == nil)
        #expect(StoredTerms(.standard, quota: .standard).quota == nil)
        let small = ZoneQuota(zone: QuotaAmount(bytes: 1, records: 2), host: QuotaAmount(bytes: 3, records: 4))
        let stored = StoredTerms(.standard, quota: small)
        #expect(try StoredTerms(entry(try stored.bytes)).quota?.quota == small)
        #expect(stored.terms == .standard)
    }

    // MARK: Shares

    @Test func shares_areWrittenByTheFirstDigit_andOnlyWhatChanged() throws {
        func id(_ digit: UInt64, _ low: UInt64) -> HostID { HostID(high: digit << 60 | 0x4000, low: low) }
        let (a, b) = (QuotaAmount(bytes: 1, records: 1), QuotaAmount(bytes: 2, records: 2))
        let before = ZoneUsage(total: b, hosts: [id(1, 1): a, id(1, 2): a, id(2, 1): a, id(3, 1): a])
        let after = ZoneUsage(total: b, hosts: [id(1, 1): b, id(1, 2): a, id(2, 1): a, id(4, 1): a])
        #expect(after.digits(from: before) == ["1", "3", "4"])
        let operations = try after.operations(from: before, in: "home", keys)
        #expect(operations.count == 3)
        guard case .put(let first, let value) = operations[0], case .delete(let second) = operations[1],
            case .put(let third, _) = operations[2]
        else {
            Issue.record("\(operations)")
            return
        }
        #expect([first, second, third].map { text($0) } == ["p/u/home/1", "p/u/home/3", "p/u/home/4"])
        let head = StoredHead(used: StoredAmount(b))
        #expect(try ZoneUsage(head, shares: [entry(value)]) == ZoneUsage(total: b, hosts: [id(1, 1): b, id(1, 2): a]))
        #expect(try ZoneUsage(StoredHead(), shares: [entry(value)]) == nil)
        #expect(throws: EtcdError.self) {
            try ZoneUsage(head, shares: [entry(#"{"hosts":{"x":{"bytes":1,"records":1}}}"#)])
        }
    }

    // MARK: Renewals

    @Test func digest_comesBack_andSortsItsLines() throws {
        let digest = RenewalDigest(zones: ["b": ["m 1": 7, "a": .max], "a": ["x": 1]])
        #expect(text(digest.bytes) == "1\na\n 1 x\nb\n \(Int64.max) a\n 7 m 1\n")
        #expect(try RenewalDigest(entry(digest.bytes)) == digest)
        #expect(try RenewalDigest(entry("1\n")).isEmpty)
        for bad in ["", "2\n", "1\n 1 x\n", "1\nz\n 1\n", "1\nz\n x y\n", "1\nz\n \n"] {
            #expect(throws: EtcdError.self, "\(bad)") { try RenewalDigest(entry(bad)) }
        }
    }

    @Test func renewals_areTakenOnce_inDigestsOfAtMostFourThousand() {
        let pending = PendingRenewals()
        #expect(pending.take().isEmpty)
        for count in [4000, 4001, 8001] {
            for number in 0..<count {
                pending.add(MeterPlace(zone: "z\(number % 2)", meter: "\(number)"), pulse: Int64(number))
            }
            var (sizes, seen) = ([Int](), [String: Int64]())
            while case let digest = pending.take(), !digest.isEmpty {
                sizes.append(digest.zones.values.reduce(0) { $0 + $1.count })
                for meters in digest.zones.values { seen.merge(meters) { $1 } }
            }
            #expect(sizes == Array(repeating: 4000, count: count / 4000) + (count % 4000 == 0 ? [] : [count % 4000]))
            #expect(seen == Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", Int64($0)) }))
        }
        pending.add(place, pulse: 1)
        pending.add(place, pulse: 2)
        #expect(pending.take().zones == ["home": [place.meter: 2]])
    }

    // MARK: Leases in memory

    private func seen(_ record: LeaseRecord?, at second: Int64, revision: Int64, pulse: Int64 = 0) -> SeenLease {
        var record = record
        record?.renewedAt = .origin + .seconds(second)
        return SeenLease(record: record, revision: revision, pulse: pulse)
    }

    private func renewed(_ cache: LeaseCache) -> MonotonicTime? { cache.lease(place).record?.renewedAt }

    /// Each row is what is seen next, whether that is news, and since when the lease counts as renewed after it.
    @Test func lease_countsFromItsFirstSight_andFromEachPulse_neverBack() {
        let cache = LeaseCache()
        #expect(cache.lease(place) == .unknown)
        let rows: [(SeenLease, isOwn: Bool, isNews: Bool, since: Int64)] = [
            (seen(lease(), at: 10, revision: 5, pulse: 3), false, true, 10),
            (seen(lease(), at: 20, revision: 5, pulse: 3), false, false, 10),
            (seen(lease(), at: 30, revision: 4, pulse: 3), false, false, 10),
            (seen(lease(), at: 40, revision: 5, pulse: 4), false, false, 40),
            (seen(lease(), at: 35, revision: 5, pulse: 6), false, false, 40),
            // That the holder was told to stop does not renew it; anything else does.
            (seen(revoking, at: 50, revision: 7, pulse: 6), false, true, 40),
            (seen(lease { $0.token = FencingToken(rawValue: 4) }, at: 60, revision: 8), false, true, 60),
            (seen(lease { $0.token = FencingToken(rawValue: 5) }, at: 70, revision: 9), true, false, 70),
            (seen(lease { $0.state = .free }, at: 80, revision: 10), false, true, 80),
        ]
        for (index, (seen, isOwn, isNews, since)) in rows.enumerated() {
            let update = cache.update(seen, at: place, isOwn: isOwn)
            #expect(update.isNews == isNews, "\(index)")
            #expect(update.seen == cache.lease(place), "\(index)")
            #expect(renewed(cache) == .origin + .seconds(since), "\(index)")
        }
        #expect(cache.lease(place).pulse == 6)
        for (pulse, second, since) in [(Int64(6), Int64(90), Int64(80)), (7, 91, 91), (8, 85, 91)] {
            cache.update(pulse: pulse, at: place, now: .origin + .seconds(second))
            #expect(renewed(cache) == .origin + .seconds(since), "\(pulse)")
        }
        #expect(cache.lease(place).pulse == 8)
        cache.update(pulse: 9, at: MeterPlace(zone: "home", meter: "other"), now: .origin)
        #expect(cache.lease(MeterPlace(zone: "home", meter: "other")) == .unknown)
    }

    /// The same lease, revoked and changed at once, counts anew.
    @Test func revocationWithOtherNews_countsAnew() {
        let others: [(String, (inout LeaseRecord) -> Void)] = [
            ("token", { $0.token = FencingToken(rawValue: 9) }),
            ("terms", { $0.terms = LeaseTerms(timeToLive: .seconds(61), lockDelay: .zero, policy: .strict) }),
            (
                "grants",
                {
                    $0 = LeaseRecord(
                        state: $0.state, token: $0.token, terms: $0.terms, renewedAt: $0.renewedAt,
                        grants: Array($0.grants.dropLast()))
                }
            ),
        ]
        for (what, change) in others {
            let cache = LeaseCache()
            cache.update(seen(lease(), at: 10, revision: 1), at: place)
            var other = revoking
            change(&other)
            cache.update(seen(other, at: 50, revision: 2), at: place)
            #expect(renewed(cache) == .origin + .seconds(50), "\(what)")
        }
    }

    @Test func leases_areCounted_andSorted_byZone() {
        let cache = LeaseCache()
        for meter in ["b", "a", "c"] {
            cache.update(seen(lease(), at: 1, revision: 1), at: MeterPlace(zone: "home", meter: meter))
        }
        cache.update(seen(lease { $0.state = .free }, at: 1, revision: 2), at: MeterPlace(zone: "home", meter: "c"))
        cache.update(seen(revoking, at: 1, revision: 1), at: MeterPlace(zone: "lab", meter: "d"))
        cache.update(seen(nil, at: 1, revision: 1), at: MeterPlace(zone: "lab", meter: "e"))
        #expect(cache.heldCount == 3)
        #expect(cache.all(in: "home").map(\.meter) == ["a", "b", "c"])
        #expect(cache.all(in: "lab").map(\.meter) == ["d"])
        #expect(cache.all(in: "none").isEmpty)
        #expect(cache.readThrough("home") == 0)
        for (revision, known) in [(5, 5), (3, 5), (6, 6)] as [(Int64, Int64)] {
            cache.wasRead("home", through: revision)
            #expect(cache.readThrough("home") == known)
        }
        #expect(cache.readThrough("lab") == 0)
    }

    // MARK: Heads

    @Test func heads_areReportedOnce_byTheTypesThatChanged() {
        func head(_ sequence: UInt64, before: UInt64, _ types: [String]) -> StoredHead {
            StoredHead(sequence: sequence, before: before, types: types)
        }
        let known = RecordType.known.map(\.rawValue)
        let cache = HeadCache()
        #expect(cache.see(head(5, before: 4, ["a"]), of: "home", isOwn: false) == nil, "as it was at the start")
        #expect(cache.see(head(5, before: 4, ["a"]), of: "home", isOwn: false) == nil)
        #expect(cache.see(head(6, before: 5, ["a"]), of: "home", isOwn: false) == ["a"])
        #expect(cache.see(head(6, before: 5, ["a"]), of: "home", isOwn: false) == nil, "once")
        #expect(cache.see(head(4, before: 3, ["a"]), of: "home", isOwn: false) == nil, "an older one")
        #expect(cache.see(head(7, before: 6, ["a"]), of: "home", isOwn: true) == nil, "its own it reports by itself")
        #expect(cache.see(head(9, before: 8, ["a", known[0]]), of: "home", isOwn: false) == known + ["a"])
        #expect(cache.see(head(11, before: 10, []), of: "home", isOwn: true) == known, "others were in between")
        cache.wrote("home", from: 11, to: 12)
        #expect(cache.see(head(12, before: 11, ["a"]), of: "home", isOwn: false) == nil)
        cache.wrote("home", from: 13, to: 14)
        #expect(cache.see(head(13, before: 12, ["b"]), of: "home", isOwn: false) == ["b"], "what it has not seen yet")
        cache.wrote("lab", from: 3, to: 4)
        #expect(cache.see(head(5, before: 4, ["c"]), of: "lab", isOwn: false) == ["c"])
    }

    // MARK: Settings

    @Test func settings_waitLessThanAHostDoes() {
        let settings = EtcdSettings(urls: ["http://127.0.0.1:1"])
        #expect((settings.answerTimeout, settings.patience) == (.seconds(3), .seconds(8)))
        #expect(throws: EtcdError.self) { try EtcdSettings(urls: []).addresses() }
    }
}
