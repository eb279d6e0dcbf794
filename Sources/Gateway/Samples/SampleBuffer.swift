package import Domain
import Synchronization

/// Buffers one meter's readings for the recorder: each one or, on request, one bucket per second.
package final class SampleBuffer: MeterPart {
    fileprivate struct State {
        var builder: SampleChunkBuilder
        var full: [SampleChunk] = []
        var fullCount = 0
        var keepsSeconds = false
        var second: SampleBucket?
        var seconds: [SampleBucket] = []
    }

    /// Highest rate, in readings per second, at which all are kept: that of an FNB58
    /// (Docs/Decisions/0033-samples-of-fast-meters.md).
    static let wholeRateMax = 100

    package let meter: MeterID
    private let state: Mutex<State>
    private let readingsMax: Int
    private let chunkIsFull: @Sendable () -> Void
    private let rest: @Sendable ([SampleChunk]) -> Void

    /// - Parameter rest: receives the remaining readings when a session ends.
    init(
        meter: MeterID, readingsMax: Int, chunkIsFull: @escaping @Sendable () -> Void,
        rest: @escaping @Sendable ([SampleChunk]) -> Void
    ) {
        self.meter = meter
        state = Mutex(State(builder: SampleChunkBuilder(meter: meter)))
        self.readingsMax = readingsMax
        self.chunkIsFull = chunkIsFull
        self.rest = rest
    }

    package func sessionEnded() {
        rest(takeAll(isOver: true))
        keepWhole()
    }

    /// Combines further readings into one bucket per second.
    package func keepSeconds() { state.withLock { $0.keepsSeconds = true } }

    package func keepWhole() {
        state.withLock { state in
            state.keepsSeconds = false
            state.endSecond()
        }
    }

    /// - Parameter spread: as for `SampleBucket.add`; kept only in one-second buckets.
    package func append(_ time: WallTime, _ reading: Reading, _ spread: ReadingSpread? = nil) {
        let isFull = state.withLock { state in
            if state.keepsSeconds {
                state.addToSecond(time, reading, spread)
                return false
            }
            if state.builder.isFar(time), let chunk = state.builder.finish() {
                state.full.append(chunk)
                state.fullCount += chunk.count
            }
            state.builder.append(time, reading)
            guard state.builder.count >= readingsMax, let chunk = state.builder.finish() else { return false }
            state.full.append(chunk)
            state.fullCount += chunk.count
            return true
        }
        if isFull { chunkIsFull() }
    }

    var count: Int {
        state.withLock { $0.builder.count + $0.fullCount + $0.seconds.count + ($0.second == nil ? 0 : 1) }
    }

    func takeFull() -> [SampleChunk] {
        state.withLock { state in
            defer {
                state.full = []
                state.fullCount = 0
            }
            return state.full
        }
    }

    func copyAll() -> [SampleChunk] {
        state.withLock { state in
            var copy = state
            return copy.takeAll(of: meter, isOver: true)
        }
    }

    /// - Parameter isOver: whether no reading follows. If false, the incomplete second remains in the buffer, to store
    ///   it only once.
    func takeAll(isOver: Bool) -> [SampleChunk] {
        state.withLock { $0.takeAll(of: meter, isOver: isOver) }
    }
}

extension SampleBuffer.State {
    fileprivate mutating func addToSecond(_ time: WallTime, _ reading: Reading, _ spread: ReadingSpread?) {
        let start = SampleTier.second.bucket(of: time)
        if second?.start != start {
            endSecond()
            second = SampleBucket(start: start)
        }
        second?.add(reading, spread)
    }

    fileprivate mutating func endSecond() {
        if let second { seconds.append(second) }
        second = nil
    }

    fileprivate mutating func takeAll(of meter: MeterID, isOver: Bool) -> [SampleChunk] {
        if let chunk = builder.finish() { full.append(chunk) }
        if isOver { endSecond() }
        defer {
            full = []
            fullCount = 0
            seconds = []
        }
        return full + SampleChunk.seconds(of: meter, seconds)
    }
}
