package import Domain
import Synchronization

/// Counts one meter's energy and charge and adds them to its readings. Called on the session loop for each reading, so
/// it must be fast.
package final class EnergyTrack: MeterPart {
    private struct State {
        var counter: EnergyCounter
        var stepMax = Duration.seconds(10)
        var steps = CounterSteps.fine
        var isChanged = false
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

    /// - Parameter steps: resolution of the meter's own counters over the link in use.
    func adopt(_ steps: CounterSteps) { state.withLock { $0.steps = steps } }

    /// - Parameter stepMax: maximum time between two readings over which energy is counted.
    func adopt(stepMax: Duration) { state.withLock { $0.stepMax = stepMax } }

    func leased(_ token: UInt64, at wall: WallTime) {
        state.withLock { state in
            state.isChanged = state.isChanged || state.counter.count.token != token
            state.counter.leased(token, at: wall)
        }
    }

    /// Counts a reading and returns it with the totals; returns it unchanged if it lacks counters that the meter sends
    /// in separate frames.
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

    /// Nil before the first counted reading.
    package var count: EnergyCount? {
        state.withLock { state in
            let count = state.counter.count
            return count.since == nil ? nil : count
        }
    }

    package var isNeeded: Bool { count != nil }

    /// Ensures that the time until the next session's first reading adds no energy.
    package func sessionEnded() {
        state.withLock { state in
            let count = state.counter.count
            state.counter = EnergyCounter(count.since == nil ? EnergyCount() : count)
        }
    }

    func reset(at wall: WallTime) async throws(GatewayError) {
        state.withLock { state in
            state.counter.reset(at: wall)
            state.isChanged = true
        }
        try await GatewayError.doing("the count is reset but not stored yet, and a restart would undo that") {
            try await writeChanges()
        }
    }

    /// Writes a changed count. After a failure, the next batch of readings includes it.
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

    func forget() {
        state.withLock { ($0.counter, $0.isChanged, $0.written) = (EnergyCounter(EnergyCount()), false, nil) }
    }

    /// Continues the count of another id, unless this meter already has one: the sum of both would look like a jump.
    func takeUp(_ other: EnergyCount) {
        state.withLock { state in
            guard state.counter.count.since == nil else { return }
            state.counter = EnergyCounter(other)
            state.isChanged = true
        }
    }

    /// Returns the count and marks it as written; nil if it is unchanged since the last write.
    func takeChanged() -> EnergyCount? {
        state.withLock { state in
            guard state.isChanged else { return nil }
            state.isChanged = false
            return state.counter.count
        }
    }

    var written: EnergyCount? { state.withLock(\.written) }

    func wasWritten(_ count: EnergyCount?) { state.withLock { $0.written = count } }

    func wasNotWritten() { state.withLock { $0.isChanged = true } }
}
