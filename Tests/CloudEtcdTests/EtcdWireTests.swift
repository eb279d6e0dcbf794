import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Foundation
import Logging
import MeterTestKit
import Testing

@testable import CloudEtcd

/// What is sent to etcd and read from it, without one.
struct EtcdWireTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func read(_ text: String) throws -> EtcdTransactionAnswer {
        try EtcdTransactionAnswer.read(bytes(text))
    }

    @Test func base64_isThatOfEverybodyElse() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ length) }
            var text: [UInt8] = []
            Base64.write(bytes, to: &text)
            #expect(String(decoding: text, as: UTF8.self) == Data(bytes).base64EncodedString())
            #expect(Base64.read(text) == bytes)
        }
    }

    @Test(arguments: ["A", "AA", "AAA", "=", "A===", "====", "AB==", "AAB=", "AA=A", "AA==AA==", "A-==", "AAA\n"])
    func base64_isNothingElse(_ text: String) { #expect(Base64.read(bytes(text)) == nil) }

    @Test func transaction_isThisText() {
        var transaction = EtcdTransaction(compares: [EtcdCompare(key: bytes("a"), revision: 7)])
        transaction.success = [
            .put(key: bytes("a"), value: bytes("x")), .delete(key: bytes("b")),
            .transaction(EtcdTransaction(success: [.range(EtcdRange(key: bytes("c")))])),
        ]
        var range = EtcdRange(prefix: bytes("d/"))
        (range.limit, range.revision, range.changedSince, range.isKeysOnly) = (3, 4, 5, true)
        transaction.failure = [.range(range)]

        let text = String(decoding: transaction.text, as: UTF8.self)

        #expect(
            text == #"{"success":[{"request_put":{"key":"YQ==","value":"eA=="}},"#
                + #"{"request_delete_range":{"key":"Yg=="}},"#
                + #"{"request_txn":{"success":[{"request_range":{"key":"Yw=="}}]}}],"#
                + #""compare":[{"target":"MOD","mod_revision":"7","key":"YQ=="}],"#
                + #""failure":[{"request_range":{"key":"ZC8=","range_end":"ZDA=","limit":"3","revision":"4","#
                + #""min_mod_revision":"5","keys_only":true}}]}"#)
        let empty = EtcdTransaction(success: [.put(key: bytes("a"), value: [])])
        #expect(String(decoding: empty.text, as: UTF8.self) == #"{"success":[{"request_put":{"key":"YQ=="}}]}"#)
    }

    @Test func prefix_endsWhereTheNextOneBegins() {
        #expect(EtcdRange.end(of: [1, 2]) == [1, 3])
        #expect(EtcdRange.end(of: [1, 255, 255]) == [2])
        #expect(EtcdRange.end(of: [255]) == [0])
    }

    @Test func answer_isRead_asEtcdWritesIt() throws {
        // From etcd 3.4.23.
        let answer = try read(
            #"{"header":{"cluster_id":"324952591200643719","member_id":"3319814642761637952","revision":"3","#
                + #""raft_term":"2"},"succeeded":true,"responses":[{"response_txn":{"header":{},"responses":"#
                + #"[{"response_range":{"header":{"revision":"2"},"kvs":[{"key":"YQ==","create_revision":"2","#
                + #""mod_revision":"2","version":"1","value":"dmE="}],"count":"1"}}]}},"#
                + #"{"response_put":{"header":{"revision":"3"}}}]}"#)

        #expect(answer.revision == 3)
        #expect(answer.succeeded)
        let nested = try #require(answer.transaction(0))
        #expect(!nested.succeeded)
        #expect(nested.range(0)?.entries == [EtcdEntry(key: bytes("a"), value: bytes("va"), revision: 2)])
        #expect(answer.results[1] == .put)
        #expect(answer.range(1) == nil)
        #expect(answer.transaction(9) == nil)
    }

    @Test(arguments: [
        "", "hello", "{}", "[]", "null", #"{"header":7}"#, #"{"header":{"revision":"x"}}"#,
        #"{"header":{"revision":"99999999999999999999"}}"#, #"{"header":{},"responses":[{}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"!"}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{}]}}]}"#,
    ])
    func garbage_isNoAnswer(_ text: String) {
        #expect(throws: (any Error).self) { try read(text) }
    }

    @Test(arguments: [
        ("etcdserver: mvcc: database space exceeded", 429, EtcdError.Code.noSpace, false),
        ("etcdserver: mvcc: required revision has been compacted", 400, .compacted, false),
        ("etcdserver: no leader", 503, .noLeader, true), ("etcdserver: leader changed", 503, .noLeader, true),
        ("etcdserver: request timed out", 503, .noLeader, true),
        ("etcdserver: request is too large", 400, .tooLarge, false),
        ("etcdserver: permission denied", 403, .permissionDenied, false),
        ("etcdserver: invalid auth token", 401, .notAuthenticated, false),
        ("etcdserver: too many requests", 429, .overloaded, true), ("something new", 500, .refused, false),
    ])
    func fault_meansThis(_ words: String, _ status: UInt, _ code: EtcdError.Code, _ isWorthAnotherTry: Bool) {
        let error = EtcdError(status: status, body: bytes(#"{"error":"\#(words)","code":1}"#), member: "http://m")

        #expect(error.code == code)
        #expect(error.isWorthAnotherTry == isWorthAnotherTry)
        #expect(error.message.contains("http://m"))
        // What to do is always there.
        #expect(error.message.split(separator: ". ").count >= 2)
    }

    private static let codes: [(EtcdError.Code, isWorthAnotherTry: Bool)] = [
        (.unreachable, true), (.timedOut, true), (.noLeader, true), (.overloaded, true), (.garbage, true),
        (.noSpace, false), (.compacted, false), (.notAuthenticated, false), (.permissionDenied, false),
        (.tooLarge, false), (.wentBack, false), (.damaged, false), (.refused, false), (.badSetting, false),
    ]

    /// A host is told what failed and what to do, and asks again in a moment: unless nothing but a person can mend it.
    @Test func eachFault_isTriedAgainOrNot_andToldAHost() {
        for (code, isWorthAnotherTry) in Self.codes {
            let error = EtcdError(code, "It failed: a.b. Do this. Or that")
            #expect(error.isWorthAnotherTry == isWorthAnotherTry, "\(code)")
            let failure = error.failure
            #expect(failure.code == (code == .damaged ? .internalError : .serviceUnavailable), "\(code)")
            #expect(failure.retryAfter == (code == .damaged ? nil : .seconds(5)), "\(code)")
            #expect(failure.message == "It failed: a.b; do this. Or that", "\(code)")
        }
        #expect(EtcdError(.refused, "It failed").failure.message == "It failed")
        #expect(EtcdError(.refused, "It failed").parts.remedy == nil)
    }

    @Test func fault_thatIsNoneOfEtcds_saysSo() {
        #expect(EtcdError(status: 404, body: bytes("<html>"), member: "m").code == .garbage)
        for status in [503, 504] as [UInt] {
            #expect(EtcdError(status: status, body: [], member: "m").code == .unreachable)
        }
        #expect(EtcdError(status: 200, body: bytes("{}"), member: "m").code == .garbage)
    }

    @Test(arguments: [
        "", "127.0.0.1:2379", "ftp://a:1", "http://", "http://a", "http://a:0", "http://a:99999", "http://a:1/x",
        "http://u@a:1", "http://[::1:2379", "http://a:1 b", "://a:1", "http://://a:1", "://http://a:1",
    ])
    func address_isRefused_whenItIsNone(_ url: String) {
        #expect(throws: EtcdError.self) { try EtcdSettings(urls: [url]).addresses() }
    }

    @Test func address_isTaken_butNoPasswordGoesOverANetworkInTheClear() throws {
        let urls = ["http://127.0.0.1:2379/", "https://etcd1.example:2379", "http://[::1]:1", "http://10.0.0.1:2379"]
        var settings = EtcdSettings(urls: urls)
        #expect(try settings.addresses()[0] == "http://127.0.0.1:2379")
        settings.user = "metercloud"
        #expect(throws: EtcdError.self) { try settings.addresses() }
        settings.urls.removeLast()
        #expect(try settings.addresses().count == 3)
    }
}

/// What lies under the keys.
struct StoredValueTests {
    private let keys = StoreKeys(prefix: "p/")

    private var lease: LeaseRecord {
        let holder = LeaseHolder(
            host: HostID(high: 1, low: 2), hostName: "Bench – ü \"x\"", session: SessionID(high: 3, low: 4),
            transport: .spp, acquiredAt: WallTime(millisecondsSince1970: 5))
        return LeaseRecord(
            state: .revoking(holder), token: .max,
            terms: LeaseTerms(timeToLive: .seconds(60), lockDelay: .seconds(20), policy: .strict),
            renewedAt: .origin + .seconds(9),
            grants: [
                LeaseGrant(requestID: RequestID(high: 8, low: 9), token: FencingToken(rawValue: 3)),
                LeaseGrant(requestID: RequestID(high: 6, low: 7), token: .max),
            ])
    }

    private func entry(_ value: [UInt8]) -> EtcdEntry { EtcdEntry(key: Array("p/k".utf8), value: value, revision: 1) }

    /// As a copy of an older version wrote it, which knows the last grant only.
    @Test func lease_ofAnOlderCopy_isRead() throws {
        var stored = StoredLease(lease, writer: "w")
        stored.earlier = nil

        let read = try StoredLease(entry(try stored.bytes)).record(renewedAt: .origin)

        #expect(!String(decoding: try stored.bytes, as: UTF8.self).contains("earlier"))
        #expect(read?.grants == lease.grants.suffix(1))
    }

    @Test func lease_comesBackWhole() throws {
        let bytes = try StoredLease(lease, writer: "w").bytes
        #expect(try StoredLease(entry(bytes)).record(renewedAt: lease.renewedAt) == lease)
        var free = lease
        free.state = .free
        #expect(
            try StoredLease(entry(try StoredLease(free, writer: "w").bytes)).record(renewedAt: free.renewedAt) == free)
    }

    @Test func noByteOfALease_traps() throws {
        let bytes = try StoredLease(lease, writer: "w").bytes
        for index in bytes.indices {
            for change in [UInt8(0), 0x22, 0x39, 0x7D, 0xFF] {
                var damaged = bytes
                damaged[index] = change
                // Either it is read, or it says that it is damaged.
                do {
                    _ = try SeenLease(entry(damaged), pulse: 0, at: .origin)
                } catch {
                    #expect(error.code == .damaged)
                }
            }
        }
    }

    @Test func noByteOfALine_traps() throws {
        let waiters = (UInt64(1)...2).map {
            Waiter(
                host: .numbered($0), name: "Host \"\($0)\" – ü", copy: .numbered($0 + 9),
                token: FencingToken(rawValue: $0))
        }
        let bytes = try StoredQueue(waiters, writer: "w").bytes
        #expect(try StoredQueue(entry(bytes)).queue == waiters)
        #expect(StoredQueue([waiters[0], waiters[0]], writer: "w").queue == nil, "nobody stands twice")
        #expect(
            StoredQueue(
                [Waiter(host: .numbered(1), name: "", copy: .numbered(1), token: FencingToken(rawValue: .max))],
                writer: "w"
            ).queue == nil)
        for index in bytes.indices {
            for change in [UInt8(0), 0x22, 0x39, 0x7D, 0xFF] {
                var damaged = bytes
                damaged[index] = change
                do {
                    let queue = try StoredQueue(entry(damaged)).queue
                    #expect(queue?.count ?? 2 == 2)
                } catch {
                    #expect(error.code == .damaged)
                }
            }
        }
    }

    @Test func noByteOfARecord_traps() throws {
        let stamp = Stamp(milliseconds: 1, counter: 2, host: HostID(high: 1, low: 1))
        let record = SyncRecord(
            key: RecordKey(type: .host, name: "a\nb"), properties: ["p": Register(value: .string("x"), stamp: stamp)])
        let stored = StoredRecord(record: record, sequence: 7, tombstoneTime: WallTime(millisecondsSince1970: 8))
        let bytes = stored.bytes
        #expect(try StoredRecord(entry(bytes)) == stored)
        for index in bytes.indices {
            for change in [UInt8(0), 0x0A, 0x22, 0x39, 0xFF] {
                var damaged = bytes
                damaged[index] = change
                do {
                    _ = try StoredRecord(entry(damaged))
                } catch {
                    #expect(error.code == .damaged)
                }
            }
        }
        #expect(throws: EtcdError.self) { try StoredRecord(entry([])) }
        #expect(throws: EtcdError.self) { try StoredHead(entry([0xFF])) }
    }

    @Test func renewals_comeBackWhole_andNoByteOfThemTraps() throws {
        var sheet = RenewalDigest()
        sheet.zones = ["home": ["port:/dev/a b": 7, "AA:BB:CC:DD:EE:FF": .max], "lab": ["m": 1]]
        let bytes = sheet.bytes
        #expect(try RenewalDigest(entry(bytes)) == sheet)
        #expect(try RenewalDigest(entry(RenewalDigest().bytes)).isEmpty)
        for index in bytes.indices {
            for change in [UInt8(0), 0x0A, 0x20, 0x2D, 0x39, 0xFF] {
                var damaged = bytes
                damaged[index] = change
                do {
                    _ = try RenewalDigest(entry(damaged))
                } catch {
                    #expect(error.code == .damaged)
                }
            }
        }
        for other in ["", "2\n", "1\n 5 m\n", "1\nz\n m 5\n", "1\nz\n 99999999999999999999 m\n"] {
            #expect(throws: EtcdError.self, "\(other)") { try RenewalDigest(entry(Array(other.utf8))) }
        }
    }

    @Test func untoldRenewals_goOutOnce_theLastOfEachLease_andNoMoreThanFit() {
        let pendingRenewals = PendingRenewals()
        for number in 0...RenewalDigest.renewalsMax {
            pendingRenewals.add(MeterPlace(zone: "z\(number % 3)", meter: "m\(number)"), pulse: 1)
        }
        pendingRenewals.add(MeterPlace(zone: "z0", meter: "m0"), pulse: 2)

        let sheets = [pendingRenewals.take(), pendingRenewals.take()]

        let counts = sheets.map { $0.zones.values.reduce(0) { $0 + $1.count } }
        #expect(counts == [RenewalDigest.renewalsMax, 1])
        #expect(sheets.compactMap { $0.zones["z0"]?["m0"] } == [2])
        #expect(pendingRenewals.take().isEmpty)
    }

    @Test func watchedKeys_tellWhatTheyAre() {
        #expect(keys.watched(keys.renewals) == .renewals)
        #expect(keys.watched(keys.head("home")) == .head(zone: "home"))
        #expect(keys.watched(keys.credential(hash: [1, 255])) == .credential)
        #expect(
            keys.watched(keys.lease(of: "port:/dev/a/b", in: "home")) == .lease(zone: "home", meter: "port:/dev/a/b"))
        let place = MeterPlace(zone: "home", meter: "port:/dev/a/b")
        #expect(keys.watched(keys.queue(at: place)) == .queue(place))
        for other in [
            keys.epoch, keys.zone("home"), keys.pulse(of: "m", in: "home"), keys.copy(.numbered(1)),
            Array("p/w/x".utf8), [255], [],
        ] {
            #expect(keys.watched(other) == nil)
        }
    }

    @Test func keys_areNeverEachOthers() {
        let types = [RecordType(rawValue: "a"), RecordType(rawValue: "a/b"), RecordType(rawValue: "a%2Fb")]
        let names = ["b", "b/c", "/c", "c"]
        let all = types.flatMap { type in names.map { keys.record(RecordKey(type: type, name: $0), in: "home") } }
        #expect(Set(all).count == all.count)
        #expect(
            StoreKeys.number(at: keys.place(0xABC, of: types[1], in: "z"), after: keys.feed("z", type: types[1]))
                == 0xABC)
    }
}

/// What a copy makes of etcd's answers about a lease.
struct LeasePlanTests {
    private let keys = StoreKeys(prefix: "p/")
    private let place = MeterPlace(zone: "home", meter: "m")

    private func record(_ host: UInt64, renewedAt seconds: Int = 0) -> LeaseRecord {
        let holder = LeaseHolder(
            host: HostID(high: 0, low: host), hostName: "h", session: SessionID(high: 0, low: host), transport: .ble,
            acquiredAt: WallTime(millisecondsSince1970: 0))
        return LeaseRecord(
            state: .held(holder), token: FencingToken(rawValue: host), terms: .standard,
            renewedAt: .origin + .seconds(seconds), grants: [])
    }

    private func job(_ result: LeaseRecord?, heedsTime: Bool = true) -> LeaseJob {
        LeaseJob(
            meter: "m", heedsTime: heedsTime, decide: { _ in LeaseJob.Step(record: result, deliver: {}) },
            fail: { _ in })
    }

    private func plan(_ jobs: [LeaseJob], on basis: SeenLease = .unknown) throws -> LeasePlan {
        try LeasePlan(jobs, at: place, aliases: SeenAliases(revision: 4), writer: "w") { _ in basis }
    }

    @Test func renewal_changesThePulseAlone_andComparesTheLeaseAndTheAliases() throws {
        let basis = SeenLease(record: record(1), revision: 5, pulse: 6)
        let plan = try plan([job(record(1, renewedAt: 60), heedsTime: false)], on: basis)

        #expect(plan.change == .pulse)
        let transaction = plan.transaction(keys)
        #expect(
            transaction.compares == [
                EtcdCompare(key: keys.lease(of: "m", in: "home"), revision: 5),
                EtcdCompare(key: keys.aliases(of: "home"), revision: 4),
            ])
        #expect(transaction.success == [.put(key: keys.pulse(of: "m", in: "home"), value: [])])
        #expect(transaction.failure.isEmpty, "it looks afterwards, at what a grant has in its answer")
        let failed = EtcdTransactionAnswer(revision: 0, succeeded: false, results: [])
        #expect(try plan.outcome(of: failed, revision: 12, keys: keys, now: .origin) == .failed)
        #expect(plan.look(keys).count == 3)
    }

    /// - Parameter created: how many of the last ones are created, each by another host.
    private func plans(_ count: Int, renewed: Int, zones: Int, created: Int = 0) throws -> [LeasePlan] {
        try (0..<count).map { number in
            let isCreated = number >= count - created
            let basis =
                isCreated ? .unknown : SeenLease(record: record(1), revision: Int64(100 + number), pulse: 6)
            let place = MeterPlace(zone: "z\(number % zones)", meter: "m\(number)")
            let isRenewal = number < renewed
            let job = LeaseJob(
                meter: place.meter, heedsTime: !isRenewal,
                decide: { [record] _ in
                    LeaseJob.Step(
                        record: isRenewal ? record(1, 60) : record(isCreated ? UInt64(number) : 2, 0), deliver: {})
                }, fail: { _ in })
            return try LeasePlan([job], at: place, aliases: SeenAliases(revision: 4), writer: "w") { _ in basis }
        }
    }

    /// Its neighbours would do without one whose lease is another's by now, so they are asked again without it.
    @Test func renewals_shareAComparison_andGrantsDoNot() throws {
        let all = try plans(5, renewed: 3, zones: 2)
        let request = LeaseRequest(all.reversed(), sharesPulses: true, keys: keys)

        #expect(request.parts.map(\.plan.place.meter) == ["m2", "m1", "m0", "m4", "m3"])
        #expect(request.parts.map(\.index) == [0, 0, 0, 1, 2])
        #expect(request.parts.map(\.isShared) == [true, true, true, false, false])
        guard case .transaction(let shared) = request.transaction.success.first else {
            Issue.record("\(request.transaction)")
            return
        }
        #expect(shared.compares.map(\.revision) == [102, 4, 101, 4, 100], "each lease, and each zone's aliases once")
        #expect(shared.success.count == 3 && shared.failure.isEmpty)
        #expect(request.transaction.success.count == 5, "one, two grants, and the marks of their zones")
        let apart = LeaseRequest(all, sharesPulses: false, keys: keys)
        #expect(apart.parts.map(\.index) == [0, 1, 2, 3, 4])
        #expect(apart.parts.allSatisfy { !$0.isShared })
        #expect(apart.transaction.success.prefix(5) == all.map { .transaction($0.transaction(keys)) }[...])
    }

    /// etcd counts the longest list of a transaction, and with it those of each one in it (`checkTxnRequest` in its
    /// api/v3rpc/key.go).
    @Test(arguments: 0...LeaseBatcher.leasesPerRequest)
    func request_isWithinWhatEtcdTakes(renewed: Int) throws {
        let count = LeaseBatcher.leasesPerRequest
        for zones in [1, 7, count] {
            for created in [0, (count - renewed) / 2, count - renewed] {
                let plans = try plans(count, renewed: renewed, zones: zones, created: created)
                let request = LeaseRequest(plans, sharesPulses: true, counters: try counters(of: plans), keys: keys)
                #expect(operations(of: request.transaction) <= EtcdTransaction.operationsMax)
                #expect(request.parts.count == count)
            }
        }
    }

    private func counters(of plans: [LeasePlan]) throws -> [LeaseCounters] {
        let created = Dictionary(grouping: plans.filter { $0.creation != nil }, by: \.place.zone)
        return try created.map { zone, plans in
            let hosts = plans.compactMap { $0.creation?.host }
            let terms = EtcdEntry(key: keys.zone(zone), value: try StoredTerms(.standard).bytes, revision: 1)
            let unknown: [EtcdEntry?] = Array(repeating: nil, count: hosts.count + 1)
            var counters = LeaseCounters(zone, hosts, [terms] + unknown, uncounted: 7, keys)
            for plan in plans { #expect(counters.add(plan.place.meter, for: plan.creation?.host) == nil) }
            return counters
        }
    }

    private static let server = Result { try EtcdServer.started() }

    /// With the limit that etcd has by itself.
    @Test(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
    func request_isTakenByARealEtcd() async throws {
        let client = try EtcdClient(
            try Self.server.get().settings, clock: .real,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let count = LeaseBatcher.leasesPerRequest
        for renewed in [0, 1, count / 2, count - 1, count] {
            let request = LeaseRequest(
                try plans(count, renewed: renewed, zones: count), sharesPulses: true, keys: keys)
            let answer = try await client.commit(request.transaction)
            #expect(request.parts.allSatisfy { answer.transaction($0.index)?.succeeded == false })
        }
        let tooMany = LeaseRequest(try plans(64, renewed: 64, zones: 64), sharesPulses: true, keys: keys)
        let error = await failure { _ = try await client.commit(tooMany.transaction) }
        #expect(error?.code == .tooLarge)
        await client.shutdown()
    }

    private func operations(of transaction: EtcdTransaction) -> Int {
        let own = max(transaction.compares.count, transaction.success.count, transaction.failure.count)
        let inner = (transaction.success + transaction.failure).map { operation in
            if case .transaction(let nested) = operation { operations(of: nested) } else { 0 }
        }
        return own + (inner.max() ?? 0)
    }

    @Test func grant_comparesLeaseAndPulse() throws {
        let basis = SeenLease(record: record(1), revision: 5, pulse: 6)
        let transaction = try plan([job(record(2))], on: basis).transaction(keys)

        #expect(transaction.compares.map(\.revision) == [5, 4, 6])
    }

    /// Renewals alone may cross each other: whatever else is decided holds only if nobody has renewed the lease since.
    @Test func pulse_isCompared_unlessNothingButThePulseIsAtStake() throws {
        let basis = SeenLease(record: record(1), revision: 5, pulse: 6)
        let rows: [(result: LeaseRecord?, heedsTime: Bool, isCompared: Bool)] = [
            (record(1, renewedAt: 60), false, false), (record(1, renewedAt: 60), true, true), (record(2), false, true),
            (record(2), true, true), (nil, false, true), (nil, true, true),
        ]
        for (index, row) in rows.enumerated() {
            let plan = try plan([job(row.result, heedsTime: row.heedsTime)], on: basis)
            let transaction = plan.transaction(keys)
            #expect(transaction.compares.map(\.revision) == (row.isCompared ? [5, 4, 6] : [5, 4]), "\(index)")
        }
    }

    @Test func oneThatChangesNothing_isComparedAllTheSame() throws {
        let transaction = try plan([job(nil)]).transaction(keys)

        #expect(transaction.compares.map(\.revision) == [0, 4, 0])
        #expect(transaction.success.isEmpty)
    }

    @Test func outcome_isDoneAgain_whenTheAnswerToTheFirstAttemptWasLost() throws {
        let plan = try plan([job(record(2))])
        guard case .lease(let value) = plan.change else {
            Issue.record("\(plan.change)")
            return
        }
        let there = EtcdEntry(key: keys.lease(of: "m", in: "home"), value: value, revision: 9)
        let answer = EtcdTransactionAnswer(
            revision: 0, succeeded: false,
            results: [.range(EtcdRangeAnswer(entries: [there])), .range(EtcdRangeAnswer())])

        let outcome = try plan.outcome(of: answer, revision: 12, keys: keys, now: .origin)

        #expect(outcome == .done(SeenLease(record: record(2), revision: 9, pulse: 0)))
    }

    @Test func outcome_isFromNow_whenSomebodyElseWasQuicker() throws {
        let plan = try plan([job(record(2))], on: SeenLease(record: record(1), revision: 5))
        let there = EtcdEntry(
            key: keys.lease(of: "m", in: "home"), value: try StoredLease(record(3), writer: "other").bytes, revision: 9)
        let answer = EtcdTransactionAnswer(
            revision: 0, succeeded: false,
            results: [.range(EtcdRangeAnswer(entries: [there])), .range(EtcdRangeAnswer())])

        let outcome = try plan.outcome(of: answer, revision: 12, keys: keys, now: .origin + .seconds(77))

        let found = SeenLease(record: record(3, renewedAt: 77), revision: 9, pulse: 0)
        #expect(outcome == .changed(LeasePlan.Found(lease: found, hasOtherAliases: true)))
        #expect(throws: EtcdError.self) { try plan.outcome(of: nil, revision: 1, keys: keys, now: .origin) }
        let empty = EtcdTransactionAnswer(revision: 0, succeeded: false, results: [])
        #expect(throws: EtcdError.self) { try plan.outcome(of: empty, revision: 1, keys: keys, now: .origin) }
    }

    @Test func outcome_isUnknown_whenTheAnswerWasLost_andSomebodyElseChangedTheLeaseSince() throws {
        let basis = SeenLease(record: record(1), revision: 5, pulse: 6)
        func outcome(of plan: LeasePlan, there revision: Int64) throws(EtcdError) -> LeasePlan.Outcome {
            let there = EtcdEntry(
                key: keys.lease(of: "m", in: "home"), value: try StoredLease(record(3), writer: "other").bytes,
                revision: revision)
            let answer = EtcdTransactionAnswer(
                revision: 0, succeeded: false,
                results: [.range(EtcdRangeAnswer(entries: [there])), .range(EtcdRangeAnswer())])
            return try plan.outcome(of: answer, mayBeDoneBefore: true, revision: 12, keys: keys, now: .origin)
        }
        let grant = try plan([job(record(2))], on: basis)

        #expect(throws: EtcdError.self) { try outcome(of: grant, there: 9) }
        // Renewed since and nothing else: nothing of it was ever written, nor will be.
        #expect(try outcome(of: grant, there: 5) != .done(basis))
        // Neither of them does harm when it is done twice.
        for harmless in [try plan([job(nil)], on: basis), try plan([job(record(1, renewedAt: 9))], on: basis)] {
            guard case .changed = try outcome(of: harmless, there: 9) else {
                Issue.record("\(harmless.change)")
                return
            }
        }
    }

    @Test func sights_neverGoBack() {
        let leaseCache = LeaseCache()
        leaseCache.update(SeenLease(record: record(2, renewedAt: 50), revision: 9, pulse: 0), at: place)
        // The answer to a renewal of the holder before comes late: its time is not the new holder's.
        leaseCache.update(SeenLease(record: record(1, renewedAt: 40), revision: 5, pulse: 8), at: place)

        #expect(leaseCache.lease(place) == SeenLease(record: record(2, renewedAt: 50), revision: 9, pulse: 8))
        leaseCache.update(pulse: 10, at: place, now: .origin + .seconds(60))
        #expect(leaseCache.lease(place).record?.renewedAt == .origin + .seconds(60))
        let again = leaseCache.update(SeenLease(record: record(2, renewedAt: 70), revision: 9, pulse: 10), at: place)
        #expect(!again.isNews)
        #expect(again.seen.record?.renewedAt == .origin + .seconds(60))
    }
}
