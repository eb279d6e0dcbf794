import MeterModel
package import RecordingCore
import Synchronization

/// Where one meter's readings get what was counted for it. Called on the loop for each reading; cheap.
package final class EnergyTrack: Sendable {
    private struct State {
        var counter: EnergyCounter
        var stepMax = Duration.seconds(10)
        /// Whether the link in use is to a meter that counts nothing.
        var isCounting = false
        /// Whether something is counted that is not written yet.
        var isChanged = false
    }

    private let state: Mutex<State>

    init(_ before: EnergyCount) { state = Mutex(State(counter: EnergyCounter(before))) }

    /// - Parameter isCounting: whether the meter counts nothing itself.
    func adopt(isCounting: Bool) { state.withLock { $0.isCounting = isCounting } }

    /// - Parameter stepMax: a longer time between two readings is a gap.
    func adopt(stepMax: Duration) { state.withLock { $0.stepMax = stepMax } }

    /// Counts a reading, and puts the sums into it, unless the meter counts by itself.
    func count(_ reading: TimedReading) -> TimedReading {
        state.withLock { state in
            guard state.isCounting, state.counter.add(reading, stepMax: state.stepMax) else { return reading }
            state.isChanged = true
            var reading = reading
            state.counter.count.put(into: &reading.reading)
            return reading
        }
    }

    /// What was counted; nil if nothing ever was.
    package var count: EnergyCount? {
        state.withLock { state in
            let count = state.counter.count
            return count.since == nil ? nil : count
        }
    }

    func reset(at wall: WallTime) { state.withLock { $0.counter.reset(at: wall) } }

    /// Takes in what was counted under another id of the meter.
    func add(_ other: EnergyCount) {
        state.withLock { state in
            state.counter = EnergyCounter(state.counter.count + other)
            state.isChanged = true
        }
    }

    /// What is not written yet, which counts as written from now on; nil if nothing is.
    func takeChanged() -> EnergyCount? {
        state.withLock { state in
            guard state.isChanged else { return nil }
            state.isChanged = false
            return state.counter.count
        }
    }

    /// It could not be written.
    func wasNotWritten() { state.withLock { $0.isChanged = true } }
}
