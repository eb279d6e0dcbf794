import Domain
package import Logging

/// Deletes old tombstones. Their age counts back from a stored date (`BelievedDate`) that all replicas share. Only a
/// wall clock confirmed by a source outside this machine advances it.
package actor CloudRetention {
    /// Delay of the first purge, because a starting server is busy.
    static let firstAfter = Duration.seconds(600)
    package static let interval = Duration.seconds(86_400)
    /// Age at which a tombstone is deleted. A host that was away for longer misses the deletion, and does not push its
    /// own records (Docs/Decisions/0016).
    package static let tombstoneAge = Duration.seconds(180 * 86_400)

    private let engine: any CloudEngine
    private let clock: CloudClock
    private let logger: Logger
    /// Date that this replica stored last, and the time of that write. The running time since then limits how far the
    /// date may advance.
    private var last: (date: WallTime, at: MonotonicTime)?

    package init(engine: any CloudEngine, clock: CloudClock, logger: Logger) {
        self.engine = engine
        self.clock = clock
        self.logger = logger
    }

    package func purge() async {
        guard clock.isConfirmed() else {
            logger.warning(
                "clock not confirmed: tombstones are kept", metadata: ["calendar": "\(clock.wallNow())"])
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
                    "count": "\(count)", "before": "\(cutoff)", "believed_date": "\(today)",
                    "calendar": "\(clock.wallNow())",
                ])
        } catch {
            logger.warning("tombstone purge failed", metadata: ["error": "\(words(for: error))"])
        }
    }

    /// - Returns: the date from which the ages of tombstones are computed. Nil if another replica changed it at the
    ///   same time.
    private func advance() async throws -> WallTime? {
        let known = try await engine.believedDate
        let newest = try await engine.newestStamp()
        let (calendar, now) = (clock.wallNow(), clock.now())
        var believed = known.map { BelievedDate(date: $0) } ?? BelievedDate(newest: newest, calendar: calendar)
        // Zero if another replica has advanced the date, because the new date already includes this running time.
        let running = last.flatMap { $0.date == known ? now - $0.at : nil } ?? .zero
        // Nil if no accepted change is newer than the stored date. The date may then jump to the wall clock, because no
        // data is dated between the two.
        let next = newest.flatMap { $0 > believed.date ? believed.date : nil }
        believed.advance(toConfirmed: calendar, running: running, next: next)
        let date = believed.date
        if date != known, try await !engine.setBelievedDate(date, replacing: known) { return nil }
        last = (date, now)
        return date
    }
}
