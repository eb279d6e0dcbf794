import Domain

struct LatestReadings: Sendable {
    /// Maximum number of kinds of frame, more than any meter sends.
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

    /// Forgets the values of all kinds of frame after a change of model. Keeps the last reading.
    mutating func forgetParts() { parts = [] }

    /// Returns the time at which `whole` next omits a frame's values as too old; nil if never.
    func nextStale(after now: MonotonicTime, staleAfter: Duration) -> MonotonicTime? {
        guard parts.count > 1 else { return nil }
        var next: MonotonicTime?
        for part in parts {
            // `whole` still includes values with an age of exactly `staleAfter`.
            let time = part.time + staleAfter + .milliseconds(1)
            if time > now { next = .earliest(next, time) }
        }
        return next
    }

    /// Returns the last reading, completed with values of other kinds of frame up to `staleAfter` old.
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
