import Domain
import Testing

/// A cloud that has no room for some of what is pushed to it.
struct SyncQuotaTests {
    private var bench: SessionBench
    private let batch = OutboxBatch.records(1...3)

    init() {
        // Only what is held back wakes it.
        var timing = SyncTiming()
        (timing.streamSilence, timing.pollInterval) = (.seconds(1_000_000), .seconds(1_000_000))
        bench = SessionBench(timing: timing)
    }

    private func progress(heldBack: Int) -> SyncProgress {
        var progress = SyncProgress(epoch: "e1", zone: "zone home", zoneName: "home", tokens: .all("t0"))
        progress.heldBack = heldBack
        return progress
    }

    private mutating func push(_ batch: OutboxBatch, refusing names: [String]) {
        let refused = Dictionary(uniqueKeysWithValues: names.map { ($0, SyncFailure.Kind.quotaExceeded) })
        bench.answer(.batchRead(batch))
        bench.answer(.pushed(.taking(batch, refusing: refused), .exact(at: bench.now)))
    }

    /// Answers as a store with this many records held back, up to the next batch or retry, or to the end of the run.
    private mutating func goOn(heldBack: Int) {
        while let operation = bench.operation {
            switch operation {
            case .readBatch, .retryHeldBack: return
            case .readProgress: bench.answer(.progressRead(progress(heldBack: heldBack)))
            default: bench.answer(operation.emptyAnswer(at: bench.now))
            }
        }
    }

    /// A first run in which the cloud has no room.
    private mutating func fill() {
        bench.begin()
        push(batch, refusing: ["r1", "r2", "r3"])
        goOn(heldBack: 3)
        bench.answer(.batchRead(nil))
        goOn(heldBack: 3)
    }

    @Test mutating func refusedRecords_areHeldBack_andTheRunGoesOnAndSucceeds() {
        bench.begin()
        push(batch, refusing: ["r2"])

        guard case .settle(batch, let outcome) = bench.operation else {
            Issue.record("\(String(describing: bench.operation))")
            return
        }
        #expect(outcome.results.map(\.failure?.kind) == [nil, .quotaExceeded, nil])
        bench.settleDown()
        #expect(bench.results.last?.end == .complete)
        #expect(bench.results.last?.counts[.deviceSettings] == SyncCounts(pushed: 2))
        #expect((bench.status.counters.parked, bench.status.fullness?.failure.message) == (0, "no r2"))
        #expect(bench.status.lastSyncError == nil)
    }

    @Test mutating func batchOfRefusedRecordsAlone_doesNotSpin() {
        fill()

        #expect((bench.operation, bench.results.map(\.end), bench.status.mode) == (nil, [.complete], .idle))
        // Half of 30 s, plus half of the random wait.
        #expect(bench.status.fullness?.retryAt == bench.now + .milliseconds(22_500))
    }

    @Test mutating func waits_grow_whileThereIsNoRoom_toTenMinutes() {
        fill()
        var waits: [Duration] = []
        for _ in 0..<8 {
            guard let due = bench.status.fullness?.retryAt else { break }
            waits.append(due - bench.now)
            bench.advance(by: due - bench.now)
            goOn(heldBack: 3)
            #expect(bench.operation == .readBatch(recordsMax: 400, bytesMax: 1 << 20))
            bench.answer(.batchRead(nil))
            goOn(heldBack: 3)
            #expect(bench.operation == .retryHeldBack(recordsMax: 50))
            bench.answer(.heldBackRetried(3))
            push(batch, refusing: ["r1", "r2", "r3"])
            goOn(heldBack: 3)
            bench.answer(.batchRead(nil))
            goOn(heldBack: 3)
            #expect(bench.operation == nil, "what was refused is not tried twice in a run")
        }
        #expect(waits.map(\.components.seconds) == [22, 45, 90, 180, 360, 450, 450, 450])
    }

    @Test mutating func localChange_isTold_andTriesNothingElse() {
        fill()
        bench.send(.triggered(.localChange))
        goOn(heldBack: 3)
        push(.records(9...9), refusing: [])
        goOn(heldBack: 3)
        bench.answer(.batchRead(nil))
        goOn(heldBack: 3)

        #expect(bench.operation == nil)
        #expect(!bench.history.contains { if case .retryHeldBack = $0 { true } else { false } })
        #expect(bench.status.fullness != nil)
    }

    @Test mutating func aPerson_triesAtOnce_andAllFollows_whereSomeIsTaken() {
        fill()
        bench.send(.triggered(.asked))
        goOn(heldBack: 3)
        bench.answer(.batchRead(nil))
        goOn(heldBack: 3)
        for part in [1...2, 3...3] {
            #expect(bench.operation == .retryHeldBack(recordsMax: 50))
            bench.answer(.heldBackRetried(part.count))
            push(.records(part), refusing: [])
            goOn(heldBack: 0)
            bench.answer(.batchRead(nil))
            goOn(heldBack: 0)
        }
        #expect(bench.operation == .retryHeldBack(recordsMax: 50))
        bench.answer(.heldBackRetried(0))
        goOn(heldBack: 0)

        #expect((bench.operation, bench.status.fullness) == (nil, nil))
        #expect(bench.results.map(\.end) == [.complete, .complete])
    }

    @Test mutating func fullness_ends_whenNothingIsHeldBackAnyMore() {
        fill()
        bench.send(.triggered(.localChange))
        goOn(heldBack: 0)
        bench.answer(.batchRead(nil))
        goOn(heldBack: 0)

        #expect(bench.status.fullness == nil)
    }

    @Test mutating func heldBackBeforeARestart_isTriedInTheFirstRun() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.send(.streamOpened)
        goOn(heldBack: 5)
        bench.answer(.batchRead(nil))
        goOn(heldBack: 5)

        #expect(bench.operation == .retryHeldBack(recordsMax: 50))
    }

    @Test mutating func cancelledRetry_isNotRepeatedAtOnce() {
        fill()
        bench.send(.triggered(.asked))
        bench.advance(by: .seconds(60))
        bench.send(.cancelRequested)
        goOn(heldBack: 3)
        if let operation = bench.operation { bench.answer(operation.emptyAnswer(at: bench.now)) }

        #expect((bench.operation, bench.results.last?.wasCancelled) == (nil, true))
        #expect(bench.machine.nextWake.map { $0 >= bench.now + .seconds(30) } == true)
    }
}
