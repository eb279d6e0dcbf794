import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Synchronization
import Testing

@testable import CloudEtcd

/// Two copies of one cloud, each with a clock of its own.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdCopiesTests {
    private static let server = Result { try EtcdServer.started() }

    private let zone = "home"
    private let meter = "AA:BB:CC:DD:EE:FF"

    /// One copy: its engine, and its clock, which moves when a test says so.
    private final class Copy: Sendable {
        let engine: EtcdCloudEngine
        private let time: TestTime

        /// - Parameter repairs: whether it reads everything again and again, for what the watch left out.
        init(_ settings: EtcdSettings, startedAt seconds: Int, repairs: Bool = true) async throws {
            let time = TestTime(seconds)
            self.time = time
            let real = CloudClock.real
            var clock = real
            clock.now = { time.now }
            // It waits as long as was meant, by a clock that goes.
            clock.sleep = { until in
                let isRepair = until - time.now == EtcdCloudEngine.repairInterval
                try await real.sleep(real.now() + (isRepair && !repairs ? .seconds(100_000) : until - time.now))
            }
            engine = try await EtcdCloudEngine.open(settings, clock: clock)
        }

        var now: MonotonicTime { time.now }

        func advance(_ seconds: Int) { time.advance(seconds) }

        func acquire(
            _ meter: String, in zone: String, by host: UInt64, takeover: Bool = false,
            under terms: LeaseTerms = .standard
        ) async throws -> LeaseAnswer {
            let request = LeaseAcquire(
                requestID: .numbered(host), host: .numbered(host), hostName: "host \(host)", session: .numbered(host),
                previousSession: nil, timeToLive: .seconds(120), transport: .ble, policy: .keep)
            return try await engine.decideLease(of: meter, in: zone) { [time] in
                let circumstances = LeaseCircumstances(
                    now: time.now, wallNow: WallTime(millisecondsSince1970: 0), terms: terms)
                var request = request
                // From whoever has it.
                if takeover { request.takeover = $0.record?.token }
                return LeaseRules.acquire(request, of: $0, in: circumstances)
            }
        }

        func renew(_ meter: String, in zone: String, token: FencingToken, by host: UInt64) async throws -> LeaseRenewal?
        {
            try await engine.renewLeases([(meter, token)], session: .numbered(host), in: zone, under: .keep, at: now)
                .first
        }
    }

    private func withCopies(
        _ prefix: String = #function, _ body: (Copy, Copy) async throws -> Void
    ) async throws {
        var settings = try Self.server.get().settings
        settings.prefix = "\(prefix)/"
        // Years apart, and it means nothing.
        let (first, second) = (
            try await Copy(settings, startedAt: 1000), try await Copy(settings, startedAt: 500_000_000)
        )
        do {
            _ = try await first.engine.createZone(zone, terms: .standard)
            try await body(first, second)
        } catch {
            await first.engine.close()
            await second.engine.close()
            throw error
        }
        await first.engine.close()
        await second.engine.close()
    }

    private func token(_ answer: LeaseAnswer) -> FencingToken? {
        if case .granted(let record) = answer { record.token } else { nil }
    }

    @Test func lease_goesToAnother_onceThisCopyItselfSawItUnchangedLongEnough() async throws {
        try await withCopies { first, second in
            let token = try #require(token(try await first.acquire(meter, in: zone, by: 1)))
            // The copy that gave it out has seen nothing for years; the other one has just begun to look.
            let early = try await second.acquire(meter, in: zone, by: 2)
            second.advance(134)
            let stillEarly = try await second.acquire(meter, in: zone, by: 2)
            second.advance(1)

            let late = try await second.acquire(meter, in: zone, by: 2)

            #expect(self.token(early) == nil)
            #expect(self.token(stillEarly) == nil)
            #expect(self.token(late) == FencingToken(rawValue: token.rawValue + 1))
            let renewal = try await first.renew(meter, in: zone, token: token, by: 1)
            guard case .lost(.takenOver, _) = renewal else {
                Issue.record("\(String(describing: renewal))")
                return
            }
        }
    }

    /// One copy whose etcd answers through a relay, and another one.
    private func withRelayedCopy(
        _ prefix: String = #function, _ body: (Copy, AnswerRelay, Copy) async throws -> Void
    ) async throws {
        let server = try Self.server.get()
        let relay = try await AnswerRelay(to: server.clientPorts[0])
        try await withCopies(prefix) { first, second in
            var settings = server.settings
            settings.prefix = first.engine.client.settings.prefix
            settings.urls = [relay.url]
            let relayed = try await Copy(settings, startedAt: 77)
            try await body(relayed, relay, second)
            await relayed.engine.close()
        }
        try await relay.close()
    }

    /// The take-over is done, nobody hears so, a third host takes the meter from it, and only then it is asked again.
    @Test func takeover_isNotDoneTwice_whenItsAnswerIsLostAndAnotherHasTheLeaseSince() async throws {
        try await withRelayedCopy { relayed, relay, second in
            let before = try #require(token(try await relayed.acquire(meter, in: zone, by: 1)))
            relay.loseNextAnswer {
                let seen = try? await second.engine.lease(of: self.meter, in: self.zone)
                #expect(seen?.holder?.host == .numbered(2))
                let third = try? await second.acquire(self.meter, in: self.zone, by: 3, takeover: true)
                #expect(third.flatMap { self.token($0) } == FencingToken(rawValue: before.rawValue + 2))
            }

            let failure = await #expect(throws: CloudFailure.self) {
                _ = try await relayed.acquire(meter, in: zone, by: 2, takeover: true)
            }

            #expect(failure?.code == .serviceUnavailable)
            #expect(failure?.message.contains("not known whether") == true, "\(String(describing: failure))")
            let lease = try await relayed.engine.lease(of: meter, in: zone)
            #expect(lease?.holder?.host == .numbered(3))
            #expect(lease?.token == FencingToken(rawValue: before.rawValue + 2))
        }
    }

    @Test func grant_isToldAsItWasDone_whenItsAnswerIsLost() async throws {
        try await withRelayedCopy { relayed, relay, second in
            let before = try #require(token(try await relayed.acquire(meter, in: zone, by: 1)))
            relay.loseNextAnswer {}

            let taken = try await relayed.acquire(meter, in: zone, by: 2, takeover: true)

            #expect(token(taken) == FencingToken(rawValue: before.rawValue + 1))
            #expect(try await second.engine.lease(of: meter, in: zone)?.token == token(taken))
        }
    }

    /// Its retry finds what it wrote itself.
    @Test func claim_isToldAsItWasDone_whenItsAnswerIsLost() async throws {
        try await withRelayedCopy { relayed, relay, second in
            let held = try #require(token(try await relayed.acquire(meter, in: zone, by: 1)))
            let command = StoredCommand(
                CommandWish(
                    author: .numbered(2), meter: meter, token: held.rawValue, action: RelayActionBody(kind: "command")),
                holder: .numbered(1), holderName: "host 1")
            let losses = Atomic(0)
            func claim(_ copy: Copy) async throws -> Bool {
                try await copy.engine.decideCommand(.numbered(7), under: meter, in: zone) { stored, lease in
                    guard stored == nil, lease?.token == held, lease?.holder != nil else { return .init(false) }
                    // Between its look and its change.
                    if losses.wrappingAdd(1, ordering: .relaxed).oldValue == 0 { relay.loseNextAnswer {} }
                    return .init(true, storing: command)
                }
            }

            #expect(try await claim(relayed))
            #expect(try await !claim(second))
            #expect(try await !claim(relayed))
            let marks = try await second.engine.commandMarks()
            #expect(marks.map(\.requestID) == [.numbered(7)])
        }
    }

    @Test func takeover_revokesAndGrantsNothing_underStrict_whenItsAnswerIsLost() async throws {
        try await withRelayedCopy { relayed, relay, second in
            let before = try #require(token(try await relayed.acquire(meter, in: zone, by: 1)))
            // Over by the time that it asks again.
            relay.loseNextAnswer { relayed.advance(200) }

            let strict = LeaseTerms.standard.under(.strict)
            let taken = try await relayed.acquire(meter, in: zone, by: 2, takeover: true, under: strict)

            guard case .refused(let refusal) = taken else {
                Issue.record("\(taken)")
                return
            }
            #expect(refusal.reason == .revoking)
            let lease = try #require(try await second.engine.lease(of: meter, in: zone))
            #expect(lease.state == lease.holder.map { .revoking($0) })
            #expect(lease.holder?.host == .numbered(1))
            #expect(lease.token == before)
        }
    }

    @Test func renewalThroughOneCopy_holdsTheLease_againstTheOther() async throws {
        try await withCopies { first, second in
            let token = try #require(token(try await first.acquire(meter, in: zone, by: 1)))
            for _ in 0..<4 {
                _ = try await second.acquire(meter, in: zone, by: 2)
                second.advance(134)
                guard case .renewed = try await first.renew(meter, in: zone, token: token, by: 1) else {
                    Issue.record("lost")
                    return
                }
                second.advance(134)
                // Over by what this copy last saw, and yet not: the comparison shows the renewal.
                #expect(self.token(try await second.acquire(meter, in: zone, by: 2)) == nil)
            }
        }
    }

    @Test func revoke_doesNotBeginTheWaitAnew_forTheOtherCopy() async throws {
        try await withCopies { first, second in
            _ = try await first.acquire(meter, in: zone, by: 1)
            _ = try await second.acquire(meter, in: zone, by: 2)
            second.advance(134)
            _ = try await first.engine.decideLease(of: meter, in: zone) { LeaseRules.revoke($0) }

            #expect(token(try await second.acquire(meter, in: zone, by: 2)) == nil)
            second.advance(1)
            #expect(token(try await second.acquire(meter, in: zone, by: 2)) != nil)
        }
    }

    @Test func renewals_mayGoThroughAnyCopy() async throws {
        try await withCopies { first, second in
            let token = try #require(token(try await first.acquire(meter, in: zone, by: 1)))
            for round in 0..<6 {
                let copy = round % 2 == 0 ? second : first
                guard case .renewed = try await copy.renew(meter, in: zone, token: token, by: 1) else {
                    Issue.record("lost in round \(round)")
                    return
                }
            }
        }
    }

    @Test func tokens_areNeverUsedTwice_whenBothCopiesGiveThemOut() async throws {
        try await withCopies { first, second in
            let tokens = try await withThrowingTaskGroup(of: FencingToken?.self) { group in
                for host in UInt64(1)...40 {
                    group.addTask {
                        let copy = host % 2 == 0 ? first : second
                        return self.token(try await copy.acquire(meter, in: zone, by: host, takeover: true))
                    }
                }
                var tokens: [FencingToken] = []
                for try await token in group { if let token { tokens.append(token) } }
                return tokens
            }

            #expect(tokens.count == 40)
            #expect(Set(tokens).count == 40)
            #expect(try await first.engine.lease(of: meter, in: zone)?.token == tokens.max())
            #expect(try await second.engine.lease(of: meter, in: zone)?.token == tokens.max())
        }
    }

    @Test func lists_areExact_inBothCopies() async throws {
        try await withCopies { first, second in
            for number in 1...3 { _ = try await first.acquire("m\(number)", in: zone, by: 1) }
            #expect(try await second.engine.heldLeases(in: zone).map(\.meter) == ["m1", "m2", "m3"])
            let token = try #require(try await second.engine.lease(of: "m2", in: zone)?.token)

            _ = try await second.engine.decideLease(of: "m2", in: zone) {
                LeaseRules.release(token, session: .numbered(1), of: $0)
            }

            #expect(try await first.engine.heldLeases(in: zone).map(\.meter) == ["m1", "m3"])
            #expect(try await first.engine.leases(in: zone).map(\.meter) == ["m1", "m2", "m3"])
        }
    }

    @Test func records_areAllThere_whenBothCopiesWrite() async throws {
        try await withCopies { first, second in
            let sequences = try await withThrowingTaskGroup(of: [UInt64].self) { group in
                for writer in UInt64(0)..<8 {
                    group.addTask {
                        let copy = writer % 2 == 0 ? first : second
                        var sequences: [UInt64] = []
                        for round in UInt64(0)..<20 {
                            let batch = [record("w\(writer)", round, writer), record("shared", round, writer)]
                            let outcomes = try await copy.engine.modify(
                                batch, in: zone, now: WallTime(millisecondsSince1970: 1_795_000_000_000))
                            for case .changed(let sequence) in outcomes.map(\.fate) { sequences.append(sequence) }
                        }
                        return sequences
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }

            #expect(Set(sequences).count == sequences.count)
            #expect(try await second.engine.zone(zone)?.sequence == sequences.max())
            let all = try await first.engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 400).records
            #expect(all.count == 9)
            #expect(all.first { $0.key.name == "shared" }?.properties.count == 8)
        }
    }

    @Test func news_areToldToTheOtherCopy_andNotToTheOneThatMadeThem() async throws {
        try await withCopies { first, second in
            let (told, teller) = AsyncStream.makeStream(of: CloudNews.self)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await second.engine.run { teller.yield($0) } }
                group.addTask { await first.engine.run { _ in Issue.record("told of its own") } }
                do {
                    // Until the other copy hears of it, for there is no saying when its watch stands.
                    var heard = told.makeAsyncIterator()
                    group.addTask {
                        for round in UInt64(0)..<100_000 where !Task.isCancelled {
                            _ = try? await first.engine.modify(
                                [record("m", round, 1)], in: zone,
                                now: WallTime(millisecondsSince1970: 1_795_000_000_000))
                        }
                    }
                    // What was written before the watch stood may be told as a change of any type. Once it stands, of this
                    // type alone.
                    var changes: [CloudNews] = []
                    while changes.count < 1000, changes.last != .records(types: ["DeviceSettings"], zone: zone),
                        let change = await heard.next()
                    {
                        changes.append(change)
                    }
                    #expect(changes.last == .records(types: ["DeviceSettings"], zone: zone))
                    #expect(changes.allSatisfy { $0.namesDeviceSettings })
                    let granted = try await first.acquire(meter, in: zone, by: 1)
                    while case .records? = await heard.next() {}
                    #expect(token(granted) != nil)
                } catch {
                    Issue.record(error)
                }
                group.cancelAll()
            }
        }
    }

    /// They share a comparison, which fails, and then each has its own.
    @Test func renewalsOfOneCall_hold_whereAnotherCopyHasGivenOneAway() async throws {
        try await withCopies { first, second in
            let meters = (0..<10).map { "AA:BB:CC:DD:EE:0\($0)" }
            var leases: [(meter: String, token: FencingToken)] = []
            for meter in meters {
                leases.append((meter, try #require(token(try await first.acquire(meter, in: zone, by: 1)))))
            }
            _ = try #require(token(try await second.acquire(meters[3], in: zone, by: 2, takeover: true)))
            // It begins to look.
            _ = try await second.acquire(meters[0], in: zone, by: 2)
            second.advance(134)
            let requests = first.engine.leaseDesk.counts.requests

            let renewals = try await first.engine.renewLeases(
                leases, session: .numbered(1), in: zone, under: .keep, at: first.now)

            let lost = renewals.indices.filter { if case .renewed = renewals[$0] { false } else { true } }
            #expect(renewals.count == 10 && lost == [3])
            // Together; one by one; and of the one that failed that it is lost.
            #expect(first.engine.leaseDesk.counts.requests - requests == 3)
            // The other nine reached etcd, and hold where nothing else was heard of them for their whole time.
            second.advance(1)
            #expect(token(try await second.acquire(meters[0], in: zone, by: 2)) == nil)
        }
    }

    /// A dead host's lease goes to another as early through a copy that never renewed it.
    @Test func renewals_areSeenByTheOtherCopy_withoutReadingEverything() async throws {
        try await withCopies { first, _ in
            let second = try await Copy(first.engine.client.settings, startedAt: 9_000, repairs: false)
            let place = MeterPlace(zone: zone, meter: meter)
            let token = try #require(token(try await first.acquire(meter, in: zone, by: 1)))
            await second.engine.readAllNews { _ in }
            let (news, teller) = AsyncStream.makeStream(of: CloudNews.self)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await second.engine.run { teller.yield($0) } }
                // Until it has begun to look. It reads everything twice at most, then it only hears.
                let others = Task {
                    var host: UInt64 = 10
                    while !Task.isCancelled {
                        _ = try await first.acquire("usb:0483:0000:1", in: zone, by: host, takeover: true)
                        host += 1
                    }
                }
                _ = await news.first { _ in true }
                others.cancel()
                _ = await others.result
                group.addTask { await first.engine.run { _ in } }
                for _ in 0..<5 {
                    second.advance(20)
                    while second.engine.leaseCache.lease(place).record?.renewedAt != second.now {
                        guard case .renewed = try? await first.renew(meter, in: zone, token: token, by: 1) else {
                            Issue.record("lost")
                            group.cancelAll()
                            return
                        }
                    }
                }
                group.cancelAll()
            }
            second.advance(134)
            #expect(self.token(try await second.acquire(meter, in: zone, by: 2)) == nil)
            // The last renewals may have been told to nobody: as the comparison then shows, this counts anew from here.
            second.advance(135)
            #expect(
                self.token(try await second.acquire(meter, in: zone, by: 2))
                    == FencingToken(rawValue: token.rawValue + 1))
            await second.engine.close()
        }
    }

    @Test func news_areFoundByReading_whenTheWatchLeftThemOut() async throws {
        try await withCopies { first, second in
            let told = Mutex<[CloudNews]>([])
            let hear: @Sendable (CloudNews) async -> Void = { news in told.withLock { $0.append(news) } }
            await second.engine.readAllNews(hear)
            let granted = try await first.acquire(meter, in: zone, by: 1)
            _ = try await first.engine.modify(
                [record("m", 1, 1)], in: zone, now: WallTime(millisecondsSince1970: 1_795_000_000_000))

            await second.engine.readAllNews(hear)
            await second.engine.readAllNews(hear)

            guard case .granted(var lease) = granted else { return }
            lease.renewedAt = second.now
            #expect(
                told.withLock { $0 } == [
                    .records(types: ["DeviceSettings"], zone: zone), .lease(lease, meter: meter, zone: zone),
                ])
        }
    }
}

private func record(_ name: String, _ round: UInt64, _ writer: UInt64) -> SyncRecord {
    let stamp = Stamp(milliseconds: 1_795_000_000_000 + round, counter: 0, host: .numbered(writer))
    return SyncRecord(
        key: RecordKey(type: .deviceSettings, name: name),
        properties: ["w\(writer)": Register(value: .int(Int64(round)), stamp: stamp)])
}

extension CloudNews {
    fileprivate var namesDeviceSettings: Bool {
        if case .records(let types, _) = self { types.contains("DeviceSettings") } else { false }
    }
}

/// A clock that moves when a test says so.
final class TestTime: Sendable {
    private let seconds: Mutex<Int>

    init(_ seconds: Int) { self.seconds = Mutex(seconds) }

    var now: MonotonicTime { MonotonicTime.origin + .seconds(seconds.withLock { $0 }) }

    func advance(_ more: Int) { seconds.withLock { $0 += more } }
}
