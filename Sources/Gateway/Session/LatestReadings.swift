import MeterModel

/// The last readings of one meter: some meters tell what they measure in several kinds of frames, each with other
/// quantities.
struct LatestReadings: Sendable {
    /// No meter has more kinds of frames with readings in them.
    private static let partsMax = 8

    private var latest: TimedReading?
    /// The last one of each kind of frame.
    private var parts: [TimedReading] = []

    mutating func take(_ reading: TimedReading) {
        latest = reading
        if let index = parts.firstIndex(where: { $0.reading.supported == reading.reading.supported }) {
            parts[index] = reading
        } else if parts.count < Self.partsMax {
            parts.append(reading)
        }
    }

    /// Another model has other frames. The last reading stays: it was measured.
    mutating func forgetParts() { parts = [] }

    /// The last reading with what other frames held, unless that is older than `staleAfter`.
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
