/// How often backups are written, and where.
package struct BackupSettings: Hashable, Sendable {
    package static let everyRange = Duration.seconds(3600) ... .seconds(30 * 86_400)
    package static let keepRange = 2...1000

    /// Nil for no backups.
    package var directory: String?
    package var every = Duration.seconds(86_400)
    /// Number of finished backups in the folder.
    package var keep = 14

    package init(directory: String? = nil) { self.directory = directory }
}

/// When the next backup is due.
///
/// The age of a backup of this run is measured on the boot-time clock, so a calendar that jumps changes nothing. The
/// date of any other is compared with the calendar; a date ahead of the calendar says nothing about the age.
package struct BackupSchedule: Hashable, Sendable {
    /// A program that has just started has other things to do.
    package static let settling = Duration.seconds(120)
    /// How long to run first where the last backup's age is unknown, as before the network has set the clock.
    package static let patience = Duration.seconds(3600)
    /// Pause after the first failure; it doubles with each further one, up to `every`.
    package static let firstRetry = Duration.seconds(600)

    private struct Mark: Hashable {
        var at: MonotonicTime
        /// Of the name of a backup that was written then.
        var date: WallTime
    }

    private let every: Duration
    private let start: MonotonicTime
    private var wrote: Mark?
    private var failedAt: MonotonicTime?
    private var failures = 0

    package init(every: Duration, startingAt start: MonotonicTime) { (self.every, self.start) = (every, start) }

    /// - Parameter last: date of the last good backup, if there is one.
    package func isDue(after last: WallTime?, at now: MonotonicTime, _ wallNow: WallTime) -> Bool {
        if let failedAt { return now - failedAt >= min(every, Self.firstRetry * (1 << min(failures - 1, 16))) }
        guard let last else { return now - start >= Self.settling }
        guard let age = age(of: last, at: now, wallNow) else { return now - start >= Self.patience }
        return age >= every && now - start >= Self.settling
    }

    /// - Returns: nil if unknown.
    package func age(of last: WallTime?, at now: MonotonicTime, _ wallNow: WallTime) -> Duration? {
        if let wrote, wrote.date == last { return now - wrote.at }
        guard let last, last <= wallNow else { return nil }
        return .milliseconds(wallNow.millisecondsSince1970.subtractingClamped(last.millisecondsSince1970))
    }

    package mutating func succeeded(with date: WallTime, at now: MonotonicTime) {
        wrote = Mark(at: now, date: date)
        (failedAt, failures) = (nil, 0)
    }

    /// Another program that backs up the same store may have written what this one failed to.
    ///
    /// - Returns: whether the last good backup is recent enough for now; earlier failures are then over.
    package mutating func settles(for last: WallTime?, at now: MonotonicTime, _ wallNow: WallTime) -> Bool {
        guard let age = age(of: last, at: now, wallNow), age < every else { return false }
        (failedAt, failures) = (nil, 0)
        return true
    }

    package mutating func failed(at now: MonotonicTime) { (failedAt, failures) = (now, failures + 1) }
}
