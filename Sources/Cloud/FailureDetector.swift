import MeterModel

/// Which other copies of the cloud live, as far as this one has itself seen: no clock is compared with another
/// machine's.
struct FailureDetector {
    struct Silence: Hashable {
        var copy: ReplicaID
        /// Its last sign; 0: it never gave one.
        var mark: UInt64
    }

    private struct Sight {
        var mark: UInt64
        /// When this copy saw that mark first.
        var since: MonotonicTime
    }

    /// How often a copy gives a sign of life, and looks for those of others.
    static let interval = Duration.seconds(5)
    /// A copy is given up when so long no new sign was seen.
    static let silenceMax = Duration.seconds(20)
    /// Whoever has not looked for longer begins to count anew: while the store answered nobody, nobody could give a
    /// sign.
    static let gapMax = Duration.seconds(10)

    private var sights: [ReplicaID: Sight] = [:]
    private var lookedAt: MonotonicTime?

    init() {}

    /// - Parameter marks: of all copies that are known of; 0 where there is none.
    /// - Returns: those that were silent too long, by their names.
    mutating func look(at marks: [ReplicaID: UInt64], now: MonotonicTime) -> [Silence] {
        let countsAnew = lookedAt.map { now - $0 > Self.gapMax } ?? true
        lookedAt = now
        var next: [ReplicaID: Sight] = [:]
        for (copy, mark) in marks {
            let known = countsAnew ? nil : sights[copy]
            next[copy] = known?.mark == mark ? known : Sight(mark: mark, since: now)
        }
        sights = next
        return next.filter { now - $0.value.since >= Self.silenceMax }
            .map { Silence(copy: $0.key, mark: $0.value.mark) }.sorted { $0.copy < $1.copy }
    }
}
