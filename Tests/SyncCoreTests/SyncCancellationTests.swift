import Domain
import Testing

struct SyncCancellationTests {
    private var bench = SessionBench()

    @Test mutating func pageUnderWay_isStored_andNoOtherIsAskedFor() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.send(.cancelRequested)
        #expect(bench.status.isCancelling)
        let page = ChangesPage.page(.host, count: 400, moreComing: true)
        bench.answer(.pageFetched(page))
        #expect(bench.operation == .apply(page))
        bench.answer(.applied(MergeOutcome()))

        #expect((bench.operation, bench.results.map(\.end)) == (nil, [.cancelled]))
        #expect((bench.results.last?.wasCancelled, bench.status.mode) == (true, .idle))
    }

    @Test mutating func batchUnderWay_isSettled() {
        bench.begin()
        let batch = OutboxBatch.records(1...3)
        bench.answer(.batchRead(batch))
        bench.send(.cancelRequested)
        bench.answer(.pushed(.taking(batch), .exact(at: bench.now)))
        #expect(bench.operation?.mode == .modify)
        bench.answer(.settled(MergeOutcome()))
        #expect(bench.results.map(\.end) == [.cancelled])
    }

    /// What would fail a run does not fail one that ends anyway.
    @Test mutating func answerThatMakesNoSense_doesNotFailARunThatEnds() {
        bench.begin()
        bench.answer(.batchRead(.records(1...3)))
        bench.send(.cancelRequested)
        bench.answer(.pushed(PushOutcome(results: [], serverTime: 1000), .exact(at: bench.now)))
        #expect((bench.results.map(\.end), bench.status.lastSyncError) == ([.cancelled], nil))
    }

    @Test mutating func pageOfAnotherStore_doesNotFailARunThatEnds() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.send(.cancelRequested)
        bench.answer(.pageFetched(.page(.host, moreComing: true, epoch: "e9")))
        bench.settleDown()
        #expect((bench.results.map(\.end), bench.status.lastSyncError) == ([.cancelled], nil))
        #expect(!bench.history.contains { if case .adopt = $0 { true } else { false } })
    }

    @Test mutating func batchThatWasOnlyRead_isNotTold() {
        bench.begin()
        bench.send(.cancelRequested)
        bench.answer(.batchRead(.records(1...3)))
        #expect(bench.results.map(\.end) == [.cancelled])
    }

    @Test mutating func waitForTheStream_endsAtOnce() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.send(.cancelRequested)
        #expect(bench.results.map(\.end) == [.cancelled])
    }

    @Test(arguments: [SyncFailure.Kind.network, .notAuthenticated, .limitExceeded, .zoneNotFound])
    mutating func failureAfterACancellation_isNone(kind: SyncFailure.Kind) {
        bench.begin()
        bench.fail(.network)
        bench.advance(by: .seconds(1))
        let before = bench.status
        bench.send(.cancelRequested)
        bench.fail(kind)

        #expect((bench.results.last?.wasCancelled, bench.status.failures) == (true, before.failures))
        #expect(bench.status.lastSyncError == before.lastSyncError)
        #expect((bench.status.counters.failed, bench.status.halt) == (before.counters.failed, nil))
    }

    @Test mutating func cleanUp_neverFollowsACancelledRun() {
        bench.begin()
        bench.send(.cancelRequested)
        bench.settleDown()
        #expect(!bench.history.contains(.cleanUp))

        bench.send(.triggered(.asked))
        bench.settleDown()
        #expect(bench.history.contains(.cleanUp))
    }

    @Test mutating func nextRun_readsWhatTheCancelledOneDidNot_whateverStartsIt() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.host)))
        bench.send(.cancelRequested)
        bench.answer(.applied(MergeOutcome()))
        #expect(bench.results.last?.wasCancelled == true)
        let before = bench.history.count
        bench.send(.triggered(.localChange))
        bench.settleDown()

        let read = bench.history[before...].compactMap { operation -> RecordType? in
            if case .fetch(let type, _, _) = operation { type } else { nil }
        }
        #expect(read == [.deviceSettings, .meterAlias, .recording, .mark])
    }

    @Test mutating func triggerBeforeTheCancellation_isCancelledToo_oneAfterItIsNot() {
        bench.begin()
        bench.send(.triggered(.localChange))
        bench.send(.cancelRequested)
        bench.settleDown()
        #expect(bench.results.count == 1)

        bench.send(.triggered(.asked))
        bench.send(.cancelRequested)
        bench.send(.triggered(.localChange))
        bench.settleDown()
        #expect(bench.results.map(\.wasCancelled) == [true, true, false])
    }

    @Test mutating func cancellationWithoutARun_changesNothing() {
        bench.beginAndRest()
        let before = bench.state
        bench.send(.cancelRequested)
        #expect(bench.state == before)
    }

    @Test mutating func cleanUp_isRareEnoughForAnSDCard() {
        bench.beginAndRest()
        for _ in 0..<119 {
            bench.pass(.seconds(30))
            bench.send(.triggered(.asked))
            bench.settleDown()
        }
        #expect(bench.history.count { $0 == .cleanUp } == 1)
        bench.pass(.seconds(30))
        bench.send(.triggered(.asked))
        bench.settleDown()
        #expect(bench.history.count { $0 == .cleanUp } == 2)
    }
}
