package import Cloud
import Logging
import MeterModel

/// The waiting lines, a key each, and the copies' signs of life.
extension EtcdCloudEngine {
    /// Where others are quicker every time, there is another reason than chance.
    private static let roundsMax = 200

    package func changeLine(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> SharedLine {
        try await finish { [self] in
            try await check(place.zone)
            let key = keys.line(at: place)
            let found = try await client.read([EtcdRange(key: key)])
            var (entry, revision) = (found.ranges[0].entries.first, found.revision)
            for _ in 0..<Self.roundsMax {
                let line = line(entry, at: place, of: entry?.revision ?? revision)
                let next = change(line.waiters)
                guard next != line.waiters else { return line }
                let value = try StoredLine(next, writer: nextWriter()).bytes
                var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: entry?.revision ?? 0)])
                transaction.success = [next.isEmpty ? .delete(key: key) : .put(key: key, value: value)]
                transaction.failure = [.range(EtcdRange(key: key))]
                let answer = try await client.commit(transaction)
                if answer.succeeded { return SharedLine(waiters: next, version: UInt64(clamping: answer.revision)) }
                guard let range = answer.range(0) else { throw Self.leftOut(key) }
                (entry, revision) = (range.entries.first, answer.revision)
                if let entry, entry.value == value {
                    // It is what this very step writes: it was written, and the answer was lost.
                    return SharedLine(waiters: next, version: UInt64(clamping: entry.revision))
                }
            }
            throw EtcdError(.overloaded, "others change the queue for \(place.meter) all the time. Try again")
        }
    }

    package func lines() async throws -> LineReading {
        try await finish { [self] in
            var reading = LineReading(lines: [:], version: 0)
            let revision = try await client.readAll(EtcdRange(prefix: keys.allLines)) { entry in
                guard case .line(let place)? = keys.watched(entry.key) else { return }
                reading.lines[place] = line(entry, at: place, of: entry.revision)
            }
            reading.version = UInt64(clamping: revision)
            return reading
        }
    }

    /// - Parameters:
    ///   - entry: nil: nobody waits there.
    ///   - revision: at which it was so.
    /// - Returns: nobody for what cannot be read: a line is never worth a repair by hand, as whoever waits queues again.
    func line(_ entry: EtcdEntry?, at place: MeterPlace, of revision: Int64) -> SharedLine {
        var waiters: [Waiter] = []
        do throws(EtcdError) {
            if let entry {
                guard let line = try StoredLine(entry).line else {
                    throw EtcdError(damaged: entry.key, "something in this queue means nothing")
                }
                waiters = line
            }
        } catch {
            logger.warning("a queue cannot be read", metadata: ["meter": "\(place.meter)", "cause": "\(error)"])
        }
        return SharedLine(waiters: waiters, version: UInt64(clamping: revision))
    }

    // MARK: Signs of life

    package func showLife(of copy: CopyID, isFirst: Bool) async throws -> CopySigns {
        try await finish { [self] in
            let key = keys.copy(copy)
            let all = EtcdRange(prefix: keys.allCopies)
            var entries = try await client.read([all]).ranges[0].entries
            for _ in 0..<Self.roundsMax {
                let own = entries.first { $0.key == key }
                // Its key was there since its first sign, and only others delete it.
                guard own != nil || isFirst else { return CopySigns(marks: marks(entries), wasGivenUp: true) }
                var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: own?.revision ?? 0)])
                transaction.success = [.put(key: key, value: []), .range(all)]
                transaction.failure = [.range(all)]
                let answer = try await client.commit(transaction)
                guard let range = answer.range(answer.succeeded ? 1 : 0) else { throw Self.leftOut(key) }
                entries = range.entries
                if answer.succeeded { return CopySigns(marks: marks(entries), wasGivenUp: false) }
            }
            throw EtcdError(.overloaded, "others change the sign of life of this copy. Try again")
        }
    }

    private func marks(_ entries: [EtcdEntry]) -> [CopyID: UInt64] {
        var marks: [CopyID: UInt64] = [:]
        for entry in entries {
            guard let copy = StoreKeys.text(of: entry.key, after: keys.allCopies).flatMap({ CopyID($0) }) else {
                continue
            }
            marks[copy] = UInt64(clamping: entry.revision)
        }
        return marks
    }

    package func giveUp(_ copy: CopyID, seen mark: UInt64) async throws -> Bool {
        try await finish { [self] in
            let key = keys.copy(copy)
            var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: Int64(clamping: mark))])
            transaction.success = [.delete(key: key)]
            transaction.failure = [.range(EtcdRange(key: key))]
            let answer = try await client.commit(transaction)
            if answer.succeeded { return true }
            guard let range = answer.range(0) else { throw Self.leftOut(key) }
            // Not there: another copy was quicker, or the answer to an earlier attempt was lost.
            return range.entries.isEmpty
        }
    }

    private static func leftOut(_ key: [UInt8]) -> EtcdError {
        EtcdError(
            .garbage, "etcd left out an answer about \(String(decoding: key, as: UTF8.self)). See its version")
    }
}
