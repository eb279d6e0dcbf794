import MeterModel

/// For how long an adapter has listened to one kind of radio.
struct ListenedTime: Sendable {
    /// Discoveries that ended.
    private var rounds = 0
    /// In those.
    private var ended = Duration.zero
    /// The one that runs.
    private var present: (since: MonotonicTime, part: Int)?

    struct Mark: Hashable, Sendable {
        var rounds = 0
        var time = Duration.zero
    }

    /// - Parameter part: 2 where the discovery listens to another radio for half of its time.
    mutating func changed(isOn: Bool, part: Int, at now: MonotonicTime) {
        if let present {
            ended += (now - present.since) / present.part
            rounds += 1
        }
        present = isOn ? (now, part) : nil
    }

    /// Nobody told of its end: it does not count.
    mutating func dropPresent() { present = nil }

    func mark(at now: MonotonicTime) -> Mark {
        Mark(rounds: rounds, time: ended + (present.map { (now - $0.since) / $0.part } ?? .zero))
    }
}
