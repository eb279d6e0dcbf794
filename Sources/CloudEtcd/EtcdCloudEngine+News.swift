package import Cloud
import Domain
import Logging

extension EtcdCloudEngine {
    /// Reports changes by other replicas, until its task is cancelled.
    ///
    /// Etcd's watch reports changes immediately. Every `repairInterval`, this replica also reads everything. The watch
    /// may miss changes, and the wait before a lease may be given away begins when this replica reads it.
    ///
    /// - Parameter hear: called with each change, which may be repeated.
    package func run(_ hear: @escaping @Sendable (CloudNews) async -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in await watch(hear) }
            group.addTask { [self] in await repair(hear) }
            group.addTask { [self] in await tellRenewals() }
        }
    }

    /// Interval at which all zones and leases are read again (Docs/Sync.md#figures).
    static let repairInterval = Duration.seconds(30)
    /// Interval at which this replica writes its renewals for the other replicas (`RenewalDigest`). Too short for hosts
    /// to notice; at most two small requests a second.
    private static let tellInterval = Duration.milliseconds(500)
    private static let watchPause = Duration.seconds(1)
    private static let watchLength = Duration.seconds(300)

    private func watch(_ hear: @escaping @Sendable (CloudNews) async -> Void) async {
        var failures = 0
        while !Task.isCancelled {
            let failure = await watchOnce(hear)
            failures = failure == nil ? 0 : failures + 1
            // A watch may end at any time. Log only the failure to start it again.
            if failures == 2, let failure {
                logger.warning("etcd watch failed", metadata: ["cause": "\(failure)"])
            }
            await pause(Self.watchPause)
        }
    }

    /// Watches for at most `watchLength`, because a dead connection may go unnoticed.
    ///
    /// - Returns: the error if the watch could not begin.
    private func watchOnce(_ hear: @escaping @Sendable (CloudNews) async -> Void) async -> EtcdError? {
        await withTaskGroup(of: EtcdError?.self) { group in
            group.addTask { [self] in
                await pause(Self.watchLength)
                return nil
            }
            group.addTask { [self] in
                do throws(EtcdError) {
                    try await client.watch(EtcdRange(prefix: keys.watched)) { [self] in
                        // Report changes from before the watch.
                        await readAllNews(hear)
                    } _: { [self] events in
                        for event in events { await handle(event, hear) }
                    }
                    return nil
                } catch {
                    return error
                }
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    private func repair(_ hear: @escaping @Sendable (CloudNews) async -> Void) async {
        while !Task.isCancelled {
            await readAllNews(hear)
            await pause(Self.repairInterval)
        }
    }

    private func tellRenewals() async {
        while !Task.isCancelled {
            await pause(Self.tellInterval)
            let digest = pendingRenewals.take()
            guard !digest.isEmpty else { continue }
            do throws(EtcdError) {
                _ = try await client.commit(EtcdTransaction(success: [.put(key: keys.renewals, value: digest.bytes)]))
            } catch {
                // A lost digest does little harm: every `repairInterval`, the other replicas also read the keys that
                // renewals change.
                logger.debug("lease renewals not sent to other replicas", metadata: ["cause": "\(error)"])
            }
        }
    }

    private func pause(_ time: Duration) async {
        try? await clock.sleep(clock.now() + time)
    }

    private func handle(_ event: EtcdWatchMessage.Event, _ hear: @Sendable (CloudNews) async -> Void) async {
        let entry = event.entry
        let watched = keys.watched(entry.key)
        if case .queue(let place)? = watched {
            let state = queue(event.isDeletion ? nil : entry, at: place, of: entry.revision)
            return await hear(.queue(state, place: place))
        }
        guard !event.isDeletion else { return }
        do {
            switch watched {
            case .head(let zone):
                if let news = try news(ofHead: entry, zone: zone) { await hear(news) }
            case .lease(let zone, let meter):
                if let record = try update(entry, of: MeterPlace(zone: zone, meter: meter), at: clock.now()) {
                    await hear(.lease(record, meter: meter, zone: zone))
                }
            case .credential:
                let credential = try Self.read(entry)
                if credential.revokedAt != nil { await hear(.revoked(credential: credential.id)) }
            case .renewals:
                let now = clock.now()
                for (zone, meters) in try RenewalDigest(entry).zones {
                    for (meter, pulse) in meters {
                        leaseCache.update(pulse: pulse, at: MeterPlace(zone: zone, meter: meter), now: now)
                    }
                }
            case .queue, nil: break
            }
        } catch {
            logger.warning("change in etcd not readable", metadata: ["cause": "\(error)"])
        }
    }

    func readAllNews(_ hear: @Sendable (CloudNews) async -> Void) async {
        do {
            let heads = try await client.read([EtcdRange(prefix: keys.allHeads)]).ranges[0].entries
            for entry in heads {
                guard let zone = StoreKeys.text(of: entry.key, after: keys.allHeads) else { continue }
                do {
                    try await readNews(of: zone, head: entry, hear)
                } catch let error as EtcdError where error.code == .damaged {
                    logger.warning("zone in etcd not readable", metadata: ["zone": "\(zone)", "cause": "\(error)"])
                }
            }
            for (place, queue) in try await queues().queues { await hear(.queue(queue, place: place)) }
        } catch {
            logger.warning("etcd read failed", metadata: ["cause": "\(error)"])
        }
    }

    private func readNews(
        of zone: String, head: EtcdEntry, _ hear: @Sendable (CloudNews) async -> Void
    ) async throws {
        if let news = try news(ofHead: head, zone: zone) { await hear(news) }
        let isFirst = leaseCache.readThrough(zone) == 0
        let leases = try await readLeases(in: zone)
        // On the first call every lease is new to this replica, even an unchanged one, so report none.
        guard !isFirst else { return }
        for lease in leases { await hear(.lease(lease.record, meter: lease.meter, zone: zone)) }
    }

    /// Returns a change of records from a zone's head. Nil if this replica made or already reported the change, or
    /// reads the head for the first time.
    private func news(ofHead entry: EtcdEntry, zone: String) throws -> CloudNews? {
        let head = try StoredHead(entry)
        return heads.see(head, of: zone, isOwn: head.writer.hasPrefix(writer)).map { .records(types: $0, zone: zone) }
    }
}
