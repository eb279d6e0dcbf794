import Domain
import Logging

/// Reports each change of a meter's state to the program's log, the meter's log, the alerts and the waiting callers.
final class MeterStates {
    let id: MeterID
    let loop: any SessionLoop
    let logger: Logger
    let past = SessionPast()
    private let waits: SessionWaits
    private let alerts: AlertTrack?
    private let log: LogKeeper?
    private let computed: ComputedMeters?
    private(set) var machine: ConnectionMachine { didSet { mark() } }
    private(set) var since: WallTime
    /// Last error for users; nil once data is available.
    var lastError: String? { didSet { mark() } }
    private var isMarked = false
    private let changes: ChangeMarks

    init(
        of id: MeterID, isWanted: Bool, asksFirst: Bool, on loop: any SessionLoop, waits: SessionWaits,
        alerts: AlertTrack?, log: LogKeeper?, computed: ComputedMeters?, changes: ChangeMarks, logger: Logger
    ) {
        self.changes = changes
        self.id = id
        machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: isWanted, asksFirst: asksFirst)
        self.loop = loop
        self.waits = waits
        self.alerts = alerts
        self.log = log
        self.computed = computed
        self.logger = logger
        since = loop.wallNow
        alerts?.expectReadings(within: machine.timing.staleAfter)
        alerts?.stateChanged(to: machine.state, at: loop.now, loop.wallNow)
    }

    var now: MonotonicTime { loop.now }

    /// Marks the meter as changed. Called after each change that `DeviceSession.status` shows.
    func mark() {
        guard !isMarked else { return }
        isMarked = true
        changes.mark(.sessions)
    }

    func takeMark() -> Bool {
        defer { isMarked = false }
        return isMarked
    }

    /// - Parameter cause: nil if only time passed.
    @discardableResult
    func apply<Action>(because cause: String?, _ event: (inout ConnectionMachine) -> Action) -> Action {
        let before = machine.state
        let action = event(&machine)
        if machine.state != before { changed(from: before, because: cause ?? timeCause(from: before)) }
        return action
    }

    /// Returns whether the frame made data available.
    func frameReceived(because cause: String, at now: MonotonicTime) -> Bool {
        let before = machine.state
        apply(because: cause) { $0.frameReceived(at: now) }
        return before != .dataAvailable && machine.state == .dataAvailable
    }

    func adopt(_ timing: ConnectionTiming) {
        apply(because: "timing changed") { $0.timingChanged(timing, at: loop.now) }
        alerts?.expectReadings(within: timing.staleAfter)
    }

    func asksFirst(_ asksFirst: Bool) { machine.asksFirst = asksFirst }

    private func changed(from before: ConnectionState, because cause: String) {
        since = loop.wallNow
        past.record(from: before, to: machine.state, cause: cause, at: loop.now)
        log?.stateChanged(of: id, from: before, to: machine.state, because: cause, isWanted: machine.isWanted)
        logger.info(
            "meter state changed",
            metadata: ["from": "\(before.rawValue)", "to": "\(machine.state.rawValue)", "cause": "\(cause)"])
        alerts?.stateChanged(to: machine.state, at: loop.now, since)
        if machine.state == .dataAvailable {
            lastError = nil
            waits.endAll(with: .data)
        }
        computed?.stateChanged(of: id)
    }

    func timeCause(from before: ConnectionState) -> String {
        switch before {
        case .offline: "the device is still there"
        case .notConnected: "an attempt is due"
        case .connecting: "the link did not open within \(words(machine.timing.connectTimeout))"
        case .connected, .ready, .communicating: "no valid answer for \(words(machine.timing.silenceTimeout))"
        case .dataAvailable: "no valid frame for \(words(machine.timing.staleAfter))"
        }
    }

    private func words(_ time: Duration) -> String {
        let milliseconds = time.milliseconds
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
