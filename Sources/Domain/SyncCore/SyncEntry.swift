/// Numbered event of the session, for subscribers and the log.
package struct SyncEntry: Hashable, Sendable {
    /// Number of the event in the session; counts from 1 without a gap.
    package let number: UInt64
    package let time: MonotonicTime
    /// Time by this host's calendar. The sync machine has no calendar, so the forwarder sets the time.
    package var wall: WallTime?
    private let event: SyncEvent

    init(number: UInt64, time: MonotonicTime, event: SyncEvent) {
        self.number = number
        self.time = time
        self.event = event
    }

    /// The input; nil if a verdict replaced it.
    package var input: SyncInput? {
        if case .input(let input) = event { input } else { nil }
    }

    /// Text of the event. Created on demand, because most entries are never read.
    package var text: String { "\(event)" }
}
