package import Domain
import Synchronization

/// Where one meter's readings get what was counted for it. Called on the loop for each reading; cheap.
package final class EnergyTrack: Sendable {
    private struct State {
        var counter: EnergyCounter
        var stepMax = Duration.seconds(10)
        var steps = CounterSteps.fine
        /// Whether something is counted that is not written yet.
        var isChanged = false
        /// As the store has it: what is left after a power cut. Nil where it has nothing.
        var written: EnergyCount?
    }

    private let state: Mutex<State>

    init(_ before: EnergyCount) {
        state = Mutex(State(counter: EnergyCounter(before), written: before.since == nil ? nil : before))
    }

    /// - Parameter steps: of the meter's own counters, as the link in use tells them.
    func adopt(_ steps: CounterSteps) { state.withLock { $0.steps = steps } }

    /// - Parameter stepMax: a longer time between two readings is a gap.
    func adopt(stepMax: Duration) { state.withLock { $0.stepMax = stepMax } }

    /// This host has the meter by the lease with this token.
    func leased(_ token: UInt64, at wall: WallTime) {
        state.withLock { state in
            state.isChanged = state.isChanged || state.counter.count.token != token
            state.counter.leased(token, at: wall)
        }
    }

    /// Counts a reading, and puts the sums into it, unless they belong into another kind of frame.
    func count(_ reading: TimedReading) -> TimedReading {
        state.withLock { state in
            let isForSums = state.counter.add(reading, stepMax: state.stepMax, steps: state.steps)
            state.isChanged = state.isChanged || state.counter.count.since != nil
            guard isForSums else { return reading }
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

    /// Goes on with what was counted under another id of the meter, unless something was counted under this one: both
    /// together would be a leap for whoever adds up this one's.
    func takeUp(_ other: EnergyCount) {
        state.withLock { state in
            guard state.counter.count.since == nil else { return }
            state.counter = EnergyCounter(other)
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

    /// What the store has of it; nil if nothing.
    var written: EnergyCount? { state.withLock(\.written) }

    /// It was written.
    func wasWritten(_ count: EnergyCount?) { state.withLock { $0.written = count } }

    /// It could not be written.
    func wasNotWritten() { state.withLock { $0.isChanged = true } }
}
