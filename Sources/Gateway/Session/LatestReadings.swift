import Domain

/// The last readings of one meter. Some meters spread their quantities over several kinds of frame.
struct LatestReadings: Sendable {
    /// Most kinds of frame kept. No meter has more with readings in them.
    private static let partsMax = 8

    private var latest: TimedReading?
    /// The last one of each kind of frame.
    private var parts: [TimedReading] = []

    mutating func add(_ reading: TimedReading) {
        latest = reading
        if let index = parts.firstIndex(where: { $0.reading.supported == reading.reading.supported }) {
            parts[index] = reading
        } else if parts.count < Self.partsMax {
            parts.append(reading)
        }
    }

    /// Forgets the parts: another model has other frames. The last reading stays, as it was measured.
    mutating func forgetParts() { parts = [] }

    /// When `whole` next drops a part as too old.
    func nextStale(after now: MonotonicTime, staleAfter: Duration) -> MonotonicTime? {
        guard parts.count > 1 else { return nil }
        var next: MonotonicTime?
        for part in parts {
            // At `staleAfter` exactly, a part is still shown.
            let time = part.time + staleAfter + .milliseconds(1)
            if time > now { next = .earliest(next, time) }
        }
        return next
    }

    /// The last reading, completed with what other frames held, unless those are older than `staleAfter`.
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
