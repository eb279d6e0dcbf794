extension SyncState {
    /// Reports every event to those who watch, with its number and its meaning as understood by now.
    func logging(_ event: SyncEvent, number: UInt64, at now: MonotonicTime) -> SyncEffect {
        .log(SyncEntry(number: number, time: now, event: event))
    }
}
