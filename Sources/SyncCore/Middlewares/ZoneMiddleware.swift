package import MeterModel
import SettingsCore

/// Sets the zone up before any work: makes it where it is missing, and listens to what happens in it before anything is
/// read, so that nothing falls in between.
package struct ZoneMiddleware: SyncMiddleware {
    package let name = "zone set-up"

    package init() {}

    package func proposal(_ state: SyncState, _ run: SyncRun, at now: MonotonicTime) -> SyncProposal? {
        if state.isZoneMissing { return .perform(.createZone(state.zone)) }
        guard !run.isPastSubscribe else { return nil }
        switch state.stream {
        case .closed: return .openEvents
        case .opening: return state.subscribeDeadline.map { now < $0 } == true ? .wait : nil
        case .open, .waiting: return nil
        }
    }
}
