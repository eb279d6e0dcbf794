import CoreTestKit
import Domain
import Testing

/// Random lives of a session. Whatever happens in them, and in whatever order, some things must always hold.
struct SyncWalkTests {
    /// A session, its world, and what is checked.
    private struct Walk {
        var bench: SessionBench
        var world = WalkWorld()
        var rng: SeededRNG
        /// Whether failures and cancellations are left out.
        var isCalm = false
        /// Batches pushed since a page was last stored, while there was something to read.
        var batchesInARow = 0
        var trouble: String?

        init(seed: UInt64) {
            rng = SeededRNG(seed: seed)
            var timing = SyncTiming()
            timing.batchRecordsMax = 4
            bench = SessionBench(timing: timing)
        }

        mutating func send(_ event: SyncInput) {
            bench.random = rng.next()
            let before = bench.status
            let runs = bench.results.count
            bench.send(event)
            watch(before, newResults: bench.results[runs...])
        }

        mutating func answer(_ event: SyncInput) {
            bench.random = rng.next()
            let before = bench.status
            let runs = bench.results.count
            bench.answer(event)
            watch(before, newResults: bench.results[runs...])
        }

        private mutating func watch(_ before: SyncStatus, newResults: ArraySlice<SyncResult>) {
            let after = bench.status
            if newResults.contains(where: \.wasCancelled), newResults.count == 1 {
                if after.failures != before.failures || after.lastSyncError != before.lastSyncError {
                    trouble = "a cancelled run counts as a failure"
                }
            }
            if bench.operation == nil, after.mode != .stopped, after.mode != .halted, bench.machine.nextWake == nil {
                trouble = "it rests and nothing will ever wake it, in mode \(after.mode)"
            }
            if let wake = bench.machine.nextWake, wake < bench.now, bench.operation == nil {
                trouble = "its time to wake has passed, in mode \(after.mode)"
            }
        }

        // MARK: Events

        mutating func step() {
            if let operation = bench.operation, !rng.oneIn(3) {
                end(operation)
            } else {
                happen()
            }
        }

        private mutating func end(_ operation: SyncOperation) {
            if !isCalm, rng.oneIn(6) {
                answer(operation.isExchange ? .cloudFailed(failure()) : .storeFailed("disk full"))
                return
            }
            let event = world.perform(operation, pageMax: 3, at: bench.now)
            watchTurns(operation)
            answer(event)
        }

        private mutating func watchTurns(_ operation: SyncOperation) {
            switch operation {
            case .settle where bench.state.run?.remaining.isEmpty == false: batchesInARow += 1
            case .apply, .readProgress: batchesInARow = 0
            default: break
            }
            if batchesInARow > 1 { trouble = "reading starves while batches are told" }
        }

        private mutating func failure() -> SyncFailure {
            let kinds: [SyncFailure.Kind] = [
                .network, .network, .network, .serviceUnavailable, .rateLimited, .zoneNotFound, .notAuthenticated,
                .clockSkew, .other,
            ]
            let kind = kinds[Int(rng.next() % UInt64(kinds.count))]
            return SyncFailure(kind, "walk", retryAfter: kind == .rateLimited ? .seconds(7) : nil)
        }

        private mutating func happen() {
            switch rng.next() % (isCalm ? 6 : 13) {
            case 0: pass(.milliseconds(Int(rng.next() % 4000)))
            case 1: writeHere()
            case 2: writeElsewhere()
            case 3: send(.triggered(rng.oneIn(2) ? .asked : .networkGained))
            case 4: if case .opening = bench.status.stream { send(.streamOpened) }
            case 5: send(.streamHeard)
            case 6: send(.cancelRequested)
            case 7: send(.streamBroke(SyncFailure(.network, "walk")))
            case 8: send(.resumed)
            case 9: if rng.oneIn(10) { world.restore() }
            case 10:
                if let type = RecordType.known.randomElement(using: &rng) { world.expired.insert(type) }
            case 11: world.isFull = rng.oneIn(3)
            default:
                send(.stopRequested)
                send(.started)
            }
        }

        mutating func pass(_ duration: Duration) {
            bench.now = bench.now + duration
            send(.woke)
        }

        private mutating func writeHere() {
            world.write(isPoison: rng.oneIn(10))
            send(.triggered(.localChange))
        }

        private mutating func writeElsewhere() {
            guard let type = RecordType.known.randomElement(using: &rng) else { return }
            world.cloud[type, default: 0] += 1 + Int(rng.next() % 8)
            // If the stream is down nothing is reported: the poll will find it.
            send(.remoteChanged(types: [type], host: rng.oneIn(4) ? nil : .other))
        }

        /// Only what must come comes: answers, and the times that the machine itself asked for.
        mutating func comeToRest(within limit: Duration) {
            let end = bench.now + limit
            for _ in 0..<20_000 {
                if let operation = bench.operation {
                    finish(operation)
                } else if case .opening = bench.status.stream {
                    send(.streamOpened)
                } else if bench.status.mode == .halted {
                    send(.resumed)
                } else if let wake = bench.machine.nextWake, wake <= end {
                    if case .open = bench.status.stream { send(.streamHeard) }
                    pass(max(.zero, min(wake, bench.machine.nextWake ?? wake) - bench.now))
                } else {
                    return
                }
            }
            trouble = "it never comes to rest"
        }

        private mutating func finish(_ operation: SyncOperation) {
            watchTurns(operation)
            answer(world.perform(operation, pageMax: 3, at: bench.now))
        }
    }

    @Test(arguments: 0..<200)
    func anyLife_endsWithEverythingToldAndRead(seed: UInt64) {
        var walk = Walk(seed: seed)
        walk.send(.started)
        for _ in 0..<300 where walk.trouble == nil { walk.step() }
        // No answer was lost, so the longest that anything may take is a full wait and a poll.
        walk.world.isFull = false
        walk.comeToRest(within: .seconds(700))

        #expect(walk.trouble == nil, "seed \(seed)")
        #expect(walk.world.isConverged, "seed \(seed): \(walk.world), \(walk.bench.status)")
        #expect(Set(walk.world.parked).isSubset(of: walk.world.poison), "seed \(seed)")
        // A restored cloud accepts whatever comes first, until the host notices and begins from the start.
        if walk.world.epoch == 1, !walk.world.wasFull {
            #expect(walk.world.told == walk.world.told.sorted(), "seed \(seed): told out of order")
        }
    }

    /// If nothing fails, every report of a change is acted upon at once: no poll is needed, and no time passes.
    @Test(arguments: 1000..<1150)
    func calmLife_losesNoWakeUp(seed: UInt64) {
        var walk = Walk(seed: seed)
        walk.isCalm = true
        walk.send(.started)
        for _ in 0..<300 where walk.trouble == nil { walk.step() }
        if case .waiting(let retryAt) = walk.bench.status.stream { walk.pass(max(.zero, retryAt - walk.bench.now)) }
        walk.comeToRest(within: .zero)

        #expect(walk.trouble == nil, "seed \(seed)")
        #expect(walk.world.isConverged, "seed \(seed): \(walk.world), \(walk.bench.status)")
    }
}
