import Testing

@testable import Domain

/// The parts of the session, each by itself and at its limits.
struct SyncPartsTests {
    @Test func times_areThoseOfTheDocumentation() {
        let timing = SyncTiming()
        #expect(timing.pageRecordsMax == 400 && timing.batchRecordsMax == 400 && timing.batchBytesMax == 1_048_576)
        #expect(timing.backoff == FullJitter(base: .seconds(1), ceiling: .seconds(300)))
        #expect(timing.fullBackoff == FullJitter(base: .seconds(30), ceiling: .seconds(600)))
        #expect(FullJitter() == timing.backoff)
        #expect(timing.fullRecordsMax == 50 && timing.repairsMax == 3)
        #expect(timing.rateLimitWaitMax == .seconds(3600) && timing.cleanUpInterval == .seconds(3600))
        #expect(timing.pollInterval == .seconds(300) && timing.putOffInterval == .seconds(30))
        #expect(timing.subscribeTimeout == .seconds(5) && timing.streamSilence == .seconds(45))
        #expect(timing.clockStep == .seconds(60) && ZoneEntry.absenceMax == .seconds(15_552_000))
    }

    /// The bound doubles from the base to the ceiling, and a wait lies anywhere up to it, the bound itself included.
    @Test func wait_isAnyPartOfABoundThatDoubles() {
        let jitter = FullJitter(base: .seconds(2), ceiling: .seconds(15))
        for (failures, bound) in [(0, 2), (1, 2), (2, 4), (3, 8), (4, 15), (5, 15), (1_000_000, 15), (-1, 2)] {
            #expect(jitter.bound(afterFailures: failures) == .seconds(bound))
            #expect(jitter.delay(afterFailures: failures, random: 1000) == .seconds(bound))
            #expect(jitter.delay(afterFailures: failures, random: 2001) == .seconds(bound))
            #expect(jitter.delay(afterFailures: failures, random: 0) == .zero)
            #expect(jitter.delay(afterFailures: failures, random: 1001) == .zero)
            #expect(jitter.delay(afterFailures: failures, random: 500) == .milliseconds(bound * 500))
        }
    }

    @Test func debounce_spreadsUpToItsWholeSpread() {
        for (random, milliseconds) in [(0, 2500), (500, 3500), (1000, 4500), (1001, 2500)] as [(UInt64, Int)] {
            var debounce = NetworkDebounce()
            debounce.pathChanged(to: .lost, at: .origin, random: random)
            debounce.pathChanged(
                to: NetworkPath(isSatisfied: true, interface: "eth0", kind: .wired), at: .origin, random: random)
            #expect(debounce.nextWake == .origin + .milliseconds(milliseconds))
        }
    }

    /// What is carried through where a run is cancelled, and what fails by the network.
    @Test func operations_areOfOneModeEach_andSomeAreFinishedWhateverHappens() {
        let batch = OutboxBatch.records(1...1)
        let outcome = PushOutcome(results: [], serverTime: 0)
        let all: [(SyncOperation, SyncMode, isExchange: Bool, completes: Bool)] = [
            (.readProgress, .readProgress, false, false), (.checkAccount, .account, true, false),
            (.createZone("home"), .createZone, true, false), (.adopt(.home(), .own), .fetch, false, false),
            (.correct(clockOffset: .zero), .modify, false, false),
            (.readBatch(recordsMax: 1, bytesMax: 1), .modify, false, false), (.push(batch), .modify, true, false),
            (.settle(batch, outcome), .modify, false, true), (.retryHeldBack(recordsMax: 1), .modify, false, false),
            (.restamp(clockOffset: .zero), .modify, false, true), (.beginRefetch(.host), .fetch, false, false),
            (.fetch(.host, since: nil, limit: 1), .fetch, true, false), (.apply(.page(.host)), .fetch, false, true),
            (.cleanUp, .cleanUp, false, false),
        ]
        for (operation, mode, isExchange, completes) in all {
            #expect(operation.mode == mode, "\(operation)")
            #expect(operation.isExchange == isExchange, "\(operation)")
            #expect(operation.completesStep == completes, "\(operation)")
        }
    }

    /// What becomes of a record among others, and of one alone, by the cloud's word for it.
    @Test func recordsResult_isDecidedPutOffOrLeft() {
        let one = OutboxBatch.records(1...1)
        let two = OutboxBatch.records(1...2)
        let decided: [SyncFailure.Kind?] = [nil, .badRequest, .permissionDenied, .quotaExceeded]
        let putOff: [SyncFailure.Kind?] = [.readOnly, .leaseHeld]
        let left: [SyncFailure.Kind?] = [
            .clockSkew, .rateLimited, .serviceUnavailable, .network, .other, .zoneNotFound, .notAuthenticated,
            .changeTokenExpired(epoch: "e"), .timelineLost(epoch: "e"), .anotherZone(epoch: "e"), .wrongCertificate,
        ]
        let all: [SyncFailure.Kind?] = decided + putOff + left + [SyncFailure.Kind.limitExceeded]
        for kind in all {
            let result = PushResult(key: one.records[0].key, failure: kind.map { SyncFailure($0, "no") })
            #expect(result.isDecided(in: two) == decided.contains(kind), "\(String(describing: kind))")
            #expect(result.isDecided(in: one) == (decided.contains(kind) || kind == .limitExceeded))
            #expect(result.isPutOff == putOff.contains(kind))
            #expect(result.isTooLarge(in: two) == (kind == .limitExceeded))
            #expect(!result.isTooLarge(in: one))
            #expect(result.isRefusedForGood == (kind != nil && kind != .quotaExceeded))
        }
    }

    @Test func progressAndCounts_beginAtNothing() {
        #expect(SyncProgress() == SyncProgress(pending: 0, parked: 0))
        #expect((SyncProgress().pending, SyncProgress().parked, SyncProgress().heldBack) == (0, 0, 0))
        #expect(SyncProgress().record == RunHistory(lastSuccess: nil, failures: 0))
        #expect(RunHistory().failures == 0 && SyncProgress().record.failures == 0)
        #expect(SyncZone(id: nil, name: "home", epoch: "e1").serverTime == 0)
        let counts = SyncCounts(pushed: 1, fetched: 2, unchanged: 3, parked: 4)
        let sum = SyncResult(
            run: 1, trigger: .asked, startedAt: .origin, duration: .zero, counts: [.host: counts, .recording: counts],
            end: .complete)
        #expect((sum.total, sum.skipped) == (SyncCounts(pushed: 2, fetched: 4, unchanged: 6, parked: 8), 14))
    }

    // MARK: News

    @Test func news_areThePropertiesAndTheirAuthors() throws {
        func stamp(_ time: UInt64, _ host: HostID) -> Stamp { Stamp(milliseconds: time, counter: 0, host: host) }
        let key = RecordKey(type: .deviceSettings, name: "m")
        let before = SyncRecord(key: key, properties: ["a": Register(value: .int(1), stamp: stamp(10, .ours))])
        let written = SyncRecord(
            key: key,
            properties: [
                "b": Register(value: .int(2), stamp: stamp(11, .other)),
                "c": Register(value: .int(3), stamp: stamp(11, .other)),
            ])
        let deleted = SyncRecord(key: key, deletion: Deletion(stamp: stamp(20, .ours)))

        #expect(RecordNews(before.merging(before)) == nil)
        let news = try #require(RecordNews(before.merging(written)))
        #expect(news.key == key && news.properties == ["b", "c"] && !news.isDeleted && news.hosts == [.other])
        let end = try #require(RecordNews(before.merging(deleted)))
        #expect(end.properties.isEmpty && end.isDeleted && end.hosts == [.ours])
        // What was deleted before is no news of whoever deleted it.
        let gone = before.merging(deleted).after
        let later = SyncRecord(key: key, properties: ["d": Register(value: .int(1), stamp: stamp(30, .other))])
        let again = try #require(RecordNews(gone.merging(later)))
        #expect(!again.isDeleted && again.hosts == [.other])
    }

    // MARK: The schedule

    @Test func schedule_beginsAnew() {
        var schedule = RunSchedule()
        schedule.start(at: .origin + .seconds(1000))
        #expect(schedule.nextPoll(SyncTiming()) == .origin + .seconds(1300))
        schedule.everythingRead(at: .origin + .seconds(1100))
        #expect(schedule.nextPoll(SyncTiming()) == .origin + .seconds(1400))

        var asked = RunSchedule()
        asked.failed(2, retryAt: .origin + .seconds(9), isLimit: true)
        asked.forgetWhoAsked()
        #expect(asked.nextRetry == nil && asked.again == nil)
        asked.ask(.poll)
        #expect(asked.nextRetry == .origin + .seconds(9))
        asked.clear()
        #expect(asked.nextRetry == nil && asked.again == nil)
        asked.ask(.poll)
        #expect(asked.take(at: .origin)?.trigger == .poll, "nothing is waited for any more")

        // Nothing was reported yet.
        var fresh = RunSchedule()
        let polls = fresh.poll(at: .origin + .seconds(300))
        #expect(polls)
    }

    // MARK: The clock

    /// A step exactly as great as allowed is none, in either direction.
    @Test(arguments: [(60_000, false), (60_001, true), (-60_000, false), (-60_001, true), (0, false)])
    func clockStep_isMoreThanAMinute(milliseconds: Int, isNews: Bool) {
        var clock = CloudClock()
        #expect(clock.news(beyond: .seconds(60)) == nil)
        clock.measure(.exact(at: .origin), at: .origin)
        #expect(clock.news(beyond: .seconds(60)) == .zero, "the first is told, whatever it is")
        clock.storeWasTold(.zero)
        clock.measure(.off(by: .milliseconds(milliseconds), at: .origin), at: .origin)
        #expect(clock.news(beyond: .seconds(60)) == (isNews ? .milliseconds(milliseconds) : nil))
        clock.startOver()
        #expect(clock.news(beyond: .seconds(60)) == .milliseconds(milliseconds))
    }

    @Test func offset_isClamped_andOutdoneByMoreThanBothErrors() {
        func offset(_ milliseconds: Int64, roundTrip: Int64) -> ServerOffset {
            ServerOffset(
                ClockSample(
                    serverTime: UInt64(1_000_000 + milliseconds - roundTrip / 2),
                    localTime: WallTime(millisecondsSince1970: 1_000_000), roundTrip: .milliseconds(roundTrip)),
                at: .origin)
        }
        let sharp = offset(1000, roundTrip: 2)
        for (other, isOutdone) in [(1101, false), (1102, true), (899, false), (898, true), (1000, false)] {
            #expect(sharp.isOutdone(by: offset(Int64(other), roundTrip: 200)) == isOutdone, "\(other)")
        }
        let far = ClockSample(
            serverTime: .max, localTime: WallTime(millisecondsSince1970: .min), roundTrip: .zero)
        #expect(ServerOffset(far, at: .origin).offset == .milliseconds(Int64.max))
    }

    // MARK: The stream

    /// Words of a stream that is not there, or not yet, or there already.
    @Test func lateWord_changesNothing() {
        let moment = SyncMoment(now: .origin + .seconds(9), random: 1000)
        var stream = EventStream()
        for _ in 0..<2 {
            #expect(stream.opened(at: moment.now) == false)
            #expect(stream.pushed(at: moment.now) == false)
            stream.heard(at: moment.now)
            stream.broke(moment, SyncTiming())
            #expect(stream.state == .closed && stream.deadline(SyncTiming()) == nil)
            #expect(stream.close().isEmpty && stream.wake(moment, SyncTiming()).isEmpty)
            #expect(stream.hurry(at: moment.now).isEmpty)
            // The same after it was open, and ended.
            _ = stream.open(at: .origin)
            #expect(stream.pushed(at: moment.now) == false)
            #expect(stream.lastPush == nil)
            stream.heard(at: moment.now)
            #expect(stream.state == .opening(since: .origin))
            #expect(stream.opened(at: .origin) == true)
            #expect(stream.opened(at: moment.now) == false, "it is open already")
            #expect(stream.state == .open(since: .origin, lastHeard: .origin))
            #expect(stream.close() == [.closeEvents])
        }
        _ = stream.open(at: .origin)
        stream.broke(moment, SyncTiming())
        #expect(stream.opened(at: moment.now) == false)
        #expect(stream.pushed(at: moment.now) == false)
        stream.heard(at: moment.now)
        stream.broke(moment, SyncTiming())
        #expect(stream.state == .waiting(retryAt: .origin + .seconds(10)))
        #expect(stream.close().isEmpty)
    }

    @Test func push_isHeard_fromAnOpenStream() {
        var stream = EventStream()
        _ = stream.open(at: .origin)
        _ = stream.opened(at: .origin)
        #expect(stream.pushed(at: .origin + .seconds(3)) == true)
        #expect(stream.lastPush == .origin + .seconds(3))
        stream.heard(at: .origin + .seconds(4))
        #expect(stream.state == .open(since: .origin, lastHeard: .origin + .seconds(4)))
        #expect(stream.deadline(SyncTiming()) == .origin + .seconds(49))
    }

    /// Waits grow while a stream does not open or breaks soon; one that lasted begins anew, and so does one that is closed
    /// or whose network is back.
    @Test func waitForTheStream_growsWithFailures_andBeginsAnew() {
        let timing = SyncTiming()
        var stream = EventStream()
        var now = MonotonicTime.origin
        func fail(after milliseconds: Int?) -> Int64 {
            if case .closed = stream.state { _ = stream.open(at: now) }
            if case .waiting(let retryAt) = stream.state {
                now = retryAt
                #expect(stream.wake(SyncMoment(now: now + .milliseconds(-1), random: 1000), timing).isEmpty)
                #expect(stream.wake(SyncMoment(now: now, random: 1000), timing) == [.openEvents])
            }
            if let milliseconds {
                _ = stream.opened(at: now)
                now = now + .milliseconds(milliseconds)
            }
            stream.broke(SyncMoment(now: now, random: 1000), timing)
            guard case .waiting(let retryAt) = stream.state else { return -1 }
            return (retryAt - now).components.seconds
        }
        #expect(fail(after: nil) == 1)
        #expect(fail(after: nil) == 2)
        #expect(fail(after: 44_999) == 4)
        #expect(fail(after: 45_000) == 1)
        #expect(fail(after: nil) == 2)
        stream.forgetFailures()
        #expect(fail(after: nil) == 1)
        #expect(fail(after: 0) == 2)
        _ = stream.close()
        _ = stream.open(at: now)
        _ = stream.close()
        #expect(stream.state == .closed)
        #expect(fail(after: nil) == 1)
        #expect(stream.hurry(at: now) == [.openEvents])
        #expect(stream.state == .opening(since: now))
        #expect(stream.hurry(at: now).isEmpty)
    }

    /// Nobody answers: it is given up after the silence, counted from when it was asked for.
    @Test func streamThatNeverOpens_isGivenUp() {
        var stream = EventStream()
        _ = stream.open(at: .origin + .seconds(100))
        #expect(stream.subscribeDeadline(SyncTiming()) == .origin + .seconds(105))
        let early = SyncMoment(now: .origin + .milliseconds(144_999), random: 1000)
        #expect(stream.wake(early, SyncTiming()).isEmpty)
        #expect(stream.wake(SyncMoment(now: .origin + .seconds(145), random: 1000), SyncTiming()) == [.closeEvents])
        #expect(stream.state == .waiting(retryAt: .origin + .seconds(146)))
        #expect(stream.subscribeDeadline(SyncTiming()) == nil)
    }
}
