import Domain
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// A run that is cancelled anywhere keeps what it has done, and the next one continues from there.
@Suite(.timeLimit(.minutes(10)))
struct SyncCancellationTests {
    /// Cancels the engine's run within the n-th call to the cloud or the store.
    private struct Trap {
        let calls = Counter()
        let number: Int

        init(atCall number: Int) { self.number = number }

        func set(on bench: SyncBench, _ engine: SyncEngine) async {
            let (calls, number) = (calls, number)
            let spring: @Sendable () async -> Void = {
                guard calls.next() == number else { return }
                engine.cancel()
                // The machine learns of it before this call is answered.
                await #expect(throws: Never.self) {
                    try await eventually("the machine hears of it") { await engine.isCancelling }
                }
            }
            bench.cloud.onCall { _ in await spring() }
            bench.store.onCall(spring)
        }

        static func remove(from bench: SyncBench) async {
            bench.cloud.onCall { _ in }
            bench.store.onCall {}
        }

        /// Whether the run was long enough to reach the call.
        var isSprung: Bool { calls.count >= number }
    }

    private func bench(_ setUp: Scenario) async throws -> SyncBench {
        let bench = SyncBench()
        try await setUp.prepare(bench)
        return bench
    }

    @Test(arguments: Scenario.all)
    func runThatIsCancelledAtAnyCall_resumesToTheSameSet(_ scenario: Scenario) async throws {
        var number = 1
        while true {
            let bench = try await bench(scenario)
            let engine = bench.engine(timing: scenario.timing)
            let trap = Trap(atCall: number)
            await trap.set(on: bench, engine)
            let first = try await bench.running(engine) { results in
                let first = try await results.next()
                await Trap.remove(from: bench)
                // The next trigger resumes.
                let last = await engine.synchronise()
                #expect(last?.end == .complete, "\(scenario), call \(number)")
                return first
            }

            #expect(try await bench.store.records == bench.cloud.records, "\(scenario), call \(number)")
            #expect(bench.cloud.records.count == scenario.count, "\(scenario), call \(number)")
            #expect(try await bench.store.settings.progress().pending == 0, "\(scenario), call \(number)")
            let report = await engine.report()
            #expect(report.status.counters.failed == 0)
            #expect(report.status.lastSyncError == nil)
            guard trap.isSprung, first.wasCancelled else { break }
            number += 1
        }
        // Every call of the run has been a boundary once.
        #expect(number > scenario.callsMin, "\(scenario): \(number) calls")
    }

    @Test func runOfThreePages_keepsExactlyTheFirst_whenCancelledThere() async throws {
        let bench = SyncBench()
        bench.cloud.put((0..<1200).map { .setting($0) }, by: .second)
        let engine = bench.engine()
        let pages = Counter()
        bench.cloud.onCall { call in
            // Three types come before this one, with a page each.
            guard call == .changes, pages.next() == 4 else { return }
            engine.cancel()
            await #expect(throws: Never.self) {
                try await eventually("the machine hears of it") { await engine.isCancelling }
            }
        }

        let (kept, cleanUps) = try await bench.running(engine) { results in
            let result = try await results.next()
            #expect(result.wasCancelled)
            #expect(result.counts[.recording]?.fetched == 400)
            #expect(await engine.report().status.queue.unread == [.recording, .mark])
            return (try await bench.store.records, bench.store.cleanUps)
        }
        #expect(Set(kept.keys) == Set((0..<400).map { SyncRecord.setting($0).key }))
        #expect(cleanUps == 0)

        // Another process, the same store.
        let again = bench.engine()
        let resumed = try await bench.running(again) { try await $0.next() }
        #expect(resumed.end == .complete)
        #expect(resumed.counts[.recording]?.fetched == 800, "nothing is read twice")
        #expect(try await bench.store.records == bench.cloud.records)
        #expect(bench.store.cleanUps == 1)
    }

    @Test func cancellation_leavesAnEarlierErrorAsItWas() async throws {
        let bench = SyncBench()
        bench.cloud.fail(.changes, with: SyncFailure(.serviceUnavailable, "tired"))
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            let trap = Trap(atCall: 3)
            await trap.set(on: bench, engine)
            #expect(await engine.synchronise()?.wasCancelled == true)
            let status = await engine.report().status
            #expect(status.lastSyncError == SyncFailure(.serviceUnavailable, "tired"))
            #expect(status.failures == 1)
            #expect(status.counters.cancelled == 1)
        }
    }

    /// The run that goes on is not theirs, and ends all the same: they asked for one, and know now what became of it.
    @Test func cancellation_answersWhoAskedMeanwhile() async throws {
        let bench = SyncBench()
        let (hanging, hangs) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        bench.cloud.onCall { call in
            guard call == .account else { return }
            hangs.yield()
            for await _ in gate { break }
        }
        let engine = bench.engine()
        let events = engine.events.subscribe()
        let asked = try await bench.running(engine) { results in
            for await _ in hanging { break }
            let asked = Task { await engine.synchronise() }
            for await event in events where event.value.text == "triggered: \(SyncTrigger.asked.rawValue)" { break }
            engine.cancel()
            try await eventually("the machine hears of it") { await engine.isCancelling }
            open.finish()
            let first = try await results.next()
            #expect(first.wasCancelled)
            #expect(first.trigger == .started)
            return asked
        }

        #expect(await asked.value?.wasCancelled == true)
    }

    @Test func cancellationOfNothing_isHarmless() async throws {
        let bench = SyncBench()
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            engine.cancel()
            #expect(await engine.synchronise()?.end == .complete)
        }
    }

    // MARK: -

    struct Scenario: Sendable, CustomTestStringConvertible {
        var name: String
        var timing = SyncTiming()
        /// The fewest calls in a run.
        var callsMin: Int
        /// Number of records in the end.
        var count: Int
        var prepare: @Sendable (SyncBench) async throws -> Void

        var testDescription: String { name }

        static let all = [
            Scenario(name: "empty", callsMin: 10, count: 0) { _ in },
            Scenario(name: "single page", callsMin: 10, count: 1) { $0.cloud.put([.setting(1)], by: .second) },
            Scenario(name: "6 records in 3 pages", timing: .pages(of: 2), callsMin: 14, count: 6) {
                $0.cloud.put((0..<6).map { .setting($0) }, by: .second)
            },
            Scenario(name: "every record a page and a batch", timing: .oneByOne, callsMin: 20, count: 6) { bench in
                bench.cloud.put((0..<4).map { .setting($0) }, by: .second)
                for number in 2..<6 { try await bench.store.write(number, 2) }
            },
            Scenario(name: "batch in pieces", callsMin: 20, count: 8) { bench in
                for number in 0..<8 { try await bench.store.write(number) }
                bench.cloud.limitBatches(to: 3)
            },
            Scenario(name: "token below the floor", timing: .oneByOne, callsMin: 15, count: 4) { bench in
                await bench.syncOnce()
                // Deleted in the cloud while this host was away, and forgotten there since.
                try bench.store.settings.plant([.setting(900)])
                bench.cloud.put((0..<4).map { .setting($0) }, by: .second)
                bench.cloud.raiseFloor()
            },
            Scenario(name: "restored cloud", timing: .oneByOne, callsMin: 20, count: 4) { bench in
                bench.cloud.put((0..<4).map { .setting($0) }, by: .second)
                await bench.syncOnce()
                bench.cloud.restore(as: "e2", without: (2..<4).map { SyncRecord.setting($0).key })
            },
        ]
    }
}

final class Counter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .sequentiallyConsistent) }

    func next() -> Int { value.add(1, ordering: .sequentiallyConsistent).newValue }
}

extension SyncTiming {
    fileprivate static let oneByOne = pages(of: 1)

    fileprivate static func pages(of count: Int) -> SyncTiming {
        var timing = SyncTiming()
        timing.pageRecordsMax = count
        timing.batchRecordsMax = count
        return timing
    }
}

extension SyncEngine {
    fileprivate var isCancelling: Bool {
        get async {
            let status = await report().status
            // A run that was just starting or had just ended cannot be cancelled.
            return status.isCancelling || status.mode == .idle || status.counters.cancelled > 0
        }
    }
}

extension SyncBench {
    /// Makes one complete run with an engine that is stopped afterwards.
    fileprivate func syncOnce() async {
        let engine = engine()
        async let running: Void = engine.run()
        _ = await engine.synchronise()
        await engine.stop()
        await running
    }
}
