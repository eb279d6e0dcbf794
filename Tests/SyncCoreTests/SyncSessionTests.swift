import Domain
import Testing

struct SyncSessionTests {
    private var bench = SessionBench()

    // MARK: Order

    @Test mutating func firstRun_doesEachModeOnce_inTheirOrder() {
        bench.beginAndRest()

        var modes: [SyncMode] = []
        for mode in bench.history.map(\.mode) where mode != modes.last { modes.append(mode) }
        #expect((modes, bench.streamsOpened) == ([.account, .readProgress, .modify, .fetch, .cleanUp], 1))
        #expect((bench.results.map(\.end), bench.status.mode) == ([.complete], .idle))
    }

    @Test mutating func types_areReadInTheirFixedOrder_eachFromItsOwnToken() {
        bench.begin()
        bench.answer(.batchRead(nil))
        var read: [RecordType] = []
        while case .fetch(let type, let since, let limit) = bench.operation {
            #expect((since, limit) == ("t0", 400))
            read.append(type)
            bench.answer(.pageFetched(.page(type)))
            bench.answer(.applied(MergeOutcome()))
        }

        #expect((read, bench.operation) == (RecordType.known, .cleanUp))
    }

    @Test mutating func pages_followEachOther_fromTheTokenThatWasStored() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.host, count: 400, token: "t1", moreComing: true)))
        bench.answer(.applied(MergeOutcome()))

        #expect(bench.operation == .fetch(.host, since: "t1", limit: 400))
    }

    /// What was acknowledged but not listed is pushed in the same run, rather than with whatever comes next.
    @Test mutating func whatIsToldAgain_isTold_inTheSameRun() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.host)))
        var merge = MergeOutcome()
        merge.toldAgain = 1
        bench.answer(.applied(merge))

        #expect(bench.operation == .readBatch(recordsMax: 400, bytesMax: 1 << 20))
    }

    @Test mutating func batchesAndPages_alternate() {
        bench.begin()
        for turn in 1...5 {
            let batch = OutboxBatch.records(turn...turn)
            #expect(bench.operation == .readBatch(recordsMax: 400, bytesMax: 1 << 20))
            bench.answer(.batchRead(batch))
            #expect(bench.operation == .push(batch))
            bench.answer(.pushed(.taking(batch), .exact(at: bench.now)))
            bench.answer(.settled(MergeOutcome()))
            #expect(bench.operation == .fetch(.host, since: turn == 1 ? "t0" : "t\(turn)", limit: 400))
            bench.answer(.pageFetched(.page(.host, token: "t\(turn + 1)", moreComing: true)))
            bench.answer(.applied(MergeOutcome()))
        }
    }

    /// A host that keeps writing still hears what others wrote.
    @Test mutating func endlessOutbox_doesNotKeepNewsFromBeingRead() {
        bench.begin()
        var isTold = false
        var steps = 0
        while steps < 200 {
            steps += 1
            switch bench.operation {
            case .readBatch: bench.answer(.batchRead(.records(steps...steps)))
            case .fetch(.deviceSettings, _, _) where isTold: return
            case let operation?:
                bench.answer(operation.emptyAnswer(at: bench.now))
                if case .fetch(.recording, _, _) = operation, !isTold {
                    isTold = true
                    bench.send(.remoteChanged(types: [.deviceSettings], host: .other))
                }
            case nil: Issue.record("the machine rests although the outbox is full")
            }
        }
        Issue.record("the change was never read")
    }

    // MARK: One at a time

    @Test(arguments: 1...3) mutating func triggersDuringARun_causeOneMore(count: Int) {
        bench.begin()
        for _ in 0..<count { bench.send(.triggered(.asked)) }
        #expect(bench.status.isAgainWanted)
        bench.settleDown()

        #expect(bench.results.map(\.trigger) == [.started, .asked])
    }

    @Test mutating func localChange_onlyTells() {
        bench.beginAndRest()
        let before = bench.history.count
        bench.send(.triggered(.localChange))
        bench.settleDown()

        #expect(bench.history[before...].map(\.mode) == [.readProgress, .modify])
        #expect(bench.results.last?.end == .complete)
    }

    @Test mutating func remoteChange_readsOnlyItsTypes() {
        bench.beginAndRest()
        let before = bench.history.count
        bench.send(.remoteChanged(types: [.recording, .host, RecordType(rawValue: "Unheard")], host: .other))
        bench.settleDown()

        let read = bench.history[before...].compactMap { operation -> RecordType? in
            if case .fetch(let type, _, _) = operation { type } else { nil }
        }
        #expect(read == [.host, .recording])
    }

    @Test mutating func ownChange_needsNoRun() {
        bench.beginAndRest()
        bench.send(.remoteChanged(types: [.deviceSettings], host: .ours))

        #expect((bench.operation, bench.status.lastPush) == (nil, nil))
    }

    @Test mutating func changeOfATypeThatIsBeingRead_isReadAgain() {
        bench.begin()
        bench.answer(.batchRead(nil))
        #expect(bench.operation == .fetch(.host, since: "t0", limit: 400))
        bench.send(.remoteChanged(types: [.host], host: .other))
        bench.settleDown()

        #expect(bench.history.count { if case .fetch(.host, _, _) = $0 { true } else { false } } == 2)
        #expect(bench.history.count { if case .fetch(.recording, _, _) = $0 { true } else { false } } == 1)
    }

    // MARK: The stream

    @Test mutating func run_waitsForTheStream_butNotForLong() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        #expect((bench.operation, bench.status.mode) == (nil, .subscribe))
        #expect(bench.machine.nextWake == .origin + .seconds(5))
        bench.advance(by: .seconds(5))

        #expect(bench.operation == .readProgress)
    }

    @Test mutating func streamThatOpensLate_asksForARun() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.advance(by: .seconds(5))
        bench.settleDown()
        #expect(bench.results.count == 1)
        bench.send(.streamOpened)
        bench.settleDown()

        #expect(bench.results.map(\.trigger) == [.started, .streamOpened])
    }

    @Test mutating func brokenStream_isOpenedAgain_withGrowingWaits() {
        bench.beginAndRest()
        bench.random = 1000
        var waits: [Duration] = []
        for _ in 0..<10 {
            bench.send(.streamBroke(SyncFailure(.network, "reset")))
            guard case .waiting(let retryAt) = bench.status.stream else {
                Issue.record("the stream is \(bench.status.stream)")
                return
            }
            waits.append(retryAt - bench.now)
            bench.advance(by: retryAt - bench.now)
            bench.settleDown()
        }

        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map { .seconds($0) })
        #expect(bench.streamsOpened == 11)
    }

    @Test mutating func silentStream_isGivenUp() {
        bench.beginAndRest()
        bench.advance(by: .seconds(40))
        bench.send(.streamHeard)
        bench.advance(by: .seconds(44))
        #expect(bench.streamsClosed == 0)
        bench.advance(by: .seconds(1))

        #expect(bench.streamsClosed == 1)
        guard case .waiting = bench.status.stream else {
            Issue.record("the stream is \(bench.status.stream)")
            return
        }
    }

    // MARK: The fallback poll

    @Test mutating func quietZone_isPolledEveryFiveMinutes() {
        bench.beginAndRest()
        bench.pass(.seconds(299))
        #expect(bench.results.count == 1)
        bench.pass(.seconds(1))
        bench.settleDown()

        #expect((bench.results.map(\.trigger), bench.status.counters.polls) == ([.started, .poll], 1))
    }

    @Test mutating func poll_isSkippedOnce_whenAChangeWasTold() {
        bench.beginAndRest()
        bench.pass(.minute)
        bench.send(.remoteChanged(types: [.host], host: .other))
        bench.settleDown()
        bench.pass(.seconds(240))
        #expect((bench.status.counters.pollsSkipped, bench.status.counters.polls) == (1, 0))
        bench.pass(.seconds(300))
        bench.settleDown()

        #expect((bench.status.counters.polls, bench.results.last?.trigger) == (1, .poll))
    }

    @Test mutating func poll_runs_whenTheStreamIsDown() {
        bench.beginAndRest()
        bench.random = 1000
        bench.send(.streamBroke(SyncFailure(.network, "reset")))
        for _ in 0..<300 where bench.results.count < 2 {
            bench.now = bench.now + .seconds(1)
            bench.send(.woke)
            if case .opening = bench.status.stream { bench.send(.streamBroke(SyncFailure(.network, "reset"))) }
            bench.settleDown()
        }

        #expect((bench.results.map(\.trigger), bench.now) == ([.started, .poll], .origin + .seconds(300)))
    }

    // MARK: Stopping

    @Test mutating func stop_letsThePageFinish_andEndsTheStream() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.send(.stopRequested)
        #expect(bench.streamsClosed == 1)
        bench.answer(.pageFetched(.page(.host, count: 3)))
        #expect(bench.operation?.mode == .fetch)
        bench.answer(.applied(MergeOutcome()))

        #expect((bench.operation, bench.results.map(\.end), bench.status.mode) == (nil, [.cancelled], .stopped))
        #expect(bench.machine.nextWake == nil)
    }

    @Test mutating func nothingBegins_whileStopped() {
        bench.send(.triggered(.asked))
        bench.advance(by: .seconds(1000))
        #expect(bench.history.isEmpty)
    }

    @Test mutating func startAfterStop_beginsAnew_evenBeforeTheStopIsDone() {
        bench.begin()
        bench.send(.stopRequested)
        bench.send(.started)
        bench.answer(.batchRead(nil))

        #expect((bench.results.map(\.end), bench.operation) == ([.cancelled], .checkAccount))
    }

    @Test mutating func result_countsByType() throws {
        bench.begin()
        let batch = OutboxBatch.records(1...3)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: ["r2": .badRequest]), .exact(at: bench.now)))
        bench.answer(.settled(MergeOutcome(changed: [RecordKey(type: .deviceSettings, name: "r1")])))
        bench.answer(.pageFetched(.page(.host, count: 7)))
        bench.now = bench.now + .seconds(3)
        bench.answer(.applied(MergeOutcome(changed: [RecordKey(type: .host, name: "p1")], unchanged: 4, parked: 2)))
        bench.settleDown()

        #expect(bench.status.counters.parked == 3)
        let result = try #require(bench.results.last)
        #expect(result.counts[.deviceSettings] == SyncCounts(pushed: 2, fetched: 1, parked: 1))
        #expect((result.counts[.host], result.skipped) == (SyncCounts(fetched: 1, unchanged: 4, parked: 2), 7))
        #expect((result.duration, result.wasCancelled, bench.status.counters.refreshVersion) == (.seconds(3), false, 2))
    }
}

extension SessionBench {
    /// Lets time pass with a ping every 15 s.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while now < end {
            now = min(now + .seconds(15), end)
            send(.streamHeard)
            send(.woke)
        }
    }
}
