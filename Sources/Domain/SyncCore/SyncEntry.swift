/// A numbered event of the session, for those who watch and for the log.
package struct SyncEntry: Hashable, Sendable {
    /// Counts from 1, without a gap, as long as the session lives.
    package let number: UInt64
    package let time: MonotonicTime
    /// By this host's calendar, which the machine does not know; set by whoever passes the entry on.
    package var wall: WallTime?
    private let event: SyncEvent

    init(number: UInt64, time: MonotonicTime, event: SyncEvent) {
        self.number = number
        self.time = time
        self.event = event
    }

    /// The input, if it meant just that.
    package var input: SyncInput? {
        if case .input(let input) = event { input } else { nil }
    }

    /// What happened, in words. Made on demand, because most entries are never read.
    package var text: String { "\(event)" }
}
