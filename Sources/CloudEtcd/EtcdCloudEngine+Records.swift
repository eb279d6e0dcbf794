package import Cloud
package import CloudAPI
package import Domain

extension EtcdCloudEngine {
    package func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome] {
        try await finish { [self] in
            try await check(zone)
            let times = RecordBatcher.Times(now: now, leaseTime: leaseTime)
            return records.isEmpty ? [] : try await recordDesk.write(records, in: zone, at: times)
        }
    }

    package func changes(
        of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int
    ) async throws -> ChangeList {
        try await finish { [self] in
            let id = try await check(zone)
            for _ in 0..<10 {
                if let list = try await readChanges(of: type, in: zone, id, after: token, limit: limit) { return list }
            }
            throw EtcdError(.overloaded, "etcd is compacted too often. See --auto-compaction-retention of etcd")
        }
    }

    /// Returns changes; nil if etcd was compacted meanwhile.
    private func readChanges(
        of type: RecordType, in zone: String, _ id: Zone.ID, after token: ChangeToken?, limit: Int
    ) async throws -> ChangeList? {
        let feed = keys.feed(zone, type: type)
        var range = EtcdRange(prefix: feed)
        let (next, overflow) = (token?.sequence ?? 0).addingReportingOverflow(1)
        if !overflow { range.key = keys.place(next, of: type, in: zone) }
        range.limit = limit + 1
        let start = [EtcdRange(key: keys.head(zone)), range, EtcdRange(key: keys.newestMark(of: zone))]
        let found = try await client.read(start + marks(of: token, in: zone))
        guard let entry = found.ranges[0].entries.first else {
            throw EtcdError(damaged: keys.head(zone), "it is missing")
        }
        let head = try StoredHead(entry)
        let feedState = FeedState(
            zone: id, epoch: epoch, floor: head.floor, sequence: head.sequence,
            mark: try found.ranges[2].entries.first.map { entry throws(EtcdError) in try TimelineMark(entry) })
        try feedState.check(
            token, marks: try found.ranges[3...].flatMap(\.entries).map { entry in try TimelineMark(entry) })
        var places = overflow ? [] : found.ranges[1].entries
        let moreComing = places.count > limit
        if moreComing { places.removeLast(places.count - limit) }
        let records: [SyncRecord]
        do throws(EtcdError) {
            records = try await read(places, of: type, in: zone, at: found.revision)
        } catch {
            if error.code == .compacted { return nil }
            throw error
        }
        let last = places.last.flatMap { StoreKeys.number(at: $0.key, after: feed) }
        return ChangeList(
            records: records, token: feedState.token(after: token, last: last, moreComing: moreComing),
            moreComing: moreComing, zoneID: id)
    }

    /// Returns the key range of a change token's timeline mark and the next, read in one request with the page; empty
    /// without such a token.
    private func marks(of token: ChangeToken?, in zone: String) -> [EtcdRange] {
        guard let number = token?.origin?.mark, number < .max - 1 else { return [] }
        var range = EtcdRange(key: keys.mark(number, of: zone))
        range.end = keys.mark(number + 2, of: zone)
        return [range]
    }

    private func read(
        _ places: [EtcdEntry], of type: RecordType, in zone: String, at revision: Int64
    ) async throws(EtcdError) -> [SyncRecord] {
        var records: [SyncRecord] = []
        var left = places[...]
        while !left.isEmpty {
            var ranges: [EtcdRange] = []
            for place in left.prefix(Self.recordsPerRead) {
                guard let name = String(validating: place.value, as: UTF8.self) else {
                    throw EtcdError(damaged: place.key, "it is not a name")
                }
                ranges.append(EtcdRange(key: keys.record(RecordKey(type: type, name: name), in: zone)).at(revision))
            }
            for (range, place) in zip(try await client.read(ranges).ranges, left) {
                guard let entry = range.entries.first else {
                    throw EtcdError(damaged: place.key, "its record is missing")
                }
                records.append(try StoredRecord(entry).record)
            }
            left = left.dropFirst(ranges.count)
        }
        return records
    }

    private static let recordsPerRead = 100

    package func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord? {
        try await finish { [self] in
            try await check(zone)
            return try await reads.entry(keys.record(key, in: zone)).map { entry in try StoredRecord(entry).record }
        }
    }

    package func records(in zone: String, type: RecordType?) async throws -> [SyncRecord] {
        try await finish { [self] in
            try await check(zone)
            let prefix = type.map { keys.records(in: zone, type: $0) } ?? keys.records(in: zone)
            var records: [SyncRecord] = []
            try await client.readAll(EtcdRange(prefix: prefix)) { entry in
                records.append(try StoredRecord(entry).record)
            }
            return records.sorted { ($0.key.type.rawValue, $0.key.name) < ($1.key.type.rawValue, $1.key.name) }
        }
    }
}
