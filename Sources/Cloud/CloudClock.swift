package import Domain

/// The cloud's two clocks and its sleep function. Replaced in tests.
package struct CloudClock: Sendable {
    /// Boot-time clock, used for every lease decision.
    package var now: @Sendable () -> MonotonicTime
    /// System wall clock, for stamp limits and display.
    package var wallNow: @Sendable () -> WallTime
    /// Whether a source outside this machine confirms the wall clock. Otherwise nothing is deleted by age.
    package var isConfirmed: @Sendable () -> Bool
    /// Sleeps at least until that time; throws if its task is cancelled.
    package var sleep: @Sendable (_ until: MonotonicTime) async throws -> Void

    package init(
        now: @escaping @Sendable () -> MonotonicTime, wallNow: @escaping @Sendable () -> WallTime,
        isConfirmed: @escaping @Sendable () -> Bool = { true },
        sleep: @escaping @Sendable (_ until: MonotonicTime) async throws -> Void
    ) {
        self.now = now
        self.wallNow = wallNow
        self.isConfirmed = isConfirmed
        self.sleep = sleep
    }
}
