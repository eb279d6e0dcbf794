import Domain

/// Last readings of one meter, which may spread its quantities over several kinds of frame.
struct LatestReadings: Sendable {
    /// Maximum number of parts, which are the last readings by kind of frame. No meter sends readings in more kinds.
    private static let partsMax = 8

    private var latest: TimedReading?
    private var parts: [TimedReading] = []

    mutating func add(_ reading: TimedReading) {
        latest = reading
        if let index = parts.firstIndex(where: { $0.reading.supported == reading.reading.supported }) {
            parts[index] = reading
        } else if parts.count < Self.partsMax {
            parts.append(reading)
        }
    }

    /// Removes the readings of earlier frames after a change of model. Keeps the last reading.
    mutating func forgetParts() { parts = [] }

    /// Returns the time at which `whole` next omits the values of a frame as too old; nil if there is no such time.
    func nextStale(after now: MonotonicTime, staleAfter: Duration) -> MonotonicTime? {
        guard parts.count > 1 else { return nil }
        var next: MonotonicTime?
        for part in parts {
            // `whole` still includes the values at an age of exactly `staleAfter`, so add a millisecond.
            let time = part.time + staleAfter + .milliseconds(1)
            if time > now { next = .earliest(next, time) }
        }
        return next
    }

    /// Returns the last reading, completed with values of other frames that are no older than `staleAfter`.
    func whole(at now: MonotonicTime, staleAfter: Duration) -> TimedReading? {
        guard var latest, parts.count > 1 else { return self.latest }
        var all = Reading()
        for part in parts.sorted(by: { $0.time < $1.time }) where now - part.time <= staleAfter {
            part.reading.forEach { all[$0] = $1 }
        }
        latest.reading.forEach { all[$0] = $1 }
        latest.reading = all
        return latest
    }
}
