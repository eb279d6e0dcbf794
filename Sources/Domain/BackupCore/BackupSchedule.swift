package struct BackupSettings: Hashable, Sendable {
    package static let everyRange = Duration.seconds(3600) ... .seconds(30 * 86_400)
    package static let keepRange = 2...1000

    /// Nil for no backups.
    package var directory: String?
    package var every = Duration.seconds(86_400)
    package var keep = 14

    package init(directory: String? = nil) { self.directory = directory }
}

/// Decides when the next backup begins. The boot-time clock measures the age of a backup made by this process. The age
/// of an older backup follows from its date, and is unknown if the date is in the future.
package struct BackupSchedule: Hashable, Sendable {
    /// Delay of the first backup, because the program is busy after the start.
    package static let settling = Duration.seconds(120)
    /// Delay of the first backup if the last one's age is unknown, for example before the network has set the system
    /// clock.
    package static let patience = Duration.seconds(3600)
    /// Pause after the first failure; it doubles up to `every`.
    package static let firstRetry = Duration.seconds(600)

    private struct Mark: Hashable {
        var at: MonotonicTime
        /// Date in the backup's file name.
        var date: WallTime
    }

    private let every: Duration
    private let start: MonotonicTime
    private var wrote: Mark?
    private var failedAt: MonotonicTime?
    private var failures = 0

    package init(every: Duration, startingAt start: MonotonicTime) { (self.every, self.start) = (every, start) }

    package func isDue(after last: WallTime?, at now: MonotonicTime, _ wallNow: WallTime) -> Bool {
        if let failedAt { return now - failedAt >= min(every, Self.firstRetry * (1 << min(failures - 1, 16))) }
        guard let last else { return now - start >= Self.settling }
        guard let age = age(of: last, at: now, wallNow) else { return now - start >= Self.patience }
        return age >= every && now - start >= Self.settling
    }

    /// Nil if unknown.
    package func age(of last: WallTime?, at now: MonotonicTime, _ wallNow: WallTime) -> Duration? {
        if let wrote, wrote.date == last { return now - wrote.at }
        guard let last, last <= wallNow else { return nil }
        return .milliseconds(wallNow.millisecondsSince1970.subtractingClamped(last.millisecondsSince1970))
    }

    package mutating func succeeded(with date: WallTime, at now: MonotonicTime) {
        wrote = Mark(at: now, date: date)
        (failedAt, failures) = (nil, 0)
    }

    /// Clears earlier failures if another program has meanwhile backed up the same store.
    ///
    /// - Returns: whether the last good backup is recent enough.
    package mutating func settles(for last: WallTime?, at now: MonotonicTime, _ wallNow: WallTime) -> Bool {
        guard let age = age(of: last, at: now, wallNow), age < every else { return false }
        (failedAt, failures) = (nil, 0)
        return true
    }

    package mutating func failed(at now: MonotonicTime) { (failedAt, failures) = (now, failures + 1) }
}
