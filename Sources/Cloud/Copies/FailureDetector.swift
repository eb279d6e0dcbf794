import Domain

/// Which other copies of the cloud are alive, by what this one has seen itself: no clocks of different machines are
/// compared.
struct FailureDetector {
    struct Silence: Hashable {
        var copy: ReplicaID
        /// Its last heartbeat; 0 if it never sent one.
        var mark: UInt64
    }

    private struct Heartbeat {
        var mark: UInt64
        /// When this copy first saw that mark.
        var since: MonotonicTime
    }

    /// How often a copy sends a heartbeat, and looks for those of others.
    static let interval = Duration.seconds(5)
    /// How long without a new heartbeat until a copy is given up.
    static let silenceMax = Duration.seconds(20)
    /// After a longer pause between looks, counting begins again: while the store answered nobody, nobody could send a
    /// heartbeat.
    static let gapMax = Duration.seconds(10)

    private var heartbeats: [ReplicaID: Heartbeat] = [:]
    private var lookedAt: MonotonicTime?

    init() {}

    /// - Parameter marks: of all known copies; 0 if there is none.
    /// - Returns: those that were silent for too long, by name.
    mutating func look(at marks: [ReplicaID: UInt64], now: MonotonicTime) -> [Silence] {
        let countsAnew = lookedAt.map { now - $0 > Self.gapMax } ?? true
        lookedAt = now
        var next: [ReplicaID: Heartbeat] = [:]
        for (copy, mark) in marks {
            let known = countsAnew ? nil : heartbeats[copy]
            next[copy] = known?.mark == mark ? known : Heartbeat(mark: mark, since: now)
        }
        heartbeats = next
        return next.filter { now - $0.value.since >= Self.silenceMax }
            .map { Silence(copy: $0.key, mark: $0.value.mark) }.sorted { $0.copy < $1.copy }
    }
}
