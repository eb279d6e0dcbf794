extension SyncState {
    func logging(_ event: SyncEvent, number: UInt64, at now: MonotonicTime) -> SyncEffect {
        .log(SyncEntry(number: number, time: now, event: event))
    }
}
