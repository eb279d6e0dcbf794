import MeterModel
import SettingsCore

extension SyncState {
    /// Sets the zone up before any work: makes it where it is missing, and listens to what happens in it before anything
    /// is read, so that nothing falls in between.
    func zoneSetUp(_ run: SyncRun, at now: MonotonicTime) -> SyncStep? {
        if account == .zoneMissing { return .perform(.createZone(zone)) }
        guard !run.isPastSubscribe else { return nil }
        switch stream.state {
        case .closed: return .openEvents
        case .opening: return stream.subscribeDeadline(timing).map { now < $0 } == true ? .wait : nil
        case .open, .waiting: return nil
        }
    }
}
