package struct SyncEntry: Hashable, Sendable {
    /// Number of the event in the session, from 1 without gaps.
    package let number: UInt64
    package let time: MonotonicTime
    /// Wall-clock time. Set by the forwarder, because the sync machine has no wall clock.
    package var wall: WallTime?
    private let event: SyncEvent

    init(number: UInt64, time: MonotonicTime, event: SyncEvent) {
        self.number = number
        self.time = time
        self.event = event
    }

    /// Nil if a middleware's verdict replaced the input.
    package var input: SyncInput? {
        if case .input(let input) = event { input } else { nil }
    }

    package var text: String { "\(event)" }
}
