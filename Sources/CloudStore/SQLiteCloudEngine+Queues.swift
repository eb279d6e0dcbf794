package import Cloud

/// Lease queues are only in memory: a waiting host's event stream ends with this process, and the host queues again.
extension SQLiteCloudEngine {
    package func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState {
        guard zoneTable.find(place.zone) != nil else { throw CloudFailure.zoneNotFound(place.zone) }
        return waiting.change(place, change)
    }

    package func queues() async throws -> QueueSnapshot { waiting.reading }

    package func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats {
        waiting.heartbeat(of: copy, isFirst: isFirst, address: address)
    }

    package func copiesKey(proposing key: String) async throws -> String { waiting.copiesKey(proposing: key) }

    package func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool {
        waiting.giveUp(copy, seen: mark)
    }
}
