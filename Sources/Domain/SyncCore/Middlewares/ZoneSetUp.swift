extension SyncState {
    /// Creates a missing zone, and opens the event stream before the first fetch, so that no change is missed.
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
