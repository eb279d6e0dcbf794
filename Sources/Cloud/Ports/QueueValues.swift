package import Domain

// What engines keep about the hosts that wait for meters.

/// A copy of this cloud, for as long as the others consider it alive: one that was given up takes another id.
package enum ReplicaTag {}
package typealias ReplicaID = UniqueID<ReplicaTag>

/// A host that waits for a meter.
package struct Waiter: Hashable, Sendable {
    package var host: HostID
    /// The host's name for people.
    package var name: String
    /// The copy with its event stream, which makes it offers and removes it from the queue.
    package var copy: ReplicaID
    /// The lease's token when it joined, or 0. A host that has the meter under a greater one no longer waits.
    package var token: FencingToken

    package init(host: HostID, name: String, copy: ReplicaID, token: FencingToken) {
        self.host = host
        self.name = name
        self.copy = copy
        self.token = token
    }
}

/// The hosts that wait for one meter at some moment.
package struct QueueState: Hashable, Sendable {
    /// In order, each host once.
    package var waiters: [Waiter]
    /// Of two states of one queue, the later has the greater version.
    package var version: UInt64

    package init(waiters: [Waiter], version: UInt64) {
        self.waiters = waiters
        self.version = version
    }
}

/// All queues that were not empty at one moment.
package struct QueueSnapshot: Hashable, Sendable {
    package var queues: [MeterPlace: QueueState]
    /// The version at that moment: a queue with a smaller version that is missing here was empty.
    package var version: UInt64

    package init(queues: [MeterPlace: QueueState], version: UInt64) {
        self.queues = queues
        self.version = version
    }
}

/// The heartbeats of a cloud's copies.
package struct Heartbeats: Hashable, Sendable {
    /// By copy, a mark that changes with each heartbeat. Never 0.
    package var marks: [ReplicaID: UInt64]
    /// By copy, where others reach it, of those that said so.
    package var addresses: [ReplicaID: String]
    /// Whether another copy has given up the one that asked.
    package var wasGivenUp: Bool

    package init(marks: [ReplicaID: UInt64], addresses: [ReplicaID: String] = [:], wasGivenUp: Bool) {
        self.marks = marks
        self.addresses = addresses
        self.wasGivenUp = wasGivenUp
    }
}
