import Domain

/// Detects dead replicas by their heartbeats, without comparing clocks of different machines.
struct FailureDetector {
    struct Silence: Hashable {
        var copy: ReplicaID
        /// Mark of the replica's last heartbeat (a number that changes with each heartbeat); 0 if it never sent one.
        var mark: UInt64
    }

    private struct Heartbeat {
        var mark: UInt64
        var since: MonotonicTime
    }

    static let interval = Duration.seconds(5)
    /// Time without a new heartbeat after which a replica is given up.
    static let silenceMax = Duration.seconds(20)
    /// Maximum time between two reads of the heartbeats. After a longer gap, all silences count from zero: no replica
    /// could send heartbeats while the store did not answer.
    static let gapMax = Duration.seconds(10)

    private var heartbeats: [ReplicaID: Heartbeat] = [:]
    private var lookedAt: MonotonicTime?

    init() {}

    /// - Parameter marks: mark of each replica's last heartbeat; 0 if it never sent one.
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
