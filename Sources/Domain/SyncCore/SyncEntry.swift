/// Numbered event of the session, for subscribers and the log.
package struct SyncEntry: Hashable, Sendable {
    /// Counts from 1 without a gap during the session.
    package let number: UInt64
    package let time: MonotonicTime
    /// By this host's calendar, which the machine does not know. The forwarder sets it.
    package var wall: WallTime?
    private let event: SyncEvent

    init(number: UInt64, time: MonotonicTime, event: SyncEvent) {
        self.number = number
        self.time = time
        self.event = event
    }

    /// The input, unless a verdict replaced it.
    package var input: SyncInput? {
        if case .input(let input) = event { input } else { nil }
    }

    /// Made on demand, because most entries are never read.
    package var text: String { "\(event)" }
}
