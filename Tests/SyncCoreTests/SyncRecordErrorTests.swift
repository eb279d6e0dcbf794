import Domain
import Testing

/// The cloud's answers about single records, and about the clock.
struct SyncRecordErrorTests {
    private var bench = SessionBench()

    // MARK: Records of a batch

    @Test mutating func recordsResults_areSettledByWhatTheyDecide() {
        bench.begin()
        let batch = OutboxBatch.records(1...4)
        bench.answer(.batchRead(batch))
        let outcome = PushOutcome.taking(
            batch, refusing: ["r2": .badRequest, "r3": .serviceUnavailable, "r4": .permissionDenied])
        bench.answer(.pushed(outcome, .exact(at: bench.now)))

        guard case .settle(batch, let settled) = bench.operation else {
            Issue.record("\(String(describing: bench.operation))")
            return
        }
        #expect(settled.results.map(\.key.name) == ["r1", "r2", "r4"])
    }

    @Test mutating func recordTooLargeAmongOthers_isToldAlone_andParkedThen() {
        bench.begin()
        let batch = OutboxBatch.records(1...3)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: ["r2": .limitExceeded]), .exact(at: bench.now)))
        bench.answer(.settled(MergeOutcome()))
        bench.answer(.pageFetched(.page(.host)))
        bench.answer(.applied(MergeOutcome()))
        let alone = OutboxBatch.records(2...2)
        #expect(bench.operation == .push(alone))
        let refusal = PushOutcome.taking(alone, refusing: ["r2": .limitExceeded])
        bench.answer(.pushed(refusal, .exact(at: bench.now)))

        #expect(bench.operation == .settle(alone, refusal))
    }

    @Test mutating func expiryWithoutAnEpoch_readsAnew() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.fail(.changeTokenExpired(epoch: ""))
        #expect(bench.operation == .beginRefetch(.host))
    }

    @Test mutating func recordThatIsPutOffAlone_endsTheRun_insteadOfSpinning() {
        bench.begin()
        let batch = OutboxBatch.records(1...1)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: ["r1": .serviceUnavailable]), .exact(at: bench.now)))
        #expect(bench.status.mode == .waiting)
    }

    @Test mutating func recordThatWaitsForALease_staysInTheOutbox_andHoldsNothingUp() {
        bench.begin(pending: 2)
        let batch = OutboxBatch.records(1...2)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: ["r1": .leaseHeld]), .exact(at: bench.now)))
        guard case .settle(_, let settled) = bench.operation else {
            Issue.record("\(String(describing: bench.operation))")
            return
        }
        #expect(settled.results.map(\.key.name) == ["r2"])
        bench.answer(.settled(MergeOutcome()))
        var batches = 0
        for _ in 0..<100 {
            guard let operation = bench.operation else { break }
            // The store still has it.
            if case .readBatch = operation {
                bench.answer(.batchRead(.records(1...1)))
            } else {
                bench.answer(operation.emptyAnswer(at: bench.now))
            }
            if case .push = bench.operation { batches += 1 }
        }

        #expect((bench.operation, batches, bench.results.last?.end) == (nil, 0, .complete))
        #expect(bench.status.queue.putOff.map(\.key.name) == ["r1"])
        #expect((bench.status.queue.putOff.values.map(\.message), bench.status.lastSyncError) == (["no r1"], nil))
    }

    @Test mutating func recordThatWaitsForALease_isToldAgainLater_andOnlyThen() throws {
        bench.begin()
        let batch = OutboxBatch.records(1...1)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: ["r1": .leaseHeld]), .exact(at: bench.now)))
        while let operation = bench.operation {
            if case .readBatch = operation {
                bench.answer(.batchRead(batch))
            } else {
                bench.answer(operation.emptyAnswer(at: bench.now))
            }
        }
        #expect(bench.machine.nextWake == bench.now + SyncTiming().putOffInterval)
        bench.advance(by: SyncTiming().putOffInterval + .milliseconds(-1))
        #expect(bench.operation == nil)

        bench.advance(by: .milliseconds(1))
        for _ in 0..<20 {
            guard let operation = bench.operation else { break }
            if case .readBatch = operation {
                bench.answer(.batchRead(batch))
                break
            }
            bench.answer(operation.emptyAnswer(at: bench.now))
        }
        #expect(bench.operation == .push(batch))
        bench.answer(.pushed(.taking(batch), .exact(at: bench.now)))
        bench.settleDown()

        #expect((bench.status.queue.putOff.isEmpty, bench.results.map(\.end)) == (true, [.complete, .complete]))
    }

    @Test mutating func emptyAnswer_endsTheRun_insteadOfSpinning() {
        bench.begin()
        bench.answer(.batchRead(.records(1...1)))
        bench.answer(.pushed(PushOutcome(results: [], serverTime: 0), .exact(at: bench.now)))
        #expect(bench.status.mode == .waiting)
    }

    @Test mutating func stampsTooFarAhead_areSettledForTheRest_thenStampedAnew() {
        bench.begin()
        let batch = OutboxBatch.records(1...2)
        bench.answer(.batchRead(batch))
        let sample = ClockSample.off(by: .seconds(-600), at: bench.now)
        bench.answer(.pushed(.taking(batch, refusing: ["r2": .clockSkew]), sample))
        guard case .settle(_, let outcome) = bench.operation else {
            Issue.record("\(String(describing: bench.operation))")
            return
        }
        #expect(outcome.results.map(\.key.name) == ["r1"])
        bench.answer(.settled(MergeOutcome()))

        #expect(bench.operation == .restamp(clockOffset: .seconds(-600)))
        bench.answer(.restamped)
        #expect(bench.operation == .correct(clockOffset: .seconds(-600)))
    }

    @Test mutating func stampsThatAreNeverTaken_endTheRun() {
        bench.begin()
        let batch = OutboxBatch.records(1...1)
        for _ in 0..<100 {
            switch bench.operation {
            case .readBatch: bench.answer(.batchRead(batch))
            case .push: bench.answer(.pushed(.taking(batch, refusing: ["r1": .clockSkew]), .exact(at: bench.now)))
            case let operation?: bench.answer(operation.emptyAnswer(at: bench.now))
            case nil: break
            }
        }
        #expect(bench.history.count { if case .restamp = $0 { true } else { false } } == 3)
        #expect(bench.status.lastSyncError?.kind == .clockSkew)
    }

    // MARK: The clock

    @Test mutating func clockOffset_isToldBeforeTheFirstPush() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .off(by: .seconds(90), at: bench.now)))
        bench.send(.streamOpened)
        bench.answer(.progressRead(SyncProgress(epoch: "e1", zone: "zone home", zoneName: "home")))
        #expect(bench.operation == .correct(clockOffset: .seconds(90)))
        bench.answer(.corrected)
        #expect(bench.operation?.mode == .modify)
        bench.settleDown()
        bench.send(.triggered(.asked))
        bench.settleDown()

        #expect(bench.history.count { if case .correct = $0 { true } else { false } } == 1)
    }

    @Test mutating func steppedClock_isToldAgain() {
        bench.beginAndRest()
        bench.send(.triggered(.localChange))
        bench.answer(.progressRead(SyncProgress(epoch: "e1", zone: "zone home", zoneName: "home")))
        let batch = OutboxBatch.records(1...1)
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch), .off(by: .seconds(-61), at: bench.now)))
        bench.answer(.settled(MergeOutcome()))
        #expect(bench.operation == .correct(clockOffset: .seconds(-61)))
    }

    @Test func offset_countsHalfTheRoundTrip() {
        let sample = ClockSample(
            serverTime: 100_000, localTime: WallTime(millisecondsSince1970: 90_000), roundTrip: .milliseconds(400))
        let offset = ServerOffset(sample, at: .origin)
        #expect((offset.offset, offset.error) == (.milliseconds(10_200), .milliseconds(200)))
    }

    @Test(arguments: [UInt64.min, UInt64.max], [Int64.min, Int64.max])
    func offset_ofAbsurdClocks_doesNotTrap(server: UInt64, local: Int64) {
        let sample = ClockSample(
            serverTime: server, localTime: WallTime(millisecondsSince1970: local), roundTrip: .seconds(-1))
        #expect(ServerOffset(sample, at: .origin).error == .zero)
    }

    @Test func blurredMeasurement_doesNotReplaceASharpOne_butAStepDoes() {
        let sharp = measurement(0, roundTrip: 2, at: 0)
        #expect(!sharp.isOutdone(by: measurement(50, roundTrip: 200, at: 10)))
        #expect(sharp.isOutdone(by: measurement(1, roundTrip: 2, at: 10)))
        #expect(sharp.isOutdone(by: measurement(5000, roundTrip: 200, at: 10)))
        #expect(sharp.isOutdone(by: measurement(-5000, roundTrip: 200, at: 10)))
        #expect(!sharp.isOutdone(by: measurement(-50, roundTrip: 200, at: 10)))
        #expect(sharp.isOutdone(by: measurement(50, roundTrip: 200, at: 600)))
    }

    private func measurement(_ milliseconds: Int64, roundTrip: Int64, at seconds: Int64) -> ServerOffset {
        let local = WallTime(millisecondsSince1970: 1_000_000)
        return ServerOffset(
            ClockSample(
                serverTime: UInt64(1_000_000 + milliseconds - roundTrip / 2), localTime: local,
                roundTrip: .milliseconds(roundTrip)), at: .origin + .seconds(seconds))
    }
}
