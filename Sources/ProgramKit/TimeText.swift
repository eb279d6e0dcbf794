package import Domain
import LinuxIO

/// Formats and parses times for people: in their own time zone, with the date unless it is today.
///
/// Times for programs are always in UTC (RFC 3339).
package struct TimeText: Sendable {
    private let now: WallTime
    /// Returns the zone's offset from UTC at a moment.
    private let offset: @Sendable (WallTime) -> Duration
    /// Text after each time: `Z` if the times are in UTC; empty for local times.
    private let suffix: String

    package init(now: WallTime, suffix: String = "", offset: @escaping @Sendable (WallTime) -> Duration) {
        self.now = now
        self.suffix = suffix
        self.offset = offset
    }

    /// Formatter for this machine's time zone, or for the one in the environment's `TZ`.
    package static var local: Self {
        Self(now: LinuxClock.wallNow) { LinuxClock.zoneOffset(at: $0) }
    }

    package static var utc: Self { Self(now: LinuxClock.wallNow, suffix: "Z") { _ in .zero } }

    /// Returns `14:03:05` for a time of today, otherwise `2026-11-21 14:03:05`.
    package func text(_ moment: WallTime, withMilliseconds: Bool = false) -> String {
        let (date, time) = parts(of: moment)
        let shown = withMilliseconds ? time : time.prefix(8)
        return (date == parts(of: now).date ? "" : "\(date) ") + shown + suffix
    }

    /// Formats an RFC 3339 time like a `WallTime`. Returns any other text unchanged.
    package func text(_ moment: String, withMilliseconds: Bool = false) -> String {
        WallTime(moment).map { text($0, withMilliseconds: withMilliseconds) } ?? moment
    }

    package func sentence(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let moment = word.prefix { $0.isNumber || $0 == "-" || $0 == ":" || $0 == "." || $0 == "T" || $0 == "Z" }
            return WallTime(moment).map { self.text($0) + word.dropFirst(moment.count) } ?? String(word)
        }.joined(separator: " ")
    }

    /// Returns the time of day with milliseconds, for lines in quick succession.
    package func timeOfDay(_ moment: String) -> String {
        WallTime(moment).map { parts(of: $0).time + suffix } ?? moment
    }

    /// Parses `2026-11-21`, `2026-11-21 14:03`, `14:03:05` or RFC 3339.
    ///
    /// - Returns: nil for anything else. For a time skipped by the change to summer time, the time one hour later.
    package func moment(_ text: String) -> WallTime? {
        if let exact = WallTime(text) { return exact }
        let today = parts(of: now).date
        for form in ["\(text)T00:00:00Z", "\(text)Z", "\(text):00Z", "\(today)T\(text)Z", "\(today)T\(text):00Z"] {
            guard let local = WallTime(form) else { continue }
            // The time zone's offset depends on the result. So guess the result with the offset at the local time. The
            // offset at the guess is right even near a change of summer time.
            let guess = local - offset(local)
            return local - offset(guess)
        }
        return nil
    }

    private func parts(of moment: WallTime) -> (date: Substring, time: Substring) {
        let text = (moment + offset(moment)).description
        return (text.prefix(10), text.dropFirst(11).dropLast())
    }
}

extension WallTime {
    fileprivate static func - (moment: Self, step: Duration) -> Self { moment + (.zero - step) }
}
