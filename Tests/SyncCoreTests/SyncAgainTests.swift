import Domain
import Testing

/// What is counted, reset and kept when a run, a session or a halt ends and another begins.
struct SyncAgainTests {
    private var bench = SessionBench()

    private static func home(pending: Int = 0, heldBack: Int = 0, epoch: String = "e1") -> SyncProgress {
        var progress = SyncProgress(
            epoch: epoch, zone: "zone home", zoneName: "home", tokens: .all("t0"), pending: pending)
        progress.heldBack = heldBack
        return progress
    }

    // MARK: Counters

    @Test mutating func counters_sayWhatWasDone() {
        bench.begin()
        let batch = OutboxBatch.records(1...2)
        bench.answer(.batchRead(batch))
        bench.fail(.limitExceeded)
        bench.settleDown()
        var expected = SyncCounters()
        (expected.runs, expected.complete, expected.pages, expected.batches) = (1, 1, UInt64(RecordType.known.count), 2)
        (expected.splits, expected.streamOpenings) = (1, 1)
        #expect(bench.status.counters == expected)
        let counts = [
            expected.failed, expected.cancelled, expected.polls, expected.pollsSkipped, expected.parked,
            expected.refreshVersion,
        ]
        #expect(counts.allSatisfy { $0 == 0 })
        #expect(bench.results.last?.run == 1)
        #expect(
            bench.results.last?.counts == [.deviceSettings: SyncCounts(pushed: 2)], "types without news are left out")

        bench.send(.triggered(.asked))
        bench.send(.cancelRequested)
        bench.settleDown()
        bench.send(.triggered(.asked))
        bench.answer(.progressRead(Self.home()))
        bench.fail(.notAuthenticated)
        #expect(bench.status.counters.cancelled == 1 && bench.status.counters.failed == 1)
        #expect(bench.status.counters.runs == 3 && bench.results.last?.run == 3)
        #expect((bench.status.lastSyncError?.kind, bench.status.lastResult) == (.notAuthenticated, bench.results.last))
    }

    @Test mutating func failedRuns_areCountedOneByOne() {
        for failed in 1...3 {
            if failed == 1 { bench.begin() } else { bench.send(.triggered(.asked)) }
            bench.fail(.serviceUnavailable)
            #expect(bench.status.counters.failed == UInt64(failed) && bench.results.count == failed)
            #expect(bench.status.counters.complete == 0 && bench.status.counters.cancelled == 0)
        }
    }

    /// A run that only told because something else was to be read is no complete one, and no failed one.
    @Test mutating func partialRun_isNotComplete_andEndsFailures() {
        bench.begin()
        var isTold = false
        for step in 1..<200 where bench.results.isEmpty {
            switch bench.operation {
            case .readBatch: bench.answer(.batchRead(.records(step...step)))
            case .fetch(.recording, _, _) where !isTold:
                isTold = true
                bench.send(.remoteChanged(types: [.host], host: .other))
            case let operation?: bench.answer(operation.emptyAnswer(at: bench.now))
            case nil: break
            }
        }
        #expect(bench.results.map(\.end) == [.partial])
        #expect(bench.status.counters.complete == 0 && bench.status.counters.failed == 0)
        #expect(bench.operation != nil, "the rest follows at once")
    }

    /// A batch that was told is progress like a page that was read: it ends a row of failures.
    @Test mutating func toldBatch_makesTheNextFailureTheFirst() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.fail(.network)
        bench.advance(by: .seconds(1))
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.answer(.progressRead(Self.home()))
        let batch = OutboxBatch.records(1...1)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch), .exact(at: bench.now)))
        bench.answer(.settled(MergeOutcome()))
        bench.fail(.network)
        #expect(bench.status.failures == 1)
    }

    // MARK: Stopping and starting

    @Test mutating func start_beginsAnew_afterAStop() {
        bench.begin()
        bench.answer(.batchRead(.records(1...4)))
        bench.fail(.limitExceeded)
        #expect(bench.status.queue.parts == 2)
        bench.send(.triggered(.localChange))
        bench.send(.stopRequested)
        // A stop stays one, whoever cancels the rest.
        bench.send(.cancelRequested)
        bench.settleDown()
        #expect(bench.status.mode == .stopped && bench.status.stream == .closed)
        #expect(!bench.status.isAgainWanted && bench.status.nextRetry == nil)
        bench.send(.streamOpened)
        bench.send(.remoteChanged(types: [.host], host: .other))
        #expect(bench.status.mode == .stopped && bench.status.lastPush == nil)

        bench.now = bench.now + .seconds(1000)
        bench.send(.started)
        #expect(bench.status.queue.parts == 0, "what was split is read anew")
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        #expect(bench.streamsOpened == 2)
        bench.send(.streamOpened)
        bench.answer(.progressRead(Self.home()))
        #expect(bench.operation == .correct(clockOffset: .zero), "the store may be another one")
        bench.settleDown()
        #expect(bench.results.map(\.trigger) == [.started, .started])
        #expect(bench.status.nextPoll == bench.now + .seconds(300))
    }

    @Test mutating func haltedSession_isStoppedAndStarted() {
        bench.begin()
        bench.fail(.notAuthenticated)
        bench.send(.started)
        #expect(bench.status.mode == .halted)
        bench.send(.stopRequested)
        #expect(bench.status.mode == .stopped && bench.status.halt == nil)
        bench.send(.stopRequested)
        bench.send(.started)
        #expect(bench.operation == .checkAccount)
    }

    /// What was asked for before the halt is asked for by whoever ends it.
    @Test(arguments: [SyncTrigger.asked, .resumed]) mutating func haltThatEnds_beginsAnew(trigger: SyncTrigger) {
        bench.begin()
        bench.send(.triggered(.localChange))
        bench.fail(.permissionDenied)
        #expect(!bench.status.isAgainWanted && bench.status.stream == .closed)
        for other in [SyncTrigger.localChange, .remoteChange, .networkGained, .poll, .retry, .started, .streamOpened] {
            bench.send(.triggered(other))
            #expect(bench.status.mode == .halted)
        }
        bench.send(.triggered(trigger))
        #expect(bench.operation == .checkAccount)
        bench.settleDown()
        bench.send(.streamOpened)
        bench.settleDown()
        #expect(bench.results.last?.trigger == trigger && bench.results.last?.end == .complete)
        #expect(bench.status.lastSyncError == nil)
    }

    @Test mutating func streamThatIsRefusedAtRest_isAnnounced() throws {
        bench.beginAndRest()
        var machine = bench.machine
        let failure = SyncFailure(.wrongCertificate, "another")
        let effects = machine.handle(.streamBroke(failure), at: bench.now, random: 0)
        let halt = try #require(SyncHalt(failure))
        #expect(effects.dropFirst() == [.announceHalt(halt), .closeEvents])
        #expect(machine.status.lastSyncError == failure && machine.status.lastResult == bench.results.last)
    }

    // MARK: Late words

    /// Failures that nothing waits for, and words of a stream that is down.
    @Test mutating func failureOfNothing_changesNothing() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        #expect(bench.operation == nil, "it waits for the stream")
        let waiting = bench.state
        bench.send(.storeFailed("late"))
        bench.send(.cloudFailed(SyncFailure(.notAuthenticated, "late")))
        #expect(bench.state == waiting)
        bench.send(.streamOpened)
        bench.settleDown()
        bench.send(.streamBroke(SyncFailure(.network, "reset")))
        let rest = bench.state
        bench.send(.remoteChanged(types: [.host], host: .other))
        bench.send(.streamOpened)
        bench.send(.streamHeard)
        #expect(bench.state == rest)
    }

    @Test mutating func wordsOfTheStream_areWords_whateverTheyTell() {
        bench.beginAndRest()
        for _ in 0..<3 {
            bench.advance(by: .seconds(40))
            bench.send(.remoteChanged(types: [.recording], host: .ours))
        }
        bench.send(.remoteChanged(types: [RecordType(rawValue: "Unheard")], host: .other))
        #expect(bench.operation == nil && bench.streamsClosed == 0)
        #expect((bench.status.lastPush, bench.status.isAgainWanted) == (bench.now, false))
    }

    /// A token for another zone is no halt of a run that ends anyway.
    @Test mutating func accountOfAnotherZone_doesNotHaltARunThatEnds() {
        bench.send(.started)
        bench.send(.cancelRequested)
        bench.answer(.accountChecked(.home(zone: "lab"), .exact(at: bench.now)))
        #expect(bench.status.mode == .idle && bench.results.map(\.end) == [.cancelled])
    }

    @Test(arguments: [SyncFailure.Kind.limitExceeded, .badRequest, .clockSkew])
    mutating func batchThatFailsAfterACancellation_isNotSplit(kind: SyncFailure.Kind) {
        bench.begin()
        bench.answer(.batchRead(.records(1...4)))
        bench.send(.cancelRequested)
        bench.fail(kind)
        #expect(bench.results.map(\.end) == [.cancelled])
        #expect(bench.status.counters.splits == 0 && bench.status.queue.parts == 0)
    }

    // MARK: What was split

    /// Parts of a batch are what the store had: where that may be another by now, it is read anew.
    @Test(arguments: ["corrected", "restamped", "adopted"]) mutating func parts_areForgotten(once: String) {
        bench.begin()
        bench.answer(.batchRead(.records(1...4)))
        bench.fail(.limitExceeded)
        #expect(bench.operation == .push(.records(1...2)))
        switch once {
        case "restamped": bench.fail(.clockSkew)
        case "corrected":
            bench.answer(.pushed(.taking(.records(1...2)), .off(by: .seconds(90), at: bench.now)))
            bench.answer(.settled(MergeOutcome()))
        default:
            bench.answer(.pushed(.taking(.records(1...2)), .exact(at: bench.now)))
            bench.answer(.settled(MergeOutcome()))
            bench.answer(.pageFetched(.page(.host, epoch: "e2")))
        }
        #expect(bench.status.queue.parts > 0)
        switch bench.operation {
        case .restamp where once == "restamped": bench.answer(.restamped)
        case .correct where once == "corrected": bench.answer(.corrected)
        case .adopt where once == "adopted": bench.answer(.adopted)
        case let operation: Issue.record("\(String(describing: operation))")
        }
        #expect(bench.status.queue.parts == 0)
    }

    /// While the store is adopted, what is known of it is still said.
    @Test mutating func status_saysWhatWasKnownLast_whileAStoreIsAdopted() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(epoch: "e2"), .exact(at: bench.now)))
        bench.send(.streamOpened)
        bench.answer(.progressRead(Self.home(pending: 9)))
        bench.answer(.adopted)
        #expect(bench.operation == .readProgress)
        #expect(bench.status.queue.pending == 9 && bench.status.epoch == "e1")
        #expect(bench.status.nextPoll == nil, "none is planned during a run")
    }

    // MARK: Repairs

    /// Each repair is made so many times in a run, and again so many times in the next.
    @Test(arguments: ["zone", "epoch", "refetch", "restamp", "split"]) mutating func repairs_areLimited_perRun(
        kind: String
    ) {
        var timing = SyncTiming()
        (timing.repairsMax, timing.pageRecordsMax) = (1, 2)
        bench = SessionBench(timing: timing)
        bench.begin()
        for run in 1...2 {
            var repairs = 0
            for _ in 0..<40 where bench.results.count < run {
                switch bench.operation {
                case .readBatch where kind == "restamp": bench.answer(.batchRead(.records(1...1)))
                case .push where kind == "restamp": bench.fail(.clockSkew)
                case .fetch where kind == "zone": bench.fail(.zoneNotFound)
                case .fetch(_, .some, _) where kind == "refetch": bench.fail(.changeTokenExpired(epoch: "e1"))
                case .fetch(_, nil, _) where kind == "refetch":
                    bench.answer(.pageFetched(.page(.host, token: "t1", moreComing: true)))
                case .fetch where kind == "epoch": bench.fail(.timelineLost(epoch: "e1"))
                case .fetch where kind == "split": bench.fail(.limitExceeded)
                case let operation?: bench.answer(operation.emptyAnswer(at: bench.now))
                case nil: break
                }
                switch bench.operation {
                case .createZone, .beginRefetch, .adopt, .restamp: repairs += 1
                case .fetch(_, _, 1): repairs = 1
                default: break
                }
            }
            #expect(repairs == 1, "\(kind), run \(run)")
            #expect(bench.status.mode == .waiting, "\(kind), run \(run)")
            bench.advance(by: .seconds(300))
            if case .opening = bench.status.stream { bench.send(.streamOpened) }
        }
    }

    /// The store went back and says another name for itself, too.
    @Test mutating func lostTimelineOfAnotherStore_isThatOfTheOther() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.fail(.timelineLost(epoch: "e2"))
        #expect(bench.operation == .adopt(.home(epoch: "e2"), .everything))
    }

    @Test mutating func pageOfAnotherType_isNotStored() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.recording, count: 3)))
        #expect(bench.status.mode == .waiting)
        #expect(bench.status.lastSyncError?.message == "the cloud sent Recording, asked for Host")
    }

    /// Where nothing is new the token may well be the same.
    @Test mutating func lastPage_mayHaveTheSameToken() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.host, token: "t0")))
        #expect(bench.operation == .apply(.page(.host, token: "t0")))
    }

    // MARK: Fairness

    /// If a type cannot be read, batches are still told, one in each run.
    @Test mutating func pageThatAlwaysFails_doesNotKeepBatchesFromBeingTold() {
        bench.begin()
        var told = 0
        for _ in 0..<200 where told < 4 {
            switch bench.operation {
            case .readBatch: bench.answer(.batchRead(.records(1...1)))
            case .fetch: bench.fail(.serviceUnavailable)
            case let operation?:
                if case .settle = operation { told += 1 }
                bench.answer(operation.emptyAnswer(at: bench.now))
            case nil: bench.pass(.seconds(1))
            }
        }
        #expect(told == 4)
        #expect(bench.results.count >= 3)
    }

    /// A stream that opens shows that the cloud answers: what failed before is not waited for, unless the cloud said how long.
    @Test(arguments: [nil, Duration.seconds(100)]) mutating func openedStream_endsAWait(limit: Duration?) {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.random = 1000
        bench.advance(by: .seconds(5))
        bench.fail(.network, retryAfter: limit ?? .seconds(60))
        if limit == nil {
            bench.send(.triggered(.asked))
            bench.fail(.network)
        }
        #expect(bench.status.mode == .waiting)
        bench.send(.streamOpened)
        #expect((bench.operation != nil) == (limit == nil))
    }

    @Test mutating func networkThatIsBack_opensTheStreamAtOnce_andItsWaitsBeginAnew() {
        bench.beginAndRest()
        bench.random = 1000
        for _ in 0..<4 {
            bench.send(.streamBroke(SyncFailure(.network, "reset")))
            guard case .waiting(let retryAt) = bench.status.stream else { break }
            bench.advance(by: retryAt - bench.now)
            bench.settleDown()
        }
        bench.send(.streamBroke(SyncFailure(.network, "reset")))
        let opened = bench.streamsOpened
        bench.send(.triggered(.networkGained))
        #expect(bench.streamsOpened == opened + 1)
        bench.send(.streamBroke(SyncFailure(.network, "reset")))
        #expect(bench.status.stream == .waiting(retryAt: bench.now + .seconds(1)))
        bench.send(.triggered(.asked))
        #expect(bench.streamsOpened == opened + 2)
    }

    // MARK: Polls

    /// Who has just read everything need not poll.
    @Test mutating func poll_isCountedFromTheLastFullRun() {
        bench.beginAndRest()
        bench.pass(.seconds(200))
        bench.send(.triggered(.localChange))
        bench.settleDown()
        #expect(bench.status.nextPoll == .origin + .seconds(300), "that run read nothing")
        bench.send(.triggered(.asked))
        bench.settleDown()
        #expect(bench.status.nextPoll == bench.now + .seconds(300))
        bench.send(.triggered(.asked))
        bench.fail(.network)
        #expect(bench.status.nextPoll == .origin + .seconds(500), "a failed one has read nothing")
    }

    // MARK: What is put off or held back

    /// What was left out of a batch is read again with it, so there is room for both.
    @Test mutating func recordsThatArePutOff_leaveRoomForTheOthers_andTheirTimeIsUsedOnce() {
        bench.begin()
        let batch = OutboxBatch.records(1...2)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: ["r1": .leaseHeld, "r2": .leaseHeld]), .exact(at: bench.now)))
        while let operation = bench.operation { bench.answer(operation.emptyAnswer(at: bench.now)) }
        #expect(bench.history.contains(.readBatch(recordsMax: 402, bytesMax: 1_048_576 + 1024)))
        #expect(bench.status.queue.putOff.count == 2)
        bench.advance(by: .seconds(30))
        #expect(bench.operation != nil)
        bench.answer(.progressRead(Self.home()))
        bench.fail(.network, retryAfter: .seconds(100))
        #expect(bench.status.queue.putOff.count == 2, "a run that failed decided nothing")
        bench.advance(by: .seconds(30))
        #expect(bench.operation == nil, "the cloud said how long")
        #expect(bench.machine.nextWake.map { $0 > bench.now } == true)
    }

    /// A run for what is held back may fail before it gets there; then that waits its full time.
    @Test mutating func heldBack_isNotAskedForAtOnce_whereItsRunFails() {
        bench.begin()
        let batch = OutboxBatch.records(1...1)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: ["r1": .quotaExceeded]), .exact(at: bench.now)))
        bench.settleDown()
        guard let due = bench.status.fullness?.retryAt else {
            Issue.record("it is not full")
            return
        }
        bench.advance(by: due - bench.now)
        #expect((bench.operation, bench.status.fullness?.retryAt) == (.readProgress, bench.now + .seconds(600)))
        bench.answer(.storeFailed("disk full"))
        #expect(bench.status.mode == .waiting)
        bench.send(.stopRequested)
        bench.send(.started)
        #expect(bench.status.fullness == nil, "a start knows of no lack of room")
    }

    /// A first run that ends before it knows that records are held back leaves them to the next, whatever that is for.
    @Test mutating func heldBackThatWasNotKnown_isTriedByAnyRun() {
        bench.send(.started)
        bench.send(.cancelRequested)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.send(.triggered(.localChange))
        for _ in 0..<30 {
            switch bench.operation {
            case .readProgress: bench.answer(.progressRead(Self.home(heldBack: 3)))
            case .retryHeldBack: bench.answer(.heldBackRetried(0))
            case let operation?: bench.answer(operation.emptyAnswer(at: bench.now))
            case nil: if case .opening = bench.status.stream { bench.send(.streamOpened) }
            }
        }
        #expect(bench.history.contains(.retryHeldBack(recordsMax: 50)))
        #expect(bench.status.queue.heldBack == 0, "none waits any more")
    }
}
