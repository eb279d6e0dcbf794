import MeterModel

extension SyncState {
    /// Those who watch hear of every event, with its number and with the meaning that it has by now.
    func logging(_ event: SyncEvent, number: UInt64, at now: MonotonicTime) -> SyncEffect {
        .log(SyncEntry(number: number, time: now, event: event))
    }
}
