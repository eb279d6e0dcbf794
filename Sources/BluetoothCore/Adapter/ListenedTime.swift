import Domain

struct ListenedTime: Sendable {
    private var rounds = 0
    private var ended = Duration.zero
    private var present: (since: MonotonicTime, part: Int)?

    struct Mark: Hashable, Sendable {
        var rounds = 0
        var time = Duration.zero
    }

    /// - Parameter part: number of radios that share the discovery's time: 2 if it alternates between LE and Classic,
    ///   otherwise 1.
    mutating func changed(isOn: Bool, part: Int, at now: MonotonicTime) {
        if let present {
            ended += (now - present.since) / present.part
            rounds += 1
        }
        present = isOn ? (now, part) : nil
    }

    /// Drops a discovery whose end the kernel never reported.
    mutating func dropPresent() { present = nil }

    func mark(at now: MonotonicTime) -> Mark {
        Mark(rounds: rounds, time: ended + (present.map { (now - $0.since) / $0.part } ?? .zero))
    }
}
