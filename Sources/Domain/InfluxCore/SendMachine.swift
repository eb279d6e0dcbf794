/// Decides when to send readings to a time series database. It keeps a position (a time) for each meter and sends all
/// stored readings after it, even after an outage.
///
/// ```
///              due                  taken, or skipped
///   waiting ─────────▶ sending ─────────────────────────▶ waiting: for the interval, or shortly if there is more
///      ▲                  │
///      └──────────────────┘  later, refused, unwanted, too large: the positions stay, so nothing is lost
/// ```
package struct SendMachine: Sendable {
    package struct Settings: Hashable, Sendable {
        /// Pause between batches of new readings.
        package var interval = Duration.seconds(10)
        /// Maximum age of a reading that is sent.
        package var backFill = Duration.seconds(7 * 86_400)
        /// Maximum number of points in a batch. InfluxData advises 5,000
        /// (<https://docs.influxdata.com/influxdb/v2/write-data/best-practices/optimize-writes/>).
        package var pointsMax = 5000

        package init() {}
    }

    /// Pause between batches of a backlog: at most 5,000 points a second, so that the meters keep enough of the
    /// processor.
    private static let pace = Duration.seconds(1)
    private static let backoff = Duration.seconds(1)...Duration.seconds(300)
    /// Retry interval until a user corrects the configuration.
    private static let correctionInterval = Duration.seconds(60)
    /// Limit for the server's requested delay.
    private static let delayMax = Duration.seconds(3600)
    /// Maximum age of unsaved positions. After a crash, points after the saved positions are sent again, which does not
    /// change the database.
    private static let saveInterval = Duration.seconds(60)
    /// Maximum lead of a position over the system clock. A position further ahead comes from a wrong clock and is
    /// ignored.
    private static let tolerance = Duration.seconds(60)
    /// Maximum number of points skipped in a row; more rejections must have another cause.
    private static let passesMax = 3
    private static let rejectionInterval = Duration.seconds(3600)

    private let settings: Settings
    /// Time up to and including which all readings of a meter were accepted or skipped.
    package private(set) var positions: [MeterID: WallTime]
    private var nextAt: MonotonicTime?
    private var failures = 0
    private var unsavedSince: MonotonicTime?
    /// Maximum number of points in a batch; reduced if the server reports that a batch is too large.
    private var sizeMax: Int
    /// Batch size during the search for a rejected point or after a timeout; nil otherwise.
    private var narrowed: Int?
    /// Number of points skipped in a row; an accepted batch resets it.
    private var passes = 0
    /// Rejected points not yet reported in an event.
    private var untold = 0
    private var toldRejectionAt: MonotonicTime?
    /// `sent` and `rejected` count points.
    package private(set) var sent = 0
    package private(set) var rejected = 0
    /// Nil if sending works.
    package private(set) var trouble: SendTrouble?
    /// Server's last message about rejected points.
    package private(set) var rejection: String?
    /// Whether the store had more readings after the last batch.
    package private(set) var isBehind = false
    package private(set) var takenAt: WallTime?

    package init(_ settings: Settings, positions: [MeterID: WallTime] = [:]) {
        self.settings = settings
        self.positions = positions
        sizeMax = settings.pointsMax
    }

    package var pointsMax: Int { narrowed ?? sizeMax }

    /// Delay before the next batch; nil if it may be sent now.
    package func wait(at now: MonotonicTime) -> Duration? {
        guard let nextAt, nextAt > now else { return nil }
        return nextAt - now
    }

    /// Returns the time from which a meter's readings are sent. After the system clock was set back, it may be up to
    /// `tolerance` in the future.
    package func start(of meter: MeterID, at now: WallTime) -> WallTime {
        // A shorter `backFill` must not lose readings since the last batch.
        let first = now + (.zero - max(settings.backFill, settings.interval + Self.tolerance))
        guard let position = positions[meter], position <= now + Self.tolerance else { return first }
        return max(position + .milliseconds(1), first)
    }

    /// Handles a batch without points: no readings, or none with known values.
    package mutating func idle(_ batch: SendBatch, at now: MonotonicTime) {
        guard !batch.ends.isEmpty else {
            nextAt = now + settings.interval
            isBehind = false
            return
        }
        advance(past: batch, at: now)
    }

    /// Handles a failure to read the store.
    package mutating func unread(_ cause: String, at now: MonotonicTime) -> [SendNews] {
        putOff(nil, at: now)
        return interrupted(SendTrouble(.store, cause, next: "what is wrong with the store, says: meterctl doctor"))
    }

    package mutating func answered(
        _ answer: SendAnswer, to batch: SendBatch, at now: MonotonicTime, _ wall: WallTime
    ) -> [SendNews] {
        switch answer {
        case .taken:
            return taken(batch, dropped: 0, at: now, wall)
        case .partly(let dropped, let cause):
            // InfluxDB 1.6.7 reports 0 for a line that it could not parse.
            let dropped = min(max(dropped ?? batch.points, 1), batch.points)
            let news = taken(batch, dropped: dropped, at: now, wall)
            return news + passOver(dropped, cause, at: now)
        case .unwanted(let cause):
            return unwanted(batch, cause, at: now)
        case .tooLarge:
            guard batch.points > 1 else { return unwanted(batch, "one point is too large for it", at: now) }
            sizeMax = max(1, min(pointsMax, batch.points) / 2)
            narrowed = nil
            nextAt = now + Self.pace
            return []
        case .later(let delay, let cause, let next):
            // Without a requested delay, the batch may have been too large for the server or the network, so halve it.
            // A server that requested a delay had received the batch.
            if delay == nil { narrowed = max(1, min(pointsMax, batch.points) / 2) }
            putOff(delay, at: now)
            return interrupted(SendTrouble(.unreachable, cause, next: next))
        case .refused(let cause, let next):
            nextAt = now + Self.correctionInterval
            return interrupted(SendTrouble(.refused, cause, next: next))
        }
    }

    private mutating func taken(
        _ batch: SendBatch, dropped: Int, at now: MonotonicTime, _ wall: WallTime
    ) -> [SendNews] {
        sent += batch.points - dropped
        if batch.points > dropped { takenAt = wall }
        passes = 0
        narrowed = narrowed.map { $0 * 2 }.flatMap { $0 < sizeMax ? $0 : nil }
        advance(past: batch, at: now)
        defer { trouble = nil }
        return trouble == nil ? [] : [.resumed]
    }

    /// Halves the batch until one rejected point is left, and skips it. Skips none if the server never accepted a
    /// point, because the cause is then something else.
    private mutating func unwanted(_ batch: SendBatch, _ cause: String, at now: MonotonicTime) -> [SendNews] {
        guard batch.points <= 1 else {
            narrowed = batch.points / 2
            nextAt = now + Self.pace
            return interrupted(SendTrouble(.unwanted, cause, next: Self.unwantedNext))
        }
        guard !positions.isEmpty, passes < Self.passesMax else {
            nextAt = now + Self.correctionInterval
            return interrupted(SendTrouble(.unwanted, cause, next: Self.unwantedNext))
        }
        passes += 1
        advance(past: batch, at: now)
        return passOver(batch.points, cause, at: now)
    }

    private static let unwantedNext = "see what it says, and url, bucket and database in [influx]"

    private mutating func passOver(_ points: Int, _ cause: String, at now: MonotonicTime) -> [SendNews] {
        rejected += points
        rejection = cause
        untold += points
        if let toldRejectionAt, now - toldRejectionAt < Self.rejectionInterval { return [] }
        guard untold > 0 else { return [] }
        toldRejectionAt = now
        defer { untold = 0 }
        return [.rejected(points: untold, cause)]
    }

    /// Returns an event if the kind of trouble changes.
    private mutating func interrupted(_ trouble: SendTrouble) -> [SendNews] {
        defer { self.trouble = trouble }
        return self.trouble?.kind == trouble.kind ? [] : [.interrupted(trouble)]
    }

    private mutating func advance(past batch: SendBatch, at now: MonotonicTime) {
        for (meter, end) in batch.ends { positions[meter] = end }
        failures = 0
        isBehind = batch.isFull
        nextAt = now + (batch.isFull ? Self.pace : settings.interval)
        unsavedSince = unsavedSince ?? now
    }

    /// Postpones the next batch. Without a requested delay, the pause doubles at each failure.
    private mutating func putOff(_ delay: Duration?, at now: MonotonicTime) {
        failures += 1
        let factor = 1 << min(failures - 1, 16)
        let usual = min(Self.backoff.lowerBound * factor, Self.backoff.upperBound)
        nextAt = now + min(max(delay ?? usual, .zero), Self.delayMax)
    }

    // MARK: Positions

    package func isSaveDue(at now: MonotonicTime) -> Bool {
        unsavedSince.map { now - $0 >= Self.saveInterval } ?? false
    }

    package var hasUnsaved: Bool { unsavedSince != nil }

    package mutating func saved() { unsavedSince = nil }

    /// Removes positions of meters without stored readings.
    package mutating func keep(_ meters: Set<MeterID>) { positions = positions.filter { meters.contains($0.key) } }
}
