package import MeterModel

/// An event of the session with its number, for those who watch and for the log.
package struct SyncEntry: Hashable, Sendable {
    /// From 1 on, without a gap, as long as the session lives.
    package let number: UInt64
    package let time: MonotonicTime
    /// By this host's calendar, which the machine does not know: set by whoever passes the entry on.
    package var wall: WallTime?
    private let event: SyncEvent

    init(number: UInt64, time: MonotonicTime, event: SyncEvent) {
        self.number = number
        self.time = time
        self.event = event
    }

    /// What came in, where it meant just that.
    package var input: SyncInput? {
        if case .input(let input) = event { input } else { nil }
    }

    /// What happened, in words. Made only where somebody reads it: most entries are heard by nobody.
    package var text: String { "\(event)" }
}
