package import Domain

/// Type tag of `ReplicaID`. A replica that the others gave up gets a new id.
package enum ReplicaTag {}
package typealias ReplicaID = UniqueID<ReplicaTag>

package struct Waiter: Hashable, Sendable {
    package var host: HostID
    package var name: String
    /// Replica that has the host's event stream, sends it offers, and removes the host from the queue.
    package var copy: ReplicaID
    /// Fencing token of the lease when the host joined the queue; 0 without a lease. A host that holds the meter under
    /// a greater token no longer waits.
    package var token: FencingToken

    package init(host: HostID, name: String, copy: ReplicaID, token: FencingToken) {
        self.host = host
        self.name = name
        self.copy = copy
        self.token = token
    }
}

package struct QueueState: Hashable, Sendable {
    package var waiters: [Waiter]
    /// Version, which is greater in the later of two states of one queue.
    package var version: UInt64

    package init(waiters: [Waiter], version: UInt64) {
        self.waiters = waiters
        self.version = version
    }
}

package struct QueueSnapshot: Hashable, Sendable {
    package var queues: [MeterPlace: QueueState]
    /// Version at the moment of the snapshot. A queue that is missing here and known with a smaller version has become
    /// empty.
    package var version: UInt64

    package init(queues: [MeterPlace: QueueState], version: UInt64) {
        self.queues = queues
        self.version = version
    }
}

package struct Heartbeats: Hashable, Sendable {
    /// A number for each replica that changes with each heartbeat; never 0.
    package var marks: [ReplicaID: UInt64]
    package var addresses: [ReplicaID: String]
    /// Whether another replica has given up the requesting one.
    package var wasGivenUp: Bool

    package init(marks: [ReplicaID: UInt64], addresses: [ReplicaID: String] = [:], wasGivenUp: Bool) {
        self.marks = marks
        self.addresses = addresses
        self.wasGivenUp = wasGivenUp
    }
}
