package import Domain
package import Logging

/// Keeps the trusted present date (`BelievedDate`) for retention by age.
package actor RetentionCalendar {
    package struct Clocks: Sendable {
        package var now: @Sendable () -> MonotonicTime
        package var wallNow: @Sendable () -> WallTime
        /// Whether another source, such as NTP, confirms the system clock.
        package var isConfirmed: @Sendable () async -> Bool

        package init(
            now: @escaping @Sendable () -> MonotonicTime, wallNow: @escaping @Sendable () -> WallTime,
            isConfirmed: @escaping @Sendable () async -> Bool
        ) {
            self.now = now
            self.wallNow = wallNow
            self.isConfirmed = isConfirmed
        }
    }

    private let repository: any RetentionRepository
    private let clocks: Clocks
    private let logger: Logger
    private var believed: BelievedDate?
    private var saved: BelievedDate?
    /// Time of the last `today`, up to which the believed date has been advanced; nil before the first.
    private var counted: MonotonicTime?
    private var wasConfirmed: Bool?

    package init(repository: any RetentionRepository, clocks: Clocks, logger: Logger) {
        self.repository = repository
        self.clocks = clocks
        self.logger = logger
    }

    /// If this throws, the caller must delete nothing by age.
    package func today() async throws -> WallTime {
        let isConfirmed = await clocks.isConfirmed()
        let known = try await load()
        let next = isConfirmed ? try await repository.firstStored(after: known.date) : nil
        let now = clocks.now()
        return try await change(isConfirmed) { date, wall in
            let running = self.counted.map { now - $0 } ?? .zero
            if isConfirmed { date.advance(toConfirmed: wall, running: running, next: next) }
            self.counted = now
        }
    }

    /// Marks dates from an unconfirmed system clock as doubtful. Call before storing readings with these dates.
    package func willStore(_ spans: [ClosedRange<WallTime>]) async throws {
        let isConfirmed = await clocks.isConfirmed()
        _ = try await load()
        _ = try await change(isConfirmed) { date, wall in
            guard isConfirmed else {
                for span in spans { date.doubt(span) }
                return
            }
            date.confirm(wall)
            // Readings far from the present date have doubtful dates, from before the system clock was corrected.
            for span in spans where !(Self.around(wall) ~= span.upperBound && Self.around(wall) ~= span.lowerBound) {
                date.doubt(span)
                date.confirm(wall)
            }
        }
    }

    /// Returns the system clock's date, by which parked records (excluded from sync) age. Nil if the date is
    /// unconfirmed, differs from the believed date by more than a day, or the store fails.
    package func confirmed() async -> WallTime? {
        guard await clocks.isConfirmed(), let today = try? await today() else { return nil }
        let wall = clocks.wallNow()
        return Self.around(wall) ~= today ? wall : nil
    }

    private static let near = Duration.seconds(86_400)

    private static func around(_ wall: WallTime) -> ClosedRange<WallTime> { wall + (.zero - near)...wall + near }

    private func load() async throws -> BelievedDate {
        if let believed { return believed }
        let kept = try await repository.believed()
        let newest = kept == nil ? try await repository.newestStored() : nil
        // Another call may have loaded the date during the `await`.
        if let believed { return believed }
        let first = kept ?? BelievedDate(newest: newest, calendar: clocks.wallNow())
        (believed, saved) = (first, kept)
        return first
    }

    private func change(
        _ isConfirmed: Bool, _ body: (inout BelievedDate, WallTime) -> Void
    ) async throws -> WallTime {
        let wall = clocks.wallNow()
        var date = believed ?? BelievedDate(date: wall)
        // Mark the present date as doubtful even without readings: settings and their history also carry it.
        if !isConfirmed { date.doubt(wall...wall) }
        body(&date, wall)
        believed = date
        tell(isConfirmed, date.date, wall)
        if date != saved {
            try await repository.save(date)
            saved = date
        }
        return date.date
    }

    private func tell(_ isConfirmed: Bool, _ date: WallTime, _ wall: WallTime) {
        guard isConfirmed != wasConfirmed else { return }
        wasConfirmed = isConfirmed
        if isConfirmed {
            logger.info("clock confirmed", metadata: ["calendar": "\(wall)", "believed_date": "\(date)"])
        } else {
            logger.notice(
                "clock not confirmed: retention uses only the size limit",
                metadata: ["calendar": "\(wall)", "believed_date": "\(date)"])
        }
    }
}
