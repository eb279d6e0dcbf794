package import Domain

/// The cloud's two clocks and its only way to wait, passed in so that tests control time.
package struct CloudClock: Sendable {
    /// The boot-time clock: decides every lease.
    package var now: @Sendable () -> MonotonicTime
    /// The calendar: limits stamps, and is shown to people.
    package var wallNow: @Sendable () -> WallTime
    /// Whether something besides this machine keeps the calendar right. Otherwise nothing is deleted by age.
    package var isConfirmed: @Sendable () -> Bool
    /// Returns at that time or later; throws if its task is cancelled.
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
