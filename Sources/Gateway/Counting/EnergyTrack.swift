package import Domain
import Synchronization

/// Where one meter's readings get what was counted for it. Called on the loop for each reading; cheap.
package final class EnergyTrack: MeterPart {
    private struct State {
        var counter: EnergyCounter
        var stepMax = Duration.seconds(10)
        var steps = CounterSteps.fine
        /// Whether something is counted that is not written yet.
        var isChanged = false
        /// As the store has it: what is left after a power cut. Nil where it has nothing.
        var written: EnergyCount?
    }

    let meter: MeterID
    private let repository: any EnergyCountRepository
    private let state: Mutex<State>

    init(of meter: MeterID, _ before: EnergyCount, repository: any EnergyCountRepository) {
        self.meter = meter
        self.repository = repository
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

    package var isNeeded: Bool { count != nil }

    /// Nothing is counted between the last reading of this session and the first of the next.
    package func sessionEnded() {
        state.withLock { state in
            let count = state.counter.count
            state.counter = EnergyCounter(count.since == nil ? EnergyCount() : count)
        }
    }

    /// Begins anew from zero.
    func reset(at wall: WallTime) async throws(GatewayError) {
        state.withLock { state in
            state.counter.reset(at: wall)
            state.isChanged = true
        }
        do {
            try await writeChanges()
        } catch {
            throw GatewayError(error, doing: "it counts from zero, and would not after a restart")
        }
    }

    /// Writes what is not written yet; what the store refuses is written with the next readings.
    func writeChanges() async throws {
        guard let count = takeChanged() else { return }
        do {
            try await repository.keepEnergyCount(count, of: meter)
        } catch {
            wasNotWritten()
            throw error
        }
        wasWritten(count)
    }

    /// Nothing was ever counted.
    func forget() {
        state.withLock { ($0.counter, $0.isChanged, $0.written) = (EnergyCounter(EnergyCount()), false, nil) }
    }

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
