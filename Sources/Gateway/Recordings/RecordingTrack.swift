package import Domain
import Synchronization

/// Passes one meter's readings to its recording. Called on the session loop for each reading, so it must be fast.
package final class RecordingTrack: MeterPart {
    package let meter: MeterID
    private let machine: Mutex<RecordingMachine>
    /// Time of the last call of `told` in `append`; nil without a recording.
    private let glance = Mutex<MonotonicTime?>(nil)
    private let tell: @Sendable (Recording, RecordingID?) -> Void

    /// - Parameter tell: receives each recording that began or ended automatically, with its former id if it waited.
    init(_ machine: RecordingMachine, tell: @escaping @Sendable (Recording, RecordingID?) -> Void) {
        meter = machine.meter
        self.machine = Mutex(machine)
        self.tell = tell
    }

    package var isNeeded: Bool { hasRecording }

    package var hasRecording: Bool { machine.withLock { $0.hasRecording } }

    package var recording: Recording? { machine.withLock { $0.recording } }

    /// - Parameter told: returns the meter's telemetry besides readings; called once a second during a recording.
    package func append(_ reading: TimedReading, told: () -> TelemetryBody? = { nil }) {
        let (outcome, goesOn) = machine.withLock { ($0.received(reading), $0.hasRecording) }
        tell(of: outcome)
        guard goesOn else { return glance.withLock { $0 = nil } }
        let isDue = glance.withLock { last in
            if let last, reading.time - last < Self.glanceInterval { return false }
            last = reading.time
            return true
        }
        if isDue, let told = told() { machine.withLock { $0.told(told) } }
    }

    private static let glanceInterval = Duration.seconds(1)

    package func linkLost() { machine.withLock { $0.linkLost() } }

    /// - Parameter token: 0 without a lease.
    package func leased(_ token: UInt64) { machine.withLock { $0.token = token } }

    package func apply(_ rules: RecordingRules) { handle { $0.rulesChanged(rules) } }

    func woke(at wall: WallTime, _ now: MonotonicTime) { handle { $0.woke(at: wall, now) } }

    func resume(_ recording: Recording, isRestart: Bool) {
        machine.withLock { $0.resumed(recording, isRestart: isRestart) }
    }

    func handOver() -> Recording? { machine.withLock { $0.handedOver() } }

    /// - Returns: nil if the meter is already being recorded.
    func start(name: String?, test: BatteryTest?, at wall: WallTime, _ now: MonotonicTime) -> Recording? {
        guard case .started(let recording) = machine.withLock({ $0.start(name: name, test: test, at: wall, now) })
        else {
            return nil
        }
        return recording
    }

    func stop(at wall: WallTime, _ now: MonotonicTime) -> Recording? {
        guard case .ended(let recording) = machine.withLock({ $0.stop(at: wall, now) }) else { return nil }
        return recording
    }

    func describe(name: String?, note: String?) -> Recording? {
        machine.withLock { $0.described(name: name, note: note) }
    }

    /// - Returns: nil if the recording has another id or did not change.
    func drove(_ id: RecordingID, _ phase: LoadDrive.Phase, problem: String?) -> Recording? {
        machine.withLock { $0.drove(id, phase, problem: problem) }
    }

    func loadEnded(_ id: RecordingID, _ end: Recording.End) { handle { $0.loadEnded(id, end) } }

    private func handle(_ event: (inout RecordingMachine) -> RecordingMachine.Outcome) {
        tell(of: machine.withLock { event(&$0) })
    }

    private func tell(of outcome: RecordingMachine.Outcome) {
        switch outcome {
        case .none: break
        case .started(let recording), .ended(let recording): tell(recording, nil)
        case .begun(let recording, let waited): tell(recording, waited)
        }
    }
}
