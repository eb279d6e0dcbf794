import Domain
package import Logging

/// Deletes old tombstones in the cloud. Ages count back from a stored date (`BelievedDate`), which only a calendar
/// confirmed from outside this machine moves forward; all copies of a cloud share the date.
package actor CloudRetention {
    /// Not at once, because a starting server is busy enough.
    static let firstAfter = Duration.seconds(600)
    package static let interval = Duration.seconds(86_400)
    /// A host that was away for longer never hears of the deletion, and does not push what it has
    /// (Docs/Decisions/0016).
    package static let tombstoneAge = Duration.seconds(180 * 86_400)

    private let engine: any CloudEngine
    private let clock: CloudClock
    private let logger: Logger
    /// What this copy stored last, and when. Running time counts from then.
    private var last: (date: WallTime, at: MonotonicTime)?

    package init(engine: any CloudEngine, clock: CloudClock, logger: Logger) {
        self.engine = engine
        self.clock = clock
        self.logger = logger
    }

    /// To be called about every `interval`.
    package func purge() async {
        guard clock.isConfirmed() else {
            logger.notice(
                "tombstones stay: nothing confirms this machine's calendar",
                metadata: ["calendar": "\(clock.wallNow())"])
            return
        }
        do {
            guard let today = try await advance() else { return }
            let cutoff = today + (.zero - Self.tombstoneAge)
            let count = try await engine.purgeTombstones(before: cutoff, dating: today)
            guard count > 0 else { return }
            logger.info(
                "tombstones purged",
                metadata: [
                    "count": "\(count)", "before": "\(cutoff)", "believed date": "\(today)",
                    "calendar": "\(clock.wallNow())",
                ])
        } catch {
            logger.warning("tombstones cannot be purged", metadata: ["error": "\(words(for: error))"])
        }
    }

    /// - Returns: the date from which ages count back now; nil if another copy is doing the same.
    private func advance() async throws -> WallTime? {
        let known = try await engine.believedDate
        let newest = try await engine.newestStamp()
        let (calendar, now) = (clock.wallNow(), clock.now())
        var believed = known.map { BelievedDate(date: $0) } ?? BelievedDate(newest: newest, calendar: calendar)
        // If another copy moved the date, it has counted this time as well.
        let running = last.flatMap { $0.date == known ? now - $0.at : nil } ?? .zero
        // Whether changes came since the date: time without any is skipped.
        let next = newest.flatMap { $0 > believed.date ? believed.date : nil }
        believed.advance(toConfirmed: calendar, running: running, next: next)
        let date = believed.date
        if date != known, try await !engine.setBelievedDate(date, replacing: known) { return nil }
        last = (date, now)
        return date
    }
}
