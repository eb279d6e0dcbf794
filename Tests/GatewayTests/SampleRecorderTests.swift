import Domain
import GatewayAPI
import Logging
import MeterCodec
import MeterTestKit
import Synchronization
import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(10)))
struct SampleRecorderTests {
    private let loop = VirtualLoop()
    private let store = ScriptedSampleStore()
    private let log = LogBook()

    private func recorder(_ change: (inout SampleRecorder.Limits) -> Void = { _ in }) -> SampleRecorder {
        var limits = SampleRecorder.Limits()
        change(&limits)
        return SampleRecorder(meters: Meters(), repository: store, loop: loop, limits: limits, logger: log.logger)
    }

    private func append(_ voltages: ClosedRange<Int>, to track: SampleBuffer) {
        for voltage in voltages {
            var reading = Reading()
            reading[.voltage] = Double(voltage)
            track.append(WallTime(millisecondsSince1970: Int64(voltage) * 500), reading)
        }
    }

    @Test func batch_isWritten_whenTheIntervalIsOver() async throws {
        let recorder = recorder()
        let track = recorder.track(for: .um)
        async let running: Void = recorder.run()
        await loop.timers(reach: 1)
        append(1...10, to: track)

        loop.advance(by: .milliseconds(59_999))
        #expect(store.appendCount == 0)
        #expect(recorder.status(path: "").unsaved == 10)
        loop.advance(by: .milliseconds(1))
        #expect(await store.nextAppend() == Array(1...10))

        recorder.finish()
        await running
        #expect(recorder.status(path: "x") == StoreStatus(path: "x", unsaved: 0, saved: 10, dropped: 0, error: nil))
        #expect(store.appendCount == 1)
        #expect(loop.pendingTimers == 0)
    }

    @Test func batch_isWritten_whenItIsLarge_beforeTheInterval() async throws {
        let recorder = recorder { $0.chunkReadingsMax = 4 }
        let track = recorder.track(for: .um)
        async let running: Void = recorder.run()
        append(1...6, to: track)

        #expect(await store.nextAppend() == [1, 2, 3, 4])

        recorder.finish()
        await running
        #expect(store.savedVoltages == [1, 2, 3, 4, 5, 6])
    }

    @Test func meters_areWrittenInChunksOfTheirOwn() async throws {
        let recorder = recorder()
        append(1...3, to: recorder.track(for: .um))
        append(4...5, to: recorder.track(for: .tc))
        async let running: Void = recorder.run()
        recorder.finish()
        await running

        #expect(store.savedChunks.map(\.meter) == [.um, .tc])
        #expect(store.savedChunks.map(\.count) == [3, 2])
        #expect(store.appendCount == 1, "one transaction")
    }

    /// Of a forgotten meter, what is not stored yet goes with its readings, and is stored where they stay.
    @Test(arguments: [true, false])
    func forgottenMeter_leavesNothingToStore_whereItsReadingsGo(isDropped: Bool) async throws {
        let recorder = recorder()
        let track = recorder.track(for: .um)
        append(1...3, to: track)
        append(4...5, to: recorder.track(for: .tc))
        recorder.meters.end(.um)

        _ = try await recorder.forget(.um, readings: isDropped)

        recorder.finish()
        await recorder.run()
        #expect(store.savedVoltages.sorted() == (isDropped ? [4, 5] : [1, 2, 3, 4, 5]))
    }

    @Test func failedWrite_losesNothing_andIsTriedAgain() async throws {
        let recorder = recorder()
        let track = recorder.track(for: .um)
        async let running: Void = recorder.run()
        await loop.timers(reach: 1)
        append(1...3, to: track)
        store.fail(with: StoreError(.diskFull, "no space is left"))
        loop.advance(by: .seconds(60))
        #expect(await store.nextAppend() == [1, 2, 3])
        await loop.timers(reach: 2)
        let failed = recorder.status(path: "")
        #expect(failed.error == "no space is left")
        #expect(failed.unsaved == 3)
        #expect(failed.saved == 0)

        store.fail(with: nil)
        append(4...4, to: track)
        loop.advance(by: .seconds(5))
        #expect(await store.nextAppend() == [1, 2, 3, 4])

        recorder.finish()
        await running
        #expect(recorder.status(path: "") == StoreStatus(path: "", unsaved: 0, saved: 4, dropped: 0, error: nil))
        #expect(store.savedVoltages == [1, 2, 3, 4])
        #expect(log.entries(saying: "storage of readings resumed").count == 1)
        #expect(loop.pendingTimers == 0)
    }

    @Test func failedWrites_haveOneRetryBetweenThem_howeverManyThereAre() async throws {
        let recorder = recorder { $0.chunkReadingsMax = 1 }
        let track = recorder.track(for: .um)
        store.fail(with: StoreError(.readOnly, "read-only"))
        async let running: Void = recorder.run()
        for voltage in 1...10 {
            append(voltage...voltage, to: track)
            _ = await store.nextAppend()
        }

        // The regular timer and one retry. After the tenth write has failed, the recorder may not have reacted to it
        // yet.
        #expect(loop.pendingTimers <= 2)
        recorder.finish()
        await running
        #expect(loop.pendingTimers == 0)
    }

    @Test func memory_isBounded_theOldestGo_andAreCounted() async throws {
        let recorder = recorder {
            $0.chunkReadingsMax = 4
            $0.keptBytesMax = 400
        }
        let track = recorder.track(for: .um)
        store.fail(with: StoreError(.diskFull, "no space is left"))
        async let running: Void = recorder.run()
        for chunk in 0..<100 {
            append(4 * chunk + 1...4 * chunk + 4, to: track)
            _ = await store.nextAppend()
        }
        store.fail(with: nil)
        recorder.finish()
        await running

        let status = recorder.status(path: "")
        #expect(status.dropped > 0)
        #expect(status.dropped + status.saved == 400)
        #expect(status.unsaved == 0)
        #expect(store.savedVoltages == Array(status.dropped + 1...400))
        // The last failed write left at most what is allowed, and one more chunk may have arrived since.
        #expect(store.savedChunks.dropLast().reduce(0) { $0 + $1.bytes.count } <= 400)
    }

    @Test func finish_writesWhatIsThere() async throws {
        let recorder = recorder()
        append(1...3, to: recorder.track(for: .um))
        recorder.finish()

        await recorder.run()

        #expect(store.savedVoltages == [1, 2, 3])
        #expect(loop.pendingTimers == 0)
        #expect(log.entries(saying: "unsaved readings lost at shutdown").isEmpty)
    }

    @Test func finish_tellsTheLoss_whenTheStoreTakesNothing() async throws {
        let recorder = recorder()
        append(1...3, to: recorder.track(for: .um))
        store.fail(with: StoreError(.diskFull, "no space is left"))
        recorder.finish()

        await recorder.run()

        let told = log.entries(saying: "unsaved readings lost at shutdown")
        #expect(told.map { $0.values["readings"] } == ["3"])
    }

    @Test func oldReadings_arePruned_byAgeAndSize() async throws {
        let recorder = recorder {
            $0.retention.seconds = .seconds(86_400)
            $0.maxBytes = 12_345
        }
        async let running: Void = recorder.run()
        await loop.timers(reach: 1)
        loop.advance(by: .seconds(60))
        let (cutoff, maxBytes) = await store.nextPrune()
        recorder.finish()
        await running

        #expect(cutoff == WallTime(millisecondsSince1970: 1_780_000_000_000 + 60_000 - 86_400_000))
        #expect(maxBytes == 12_345)
    }

    /// Each resolution by an age of its own, counted back from today.
    @Test func oldReadings_areMadeCoarser_byTheirAge() async throws {
        let tiers = ScriptedTiers()
        var limits = SampleRecorder.Limits()
        (limits.retention.single, limits.retention.seconds, limits.retention.minutes) = (
            .seconds(100), .seconds(2000), .seconds(30_000)
        )
        let recorder = SampleRecorder(
            meters: Meters(), repository: store, tiers: tiers, loop: loop, limits: limits, logger: log.logger)
        async let running: Void = recorder.run()
        await loop.timers(reach: 1)
        loop.advance(by: .seconds(60))
        _ = await store.nextPrune()
        recorder.finish()
        await running

        let today = loop.wallNow
        #expect(
            tiers.calls == [
                .rolledUp, .rolledUp, .thinned(before: today + .seconds(-100)),
                .thinned(before: today + .seconds(-100)),
                .expired(.second, before: today + .seconds(-2000)),
                .expired(.minute, before: today + .seconds(-30_000)),
            ])
        #expect(log.entries(saying: "old readings compacted").map { $0.values["readings"] } == ["7"])
    }

    /// Nothing follows it, so that it is whole.
    @Test func secondThatGoesOn_isStored_whenItsSessionEnds() async throws {
        let recorder = recorder()
        let track = recorder.track(for: .um)
        track.keepSeconds()
        append(2...3, to: track)
        recorder.meters.end(.um)
        recorder.finish()
        await recorder.run()

        #expect(try store.savedChunks.flatMap { try $0.seconds() }.map { $0.counts[.voltage] } == [2])
    }

    /// The store is written to in any case.
    @Test func batchOfASessionThatEnded_takesOthersReadingsAlong() async throws {
        let recorder = recorder()
        let track = recorder.track(for: .um)
        append(1...2, to: track)
        append(3...4, to: recorder.track(for: .tc))
        async let running: Void = recorder.run()
        await loop.timers(reach: 1)
        recorder.meters.end(.um)
        _ = try await recorder.forget(.um, readings: false)

        #expect(await store.nextAppend() == [1, 2, 3, 4])

        recorder.finish()
        await running
    }

    @Test func crowdedStore_isSaidOnce_andInTheStatus_untilItIsNot() async throws {
        let space = ScriptedSpace()
        var limits = SampleRecorder.Limits()
        limits.maxBytes = 16 << 20
        let recorder = SampleRecorder(
            meters: Meters(), repository: store, space: space, loop: loop, limits: limits, logger: log.logger)
        async let running: Void = recorder.run()
        await loop.timers(reach: 1)
        let crowding = DiskUsage(part: "settings", partBytes: 57 << 20, usedBytes: 60 << 20, maxBytes: 16 << 20)
        for answer in [nil, crowding, crowding, nil] {
            space.answer(with: answer)
            loop.advance(by: .seconds(3600))
            await space.wasAsked()
            // The answer is kept by the time the recorder waits again.
            await loop.timers(reach: 1)
            try await eventually("the answer is kept") { recorder.status(path: "").crowding == answer.map { "\($0)" } }
        }
        recorder.finish()
        await running

        let begin = log.entries(saying: "store exceeds its size limit")
        #expect(begin.map(\.level) == [.warning])
        #expect(
            begin.first?.values["cause"]
                == "settings take 57.0 MB of the 60.0 MB in use, where max-megabytes allows 16.0 MB; readings keep half of that"
        )
        #expect(log.entries(saying: "store is within its size limit again").count == 1)
    }
}

/// A store that has something to sum up and to thin once, and remembers what it is asked for.
private final class ScriptedTiers: TierRepository {
    enum Call: Hashable, Sendable {
        case rolledUp
        case thinned(before: WallTime)
        case expired(SampleTier, before: WallTime)
    }

    private let asked = Mutex<[Call]>([])
    var calls: [Call] { asked.withLock { $0 } }

    /// - Returns: whether it is the first of its kind.
    private func note(_ call: Call) -> Bool {
        asked.withLock { asked in
            asked.append(call)
            return asked.count { $0 == call } == 1
        }
    }

    func rollUp() -> Int { note(.rolledUp) ? 5 : 0 }
    func thin(before cutoff: WallTime) -> Int { note(.thinned(before: cutoff)) ? 7 : 0 }
    func expire(_ tier: SampleTier, before cutoff: WallTime) { _ = note(.expired(tier, before: cutoff)) }
    func buckets(_ tier: SampleTier, of meter: MeterID, in span: Range<WallTime>) -> [SampleBucket] { [] }
    func firstStored(of meter: MeterID, in span: Range<WallTime>) -> WallTime? { nil }
    func fill(_ series: SeriesBuilder, of meter: MeterID) -> SeriesBuilder { series }
}

private final class ScriptedSpace: SpaceRepository {
    private let crowding = Mutex<DiskUsage?>(nil)
    private let questions: AsyncStream<Void>
    private let asked: AsyncStream<Void>.Continuation

    init() { (questions, asked) = AsyncStream.makeStream() }

    func answer(with answer: DiskUsage?) { crowding.withLock { $0 = answer } }

    func wasAsked() async {
        var iterator = questions.makeAsyncIterator()
        await iterator.next()
    }

    func crowding(maxBytes: Int64) -> DiskUsage? {
        defer { asked.yield() }
        return crowding.withLock { $0 }
    }
}

/// A store that fails when a test says so, and lets a test keep pace with it.
private final class ScriptedSampleStore: SampleRepository {
    private struct State {
        var failure: StoreError?
        var saved: [SampleChunk] = []
        var appendCount = 0
    }

    private let state = Mutex(State())
    private let appends: AsyncStream<[SampleChunk]>
    private let appended: AsyncStream<[SampleChunk]>.Continuation
    private let prunes: AsyncStream<(WallTime, Int64)>
    private let pruned: AsyncStream<(WallTime, Int64)>.Continuation

    init() {
        (appends, appended) = AsyncStream.makeStream()
        (prunes, pruned) = AsyncStream.makeStream()
    }

    var appendCount: Int { state.withLock { $0.appendCount } }
    var savedChunks: [SampleChunk] { state.withLock { $0.saved } }
    var savedVoltages: [Int] { Self.voltages(savedChunks) }

    func fail(with error: StoreError?) { state.withLock { $0.failure = error } }

    /// The next batch that was passed to `append`, whether or not it was accepted.
    func nextAppend() async -> [Int] {
        var iterator = appends.makeAsyncIterator()
        return Self.voltages(await iterator.next() ?? [])
    }

    func nextPrune() async -> (WallTime, Int64) {
        var iterator = prunes.makeAsyncIterator()
        return await iterator.next() ?? (WallTime(millisecondsSince1970: 0), 0)
    }

    func deleteReadings(of meter: MeterID) throws -> Int { 0 }

    func append(_ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]) throws {
        let failure = state.withLock { state in
            state.appendCount += 1
            if state.failure == nil { state.saved += chunks }
            return state.failure
        }
        appended.yield(chunks)
        if let failure { throw failure }
    }

    func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) -> [StoredSample] { [] }

    func prune(before cutoff: WallTime, maxBytes: Int64) -> Int {
        pruned.yield((cutoff, maxBytes))
        return 0
    }

    private static func voltages(_ chunks: [SampleChunk]) -> [Int] {
        chunks.flatMap { chunk in
            // A chunk that cannot be read shows as a missing voltage in the test.
            ((try? chunk.samples()) ?? []).map { Int($0.reading[.voltage] ?? -1) }
        }
    }
}
