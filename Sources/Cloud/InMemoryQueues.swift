import Synchronization

/// Lease queues and heartbeats of an engine with a single process. Each call is one step under one lock. Nothing is
/// durable.
package final class InMemoryQueues: Sendable {
    private struct State {
        var queues: [MeterPlace: QueueState] = [:]
        var marks: [ReplicaID: UInt64] = [:]
        var addresses: [ReplicaID: String] = [:]
        var key: String?
        var version: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func change(_ place: MeterPlace, _ change: ([Waiter]) -> [Waiter]) -> QueueState {
        state.withLock { state in
            let queue = state.queues[place] ?? QueueState(waiters: [], version: state.version)
            let next = change(queue.waiters)
            guard next != queue.waiters else { return queue }
            state.version += 1
            let changed = QueueState(waiters: next, version: state.version)
            state.queues[place] = next.isEmpty ? nil : changed
            return changed
        }
    }

    package var reading: QueueSnapshot { state.withLock { QueueSnapshot(queues: $0.queues, version: $0.version) } }

    package func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) -> Heartbeats {
        state.withLock { state in
            let wasGivenUp = !isFirst && state.marks[copy] == nil
            if !wasGivenUp {
                state.version += 1
                state.marks[copy] = state.version
                state.addresses[copy] = address
            }
            return Heartbeats(marks: state.marks, addresses: state.addresses, wasGivenUp: wasGivenUp)
        }
    }

    package func copiesKey(proposing key: String) -> String {
        state.withLock { state in
            let known = state.key ?? key
            state.key = known
            return known
        }
    }

    package func giveUp(_ copy: ReplicaID, seen mark: UInt64) -> Bool {
        state.withLock { state in
            guard let present = state.marks[copy] else { return true }
            guard present == mark else { return false }
            state.marks[copy] = nil
            state.addresses[copy] = nil
            return true
        }
    }
}
