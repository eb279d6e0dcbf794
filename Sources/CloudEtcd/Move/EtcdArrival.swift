package import Cloud
package import Domain
package import Logging

/// Moves another store into an etcd that has no cloud yet (`metercloud migrate`).
///
/// Epoch, sequences, fencing tokens and holders are kept, and change tokens remain valid. The two stores can never be
/// open at the same time: the old one is closed permanently before the new one gets its epoch, without which no replica
/// opens it. A repeated attempt starts over.
package struct EtcdArrival: Hashable, Sendable {
    package var zones = 0
    package var credentials = 0
    package var leases = 0
    package var records = 0
    /// Whether an earlier attempt had moved everything.
    package var wasThere = false

    /// - Parameters:
    ///   - store: source, marked as moved before the store in etcd can be opened.
    ///   - progress: called from time to time with the numbers moved so far.
    /// - Throws: `badSetting` if etcd has data under this prefix, or the source was moved elsewhere before; `damaged`
    ///   if the data in etcd differs from the written data; errors of the source.
    package static func run(
        from store: some DepartingStore, to settings: EtcdSettings, at now: WallTime, clock: CloudClock,
        rng: inout some RandomNumberGenerator, logger: Logger, progress: @Sendable (EtcdArrival) -> Void
    ) async throws -> EtcdArrival {
        let client = try EtcdClient(settings, clock: clock, logger: logger)
        let attempt = UniqueID<Never>(using: &rng).description
        let result: Result<EtcdArrival, any Error>
        do {
            let gate = MigrationLock(client: client, keys: StoreKeys(prefix: settings.prefix), prefix: settings.prefix)
            result = .success(try await bring(store, through: gate, attempt: attempt, at: now, progress))
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        return try result.get()
    }

    private static func bring(
        _ store: some DepartingStore, through gate: MigrationLock, attempt: String, at now: WallTime,
        _ progress: @Sendable (EtcdArrival) -> Void
    ) async throws -> EtcdArrival {
        let contents = try await store.contents()
        var arrival = EtcdArrival(zones: contents.zones.count, credentials: contents.credentials.count)
        guard let revision = try await gate.begin(contents, attempt: attempt) else {
            arrival.wasThere = true
            return arrival
        }
        try await gate.clear(revision)
        var load = ArrivalLoad(client: gate.client, guarding: EtcdCompare(key: gate.keys.arriving, revision: revision))
        try await load.put(try contents.puts(gate.keys))
        for zone in contents.zones.map(\.zone.name) {
            try await bringLeases(of: zone, from: store, gate.keys, &load, &arrival, progress)
            try await bringRecords(of: zone, from: store, gate.keys, &load, &arrival, progress)
        }
        try await load.check(gate.keys)
        try await store.depart(to: gate.destination, at: now)
        try await gate.open(contents, revision)
        return arrival
    }

    private static let pageLength = 1200

    private static func bringLeases(
        of zone: String, from store: some DepartingStore, _ keys: StoreKeys, _ load: inout ArrivalLoad,
        _ arrival: inout EtcdArrival, _ progress: @Sendable (EtcdArrival) -> Void
    ) async throws {
        var last: String?
        while true {
            let page = try await store.leases(in: zone, after: last, limit: pageLength)
            guard let end = page.last else { return }
            try await load.put(
                page.map { meter, record in
                    let value = try StoredLease(record, writer: MigrationLock.writer).bytes
                    return EtcdPut(key: keys.lease(of: meter, in: zone), value: value)
                })
            last = end.meter
            arrival.leases += page.count
            progress(arrival)
        }
    }

    private static func bringRecords(
        of zone: String, from store: some DepartingStore, _ keys: StoreKeys, _ load: inout ArrivalLoad,
        _ arrival: inout EtcdArrival, _ progress: @Sendable (EtcdArrival) -> Void
    ) async throws {
        var last: UInt64 = 0
        while true {
            let page = try await store.records(in: zone, after: last, limit: pageLength)
            guard let end = page.last else { return }
            try await load.put(page.flatMap { $0.puts(in: zone, keys) })
            last = end.sequence
            arrival.records += page.count
            progress(arrival)
        }
    }
}

extension StoreContents {
    fileprivate func puts(_ keys: StoreKeys) throws -> [EtcdPut] {
        var puts: [EtcdPut] = []
        for zone in zones {
            var head = StoredHead(sequence: zone.zone.sequence, accepted: zone.accepted, floor: zone.floor)
            head.before = head.sequence
            head.writer = MigrationLock.writer
            let terms = StoredTerms(zone.zone.terms, quota: zone.zone.quota)
            puts.append(EtcdPut(key: keys.zone(zone.zone.name), value: try terms.bytes))
            puts.append(EtcdPut(key: keys.head(zone.zone.name), value: try head.bytes))
            let name = zone.zone.name
            puts.append(EtcdPut(key: keys.identity(of: name), value: Array(zone.zone.id.description.utf8)))
            puts.append(EtcdPut(key: keys.aliases(of: name), value: try StoredAliases(zone.aliases).bytes))
            puts.append(EtcdPut(key: keys.leaseCount(name), value: Array("\(zone.leases.total)".utf8)))
            for (host, count) in zone.leases.hosts {
                puts.append(EtcdPut(key: keys.leaseCount(name, of: host), value: Array("\(count)".utf8)))
            }
            for mark in zone.marks.dropLast() {
                puts.append(EtcdPut(key: keys.mark(mark.number, of: name), value: try StoredMark(mark).bytes))
            }
            if let newest = zone.marks.last { puts += try newest.puts(of: name, keys) }
        }
        var bindings: [[UInt8]: StoredBindings] = [:]
        for credential in credentials {
            let value = try StoredCredential(credential, writer: MigrationLock.writer).bytes
            puts.append(EtcdPut(key: keys.credential(hash: credential.hash), value: value))
            puts.append(EtcdPut(key: keys.credentialID(credential.id), value: credential.hash))
            guard let host = credential.binding?.host else { continue }
            bindings[keys.bindings(of: host, in: credential.zone), default: StoredBindings()].hashes
                .append(credential.hash)
        }
        for (key, value) in bindings { puts.append(EtcdPut(key: key, value: try value.bytes)) }
        return puts
    }
}

extension PlacedRecord {
    fileprivate func puts(in zone: String, _ keys: StoreKeys) -> [EtcdPut] {
        let stored = StoredRecord(record: record, sequence: sequence, tombstoneTime: tombstoneTime)
        return RecordPlan.puts(of: stored, in: zone, keys)
    }
}
