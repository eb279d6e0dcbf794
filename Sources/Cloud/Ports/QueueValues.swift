package import LeaseCore
package import MeterModel

// What engines keep of those who wait for meters.

/// A copy of this cloud, as long as the others take it for alive: one that was given up takes another name.
package enum ReplicaTag {}
package typealias ReplicaID = UniqueID<ReplicaTag>

/// A host that waits for a meter.
package struct Waiter: Hashable, Sendable {
    package var host: HostID
    /// For people.
    package var name: String
    /// Through which its event stream is open. That copy makes it offers, and takes it out of the queue.
    package var copy: ReplicaID
    /// The lease's when it joined, 0 for none. A host that has the meter under a greater one waits no longer.
    package var token: FencingToken

    package init(host: HostID, name: String, copy: ReplicaID, token: FencingToken) {
        self.host = host
        self.name = name
        self.copy = copy
        self.token = token
    }
}

/// Those who wait for one meter, as they were at some moment.
package struct QueueState: Hashable, Sendable {
    /// First come first, each host once.
    package var waiters: [Waiter]
    /// Of two states of one queue, the later has the greater one.
    package var version: UInt64

    package init(waiters: [Waiter], version: UInt64) {
        self.waiters = waiters
        self.version = version
    }
}

/// All queues that somebody stood in at one moment.
package struct QueueSnapshot: Hashable, Sendable {
    package var queues: [MeterPlace: QueueState]
    /// That of the moment: a queue of a smaller version that is not here had nobody in it any more.
    package var version: UInt64

    package init(queues: [MeterPlace: QueueState], version: UInt64) {
        self.queues = queues
        self.version = version
    }
}

/// The signs of life of a cloud's copies.
package struct Heartbeats: Hashable, Sendable {
    /// By copy, a mark that is another one after each sign. Never 0.
    package var marks: [ReplicaID: UInt64]
    /// Another copy has given up the one that asked.
    package var wasGivenUp: Bool

    package init(marks: [ReplicaID: UInt64], wasGivenUp: Bool) {
        self.marks = marks
        self.wasGivenUp = wasGivenUp
    }
}
