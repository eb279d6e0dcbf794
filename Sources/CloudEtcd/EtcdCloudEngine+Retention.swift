import Cloud
package import Domain

extension EtcdCloudEngine {
    package func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int {
        try await finish { [self] in
            var total = 0
            for zone in try await zones() {
                while try await dateStep(dating, in: zone.name) > 0 {}
                let before = total
                while case let count = try await purgeStep(before: time, in: zone.name), count > 0 { total += count }
                if total > before { try await purgeMarks(of: zone.name) }
            }
            return total
        }
    }

    private func purgeMarks(of zone: String) async throws {
        let found = try await client.read([EtcdRange(key: keys.head(zone)), EtcdRange(prefix: keys.marks(of: zone))])
        guard let entry = found.ranges[0].entries.first else { return }
        let marks = try found.ranges[1].entries.map { entry in try TimelineMark(entry) }
        var outdated = TimelineMark.outdated(marks, floor: try StoredHead(entry).floor)
        while !outdated.isEmpty {
            let few = outdated.prefix(EtcdTransaction.operationsMax)
            _ = try await client.commit(
                EtcdTransaction(success: few.map { .delete(key: keys.mark($0.number, of: zone)) }))
            outdated = outdated.dropFirst(few.count)
        }
    }

    private func dateStep(_ date: WallTime, in zone: String) async throws -> Int {
        var range = EtcdRange(prefix: keys.tombstones(in: zone, from: RecordIntake.undated))
        range.limit = Self.tombstonesPerStep
        return try await changeTombstones(range, in: zone) { tombstones, revision, _ in
            let found = try await client.read(
                tombstones.map { EtcdRange(key: keys.record($0.record, in: zone)).at(revision) })
            return try zip(tombstones, found.ranges).flatMap { tombstone, range throws(EtcdError) in
                guard let entry = range.entries.first else {
                    throw EtcdError(damaged: tombstone.key, "its record is missing")
                }
                var stored = try StoredRecord(entry)
                stored.tombstoneTime = date
                let puts = RecordPlan.puts(of: stored, in: zone, keys)
                return [.delete(key: tombstone.key)] + puts.map { EtcdOperation.put(key: $0.key, value: $0.value) }
            }
        }
    }

    private func purgeStep(before time: WallTime, in zone: String) async throws -> Int {
        var range = EtcdRange(prefix: keys.tombstones(in: zone))
        range.end = keys.tombstones(in: zone, from: time)
        range.limit = Self.tombstonesPerStep
        return try await changeTombstones(range, in: zone) { tombstones, revision, head in
            for tombstone in tombstones { head.floor = max(head.floor, tombstone.sequence) }
            let deletions: [EtcdOperation] = tombstones.flatMap { tombstone in
                [
                    .delete(key: tombstone.key), .delete(key: keys.record(tombstone.record, in: zone)),
                    .delete(key: keys.place(tombstone.sequence, of: tombstone.record.type, in: zone)),
                ]
            }
            return deletions + (try await release(tombstones, at: revision, of: &head, in: zone))
        }
    }

    /// Returns the operations that subtract purged tombstones from the zone's usage; empty if it was never counted.
    private func release(
        _ purged: [Tombstone], at revision: Int64, of head: inout StoredHead, in zone: String
    ) async throws -> [EtcdOperation] {
        let ranges =
            [EtcdRange(prefix: keys.shares(in: zone))]
            + purged.map { EtcdRange(key: keys.record($0.record, in: zone)) }
        let found = try await client.read(ranges.map { $0.at(revision) }).ranges
        guard let before = try ZoneUsage(head, shares: found[0].entries) else { return [] }
        var usage = before
        for entry in found.dropFirst().flatMap(\.entries) {
            usage.add(.change(from: try StoredRecord(entry).record, to: nil))
        }
        head.used = StoredAmount(usage.total)
        return try usage.operations(from: before, in: zone, keys)
    }

    /// Number of tombstones per transaction: dating one takes four operations; purging one takes three, besides the
    /// usage of its hosts.
    private static let tombstonesPerStep = 24

    private struct Tombstone {
        var key: [UInt8]
        var record: RecordKey
        var sequence: UInt64

        init(_ entry: EtcdEntry) throws(EtcdError) {
            guard let record = RecordPlan.recordKey(ofTombstone: entry.value),
                let sequence = UInt64(String(decoding: entry.key.suffix(16), as: UTF8.self), radix: 16)
            else { throw EtcdError(damaged: entry.key, "it names no record") }
            (key, self.record, self.sequence) = (entry.key, record, sequence)
        }
    }

    /// Changes a few tombstones, so that other writers get their turn. Also writes the zone's head, so that a writer
    /// that has read one of these records must read it again.
    ///
    /// - Returns: number of tombstones changed.
    private func changeTombstones(
        _ range: EtcdRange, in zone: String,
        _ operations: ([Tombstone], _ revision: Int64, inout StoredHead) async throws -> [EtcdOperation]
    ) async throws -> Int {
        for _ in 0..<100 {
            let found = try await client.read([EtcdRange(key: keys.head(zone)), range])
            guard let entry = found.ranges[0].entries.first else {
                throw EtcdError(damaged: keys.head(zone), "it is missing")
            }
            guard !found.ranges[1].entries.isEmpty else { return 0 }
            var head = try StoredHead(entry)
            let tombstones = try found.ranges[1].entries.map { entry throws(EtcdError) in try Tombstone(entry) }
            var transaction = EtcdTransaction(compares: [EtcdCompare(key: entry.key, revision: entry.revision)])
            transaction.success = try await operations(tombstones, found.revision, &head)
            head.before = head.sequence
            head.types = []
            head.writer = nextWriter()
            transaction.success.append(.put(key: entry.key, value: try head.bytes))
            if try await client.commit(transaction).succeeded { return tombstones.count }
        }
        throw EtcdError(.overloaded, "too many others write to \(zone). Try again")
    }

    // MARK: - The date from which ages count back

    package var believedDate: WallTime? {
        get async throws { try await finish { [self] in try await readBelieved()?.date } }
    }

    package func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool {
        try await finish { [self] in
            let stored = try await readBelieved()
            guard stored?.date == known else { return false }
            let transaction = EtcdTransaction(
                compares: [EtcdCompare(key: keys.believedDate, revision: stored?.revision ?? 0)],
                success: [.put(key: keys.believedDate, value: Array("\(date.millisecondsSince1970)".utf8))])
            return try await client.commit(transaction).succeeded
        }
    }

    private func readBelieved() async throws(EtcdError) -> (date: WallTime, revision: Int64)? {
        guard let entry = try await client.read([EtcdRange(key: keys.believedDate)]).ranges[0].entries.first else {
            return nil
        }
        guard let milliseconds = Int64(String(decoding: entry.value, as: UTF8.self)) else {
            throw EtcdError(damaged: entry.key, "it is not a number")
        }
        return (WallTime(millisecondsSince1970: milliseconds), entry.revision)
    }

    package func newestStamp() async throws -> WallTime? {
        try await finish { [self] in
            var newest: UInt64 = 0
            try await client.readAll(EtcdRange(prefix: keys.allHeads)) { entry in
                newest = max(newest, try StoredHead(entry).accepted)
            }
            return newest > 0 ? WallTime(millisecondsSince1970: Int64(clamping: newest)) : nil
        }
    }
}
