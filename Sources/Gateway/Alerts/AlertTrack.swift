package import Domain
import Synchronization

/// Applies one meter's alert rules to the readings and connection states from its session.
package final class AlertTrack: MeterPart {
    private let alerts: Mutex<MeterAlerts>
    private let loop: any SessionLoop
    private let tell: @Sendable ([MeterAlerts.Event]) -> Void

    init(
        _ alerts: MeterAlerts, loop: any SessionLoop, tell: @escaping @Sendable ([MeterAlerts.Event]) -> Void
    ) {
        self.loop = loop
        self.alerts = Mutex(alerts)
        self.tell = tell
    }

    package var isNeeded: Bool { alerts.withLock { !$0.isEmpty } }

    package func sessionEnded() { stateChanged(to: .offline, at: loop.now, loop.wallNow) }

    package func append(_ reading: TimedReading) { handle { $0.received(reading) } }

    package func stateChanged(to state: ConnectionState, at now: MonotonicTime, _ wall: WallTime) {
        handle { $0.stateChanged(to: state, at: now, wall) }
    }

    /// Sets the time without readings after which the meter counts as without data.
    func expectReadings(within staleAfter: Duration) {
        alerts.withLock { $0.gapMax = max(MeterAlerts.gapMaxDefault, staleAfter) }
    }

    func woke(at now: MonotonicTime, _ wall: WallTime) { handle { $0.woke(at: now, wall) } }

    func holderIs(_ holder: String?, at now: MonotonicTime, _ wall: WallTime) {
        handle { $0.holderIs(holder, at: now, wall) }
    }

    func add(_ rule: AlertRule, _ standing: AlertSnapshot, at now: MonotonicTime, _ wall: WallTime) {
        handle { $0.add(rule, standing, at: now, wall) }
    }

    @discardableResult
    func remove(_ id: AlertID) -> AlertSnapshot? { alerts.withLock { $0.remove(id) } }

    func standing(of id: AlertID) -> AlertSnapshot? { alerts.withLock { $0.standing(of: id) } }

    var raisedCount: Int { alerts.withLock(\.raisedCount) }
    var needsWaking: Bool { alerts.withLock(\.needsWaking) }
    var asksForHolder: Bool { alerts.withLock(\.asksForHolder) }

    private func handle(_ event: (inout MeterAlerts) -> [MeterAlerts.Event]) {
        let events = alerts.withLock { event(&$0) }
        if !events.isEmpty { tell(events) }
    }
}
