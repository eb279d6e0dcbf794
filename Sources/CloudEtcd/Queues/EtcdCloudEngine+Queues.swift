package import Cloud
import Domain
import Logging

extension EtcdCloudEngine {
    /// Maximum number of attempts: more conflicts mean a fault, not competing writers.
    private static let roundsMax = 200

    package func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState {
        try await finish { [self] in
            try await check(place.zone)
            let key = keys.queue(at: place)
            let found = try await client.read([EtcdRange(key: key)])
            var (entry, revision) = (found.ranges[0].entries.first, found.revision)
            for _ in 0..<Self.roundsMax {
                let queue = queue(entry, at: place, of: entry?.revision ?? revision)
                let next = change(queue.waiters)
                guard next != queue.waiters else { return queue }
                let value = try StoredQueue(next, writer: nextWriter()).bytes
                var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: entry?.revision ?? 0)])
                transaction.success = [next.isEmpty ? .delete(key: key) : .put(key: key, value: value)]
                transaction.failure = [.range(EtcdRange(key: key))]
                let answer = try await client.commit(transaction)
                if answer.succeeded { return QueueState(waiters: next, version: UInt64(clamping: answer.revision)) }
                guard let range = answer.range(0) else { throw Self.leftOut(key) }
                (entry, revision) = (range.entries.first, answer.revision)
                if let entry, entry.value == value {
                    // The stored value is ours: an earlier attempt's answer was lost.
                    return QueueState(waiters: next, version: UInt64(clamping: entry.revision))
                }
            }
            throw EtcdError(.overloaded, "too many others change the queue for \(place.meter). Try again")
        }
    }

    package func queues() async throws -> QueueSnapshot {
        try await finish { [self] in
            var reading = QueueSnapshot(queues: [:], version: 0)
            let revision = try await client.readAll(EtcdRange(prefix: keys.allQueues)) { entry in
                guard case .queue(let place)? = keys.watched(entry.key) else { return }
                reading.queues[place] = queue(entry, at: place, of: entry.revision)
            }
            reading.version = UInt64(clamping: revision)
            return reading
        }
    }

    /// Decodes a queue; empty if the entry is unreadable, because waiting hosts queue again.
    func queue(_ entry: EtcdEntry?, at place: MeterPlace, of revision: Int64) -> QueueState {
        var waiters: [Waiter] = []
        do throws(EtcdError) {
            if let entry {
                guard let queue = try StoredQueue(entry).queue else {
                    throw EtcdError(damaged: entry.key, "this queue has an invalid value")
                }
                waiters = queue
            }
        } catch {
            logger.warning(
                "lease queue in etcd not readable", metadata: ["meter": "\(place.meter)", "cause": "\(error)"])
        }
        return QueueState(waiters: waiters, version: UInt64(clamping: revision))
    }

    // MARK: Heartbeats

    package func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats {
        try await finish { [self] in
            let key = keys.copy(copy)
            let all = EtcdRange(prefix: keys.allCopies)
            var entries = try await client.read([all]).ranges[0].entries
            for _ in 0..<Self.roundsMax {
                let own = entries.first { $0.key == key }
                // The first heartbeat created the key. If it is missing, another replica considered this one dead.
                guard own != nil || isFirst else { return heartbeats(entries, wasGivenUp: true) }
                var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: own?.revision ?? 0)])
                transaction.success = [.put(key: key, value: Array((address ?? "").utf8)), .range(all)]
                transaction.failure = [.range(all)]
                let answer = try await client.commit(transaction)
                guard let range = answer.range(answer.succeeded ? 1 : 0) else { throw Self.leftOut(key) }
                entries = range.entries
                if answer.succeeded { return heartbeats(entries, wasGivenUp: false) }
            }
            throw EtcdError(.overloaded, "others change the heartbeat of this copy. Try again")
        }
    }

    private func heartbeats(_ entries: [EtcdEntry], wasGivenUp: Bool) -> Heartbeats {
        var heartbeats = Heartbeats(marks: [:], wasGivenUp: wasGivenUp)
        for entry in entries {
            guard let copy = StoreKeys.text(of: entry.key, after: keys.allCopies).flatMap({ ReplicaID($0) }) else {
                continue
            }
            heartbeats.marks[copy] = UInt64(clamping: entry.revision)
            // The value is empty for a replica of an earlier version, which accepts no messages from other replicas.
            guard let address = String(validating: entry.value, as: UTF8.self), !address.isEmpty else { continue }
            heartbeats.addresses[copy] = address
        }
        return heartbeats
    }

    package func copiesKey(proposing key: String) async throws -> String {
        try await finish { [self] in
            let place = keys.copiesKey
            let found = try await client.read([EtcdRange(key: place)]).ranges[0].entries.first
            if let found { return try text(of: found) }
            var transaction = EtcdTransaction(compares: [EtcdCompare(key: place, revision: 0)])
            transaction.success = [.put(key: place, value: Array(key.utf8)), .range(EtcdRange(key: place))]
            transaction.failure = [.range(EtcdRange(key: place))]
            let answer = try await client.commit(transaction)
            // After a failed comparison, use the value that another replica or an earlier attempt has written.
            guard let entry = answer.range(answer.succeeded ? 1 : 0)?.entries.first else { throw Self.leftOut(place) }
            return try text(of: entry)
        }
    }

    private func text(of entry: EtcdEntry) throws(EtcdError) -> String {
        guard let text = String(validating: entry.value, as: UTF8.self), text.utf8.count >= 32 else {
            throw EtcdError(damaged: entry.key, "a secret has 32 characters or more")
        }
        return text
    }

    package func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool {
        try await finish { [self] in
            let key = keys.copy(copy)
            var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: Int64(clamping: mark))])
            transaction.success = [.delete(key: key)]
            transaction.failure = [.range(EtcdRange(key: key))]
            let answer = try await client.commit(transaction)
            if answer.succeeded { return true }
            guard let range = answer.range(0) else { throw Self.leftOut(key) }
            // A missing key was deleted by another replica, or by an earlier attempt whose answer was lost.
            return range.entries.isEmpty
        }
    }

    private static func leftOut(_ key: [UInt8]) -> EtcdError {
        EtcdError(
            .garbage, "etcd gave no answer about \(String(decoding: key, as: UTF8.self)). See its version")
    }
}
