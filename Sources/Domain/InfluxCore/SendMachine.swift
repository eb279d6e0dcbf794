/// Decides when readings are sent to a time series database, and remembers up to when they were: what the store has
/// beyond that is what is to be sent, whether it came a second ago or during an outage.
///
/// ```
///              due                  taken, or skipped
///   waiting ─────────▶ sending ─────────────────────────▶ waiting: for the interval, or shortly if there is more
///      ▲                  │
///      └──────────────────┘  later, refused, unwanted, too large: for as long as that takes; nothing is forgotten
/// ```
package struct SendMachine: Sendable {
    package struct Settings: Hashable, Sendable {
        /// How often what is new is sent.
        package var interval = Duration.seconds(10)
        /// How old a reading may be that was not sent yet.
        package var backFill = Duration.seconds(7 * 86_400)
        /// Points in one batch; InfluxData advises 5,000
        /// (<https://docs.influxdata.com/influxdb/v2/write-data/best-practices/optimize-writes/>).
        package var pointsMax = 5000

        package init() {}
    }

    /// While there is more, a batch so often: at most 5,000 points a second, which leaves the machine to the meters.
    private static let pace = Duration.seconds(1)
    private static let backoff = Duration.seconds(1)...Duration.seconds(300)
    /// After so long it is looked whether somebody corrected what is wrong.
    private static let correctionInterval = Duration.seconds(60)
    /// A server may not put it off for longer.
    private static let delayMax = Duration.seconds(3600)
    /// The positions are written down so often: a crash sends these points again, which changes nothing there.
    private static let saveInterval = Duration.seconds(60)
    /// A position in the future is from a calendar that was wrong.
    private static let tolerance = Duration.seconds(60)
    /// So many points in a row are skipped that the server does not even take alone. Beyond that it is not the points.
    private static let passesMax = 3
    /// Of points that are not wanted is told so often.
    private static let rejectionInterval = Duration.seconds(3600)

    private let settings: Settings
    /// Up to these times, included, everything was answered for.
    package private(set) var positions: [MeterID: WallTime]
    private var nextAt: MonotonicTime?
    private var failures = 0
    private var unsavedSince: MonotonicTime?
    /// How many points the server takes at once.
    private var sizeMax: Int
    /// While a point is looked for that the server does not want, or less tried than what it did not take in time: how many
    /// the next batch may have.
    private var narrowed: Int?
    /// Points in a row that were skipped although the server said nothing of a partial write.
    private var passes = 0
    /// Points that were not wanted and that nobody was told of yet.
    private var untold = 0
    private var toldRejectionAt: MonotonicTime?
    /// Points that the server took, and that it did not want.
    package private(set) var sent = 0
    package private(set) var rejected = 0
    /// Why the server does not get anything at present.
    package private(set) var trouble: SendTrouble?
    /// What it said to points that it did not want, last.
    package private(set) var rejection: String?
    /// Whether there is more to be sent than fitted into the last batch.
    package private(set) var isBehind = false
    /// When something was last taken.
    package private(set) var takenAt: WallTime?

    /// - Parameter positions: as they were written down for this server.
    package init(_ settings: Settings, positions: [MeterID: WallTime] = [:]) {
        self.settings = settings
        self.positions = positions
        sizeMax = settings.pointsMax
    }

    /// How many points the next batch may have.
    package var pointsMax: Int { narrowed ?? sizeMax }

    /// When the next batch is due; nil means at once.
    package func wait(at now: MonotonicTime) -> Duration? {
        guard let nextAt, nextAt > now else { return nil }
        return nextAt - now
    }

    /// From when on a meter's readings are to be sent. May be in the future, by as much as a calendar was set back.
    package func start(of meter: MeterID, at now: WallTime) -> WallTime {
        // Never less than what is measured between two batches.
        let first = now + (.zero - max(settings.backFill, settings.interval + Self.tolerance))
        guard let position = positions[meter], position <= now + Self.tolerance else { return first }
        return max(position + .milliseconds(1), first)
    }

    /// Nothing was there to be sent, or nothing but readings of which nothing is known.
    package mutating func idle(_ batch: SendBatch, at now: MonotonicTime) {
        guard !batch.ends.isEmpty else {
            nextAt = now + settings.interval
            isBehind = false
            return
        }
        advance(past: batch, at: now)
    }

    /// The store did not say what there is.
    package mutating func unread(_ cause: String, at now: MonotonicTime) -> [SendNews] {
        putOff(nil, at: now)
        return interrupted(SendTrouble(.store, cause, next: "what is wrong with the store, says: meterctl doctor"))
    }

    /// - Returns: what is worth a line in a log.
    package mutating func answered(
        _ answer: SendAnswer, to batch: SendBatch, at now: MonotonicTime, _ wall: WallTime
    ) -> [SendNews] {
        switch answer {
        case .taken:
            return taken(batch, dropped: 0, at: now, wall)
        case .partly(let dropped, let cause):
            // At least one, whatever it says: InfluxDB 1.6.7 says 0 where it could not read a line.
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
            // Perhaps it, or the way there, is too slow for so many. Who names a time has looked at them.
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

    /// It takes none of them and does not say which it does not want: half of them are sent, until one is left that is
    /// skipped. Not where it never took anything, since then it is not for a point.
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

    /// A trouble is news when it is another one than before, not whenever it is worded otherwise.
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

    /// Twice as long each time.
    private mutating func putOff(_ delay: Duration?, at now: MonotonicTime) {
        failures += 1
        let factor = 1 << min(failures - 1, 16)
        let usual = min(Self.backoff.lowerBound * factor, Self.backoff.upperBound)
        nextAt = now + min(max(delay ?? usual, .zero), Self.delayMax)
    }

    // MARK: Positions

    /// Whether the positions should be written down now.
    package func isSaveDue(at now: MonotonicTime) -> Bool {
        unsavedSince.map { now - $0 >= Self.saveInterval } ?? false
    }

    package var hasUnsaved: Bool { unsavedSince != nil }

    package mutating func saved() { unsavedSince = nil }

    /// Forgets meters of which nothing is stored any more.
    package mutating func keep(_ meters: Set<MeterID>) { positions = positions.filter { meters.contains($0.key) } }
}
