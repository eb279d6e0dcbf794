package import CloudAPI
import Domain
import Logging

extension CloudService {
    /// Adds the host to a meter's queue. Once the meter is available, the host's event stream delivers an `offer`. The
    /// host must then acquire the lease within `LeaseRules.reservation`. Idempotent.
    ///
    /// - Throws: `badRequest` if the host has no open event stream for the offer; `rateLimited` if too many hosts wait.
    package func enqueue(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone, for: principal)
        let asked = try Self.meter(meter)
        let standing = try await ask { try await engine.standing(of: asked, in: zone.name) }
        let (meter, record) = (standing.meter, standing.record)
        guard hub.noteQueue(of: member.host, in: zone.name) else {
            throw CloudFailure(
                .badRequest, "a host that waits for \(meter) has its event stream open; open it, then queue")
        }
        let place = MeterPlace(zone: zone.name, meter: meter)
        try queues.checkShare(of: member.host, at: place)
        let queue = try await change(.join(waiter(member, at: record)), at: place)
        guard queue.after.waiters.contains(where: { $0.host == member.host }) else {
            throw CloudFailure(
                .rateLimited, "\(LeaseQueue.waitersMax) hosts wait for \(meter); ask again later",
                retryAfter: .seconds(60))
        }
        return try await queueChanged(place, isNews: queue.isNews, in: zone, for: member)
    }

    package func leaveQueue(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone, for: principal)
        let asked = try Self.meter(meter)
        let standing = try await ask { try await engine.standing(of: asked, in: zone.name) }
        if standing.meter != asked, queues.queue(at: MeterPlace(zone: zone.name, meter: asked)) != nil {
            // The id has become an alias: also remove the host from its old queue.
            _ = try await change(.leave(member.host), at: MeterPlace(zone: zone.name, meter: asked))
        }
        let place = MeterPlace(zone: zone.name, meter: standing.meter)
        let queue = try await change(.leave(member.host), at: place)
        return try await queueChanged(place, isNews: queue.isNews, in: zone, for: member)
    }

    private func queueChanged(
        _ place: MeterPlace, isNews: Bool, in zone: Zone, for member: Member
    ) async throws(CloudFailure) -> LeaseBody {
        let record = try await ask { try await engine.lease(of: place.meter, in: zone.name) }
        if isNews { tell(record, meter: place.meter, in: zone) }
        await settleQueue(of: place)
        return body(of: record, meter: place.meter, in: zone, for: member.host)
    }

    func waiter(_ member: Member, at record: LeaseRecord?) -> Waiter {
        Waiter(
            host: member.host, name: member.name, copy: copy, token: record?.token ?? FencingToken(rawValue: 0))
    }

    // MARK: Changing queues

    func change(
        _ change: QueueEdit, at place: MeterPlace
    ) async throws(CloudFailure) -> (after: QueueState, isNews: Bool) {
        let queue = try await ask { try await engine.changeQueue(at: place) { change($0) } }
        return (queue, queues.update(queue, at: place))
    }

    /// Changes the queue, but logs errors instead of throwing them. The next `settleQueue` or the host repeats a failed
    /// change.
    func tryChange(_ change: QueueEdit, at place: MeterPlace) async -> Bool {
        do {
            return try await self.change(change, at: place).isNews
        } catch {
            logger.warning("lease queue change failed", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
            return false
        }
    }

    /// Reads all queues, to detect unreported changes by other replicas.
    func readQueues() async {
        do {
            for place in queues.update(try await engine.queues()) { await tellQueue(at: place) }
        } catch {
            logger.warning("lease queue read failed", metadata: ["error": "\(error)"])
        }
    }

    func tellQueue(at place: MeterPlace) async {
        do {
            guard let zone = try await engine.zone(place.zone) else { return }
            tell(try await engine.lease(of: place.meter, in: place.zone), meter: place.meter, in: zone)
        } catch {
            logger.warning(
                "lease queue change not sent to hosts", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
        }
    }

    // MARK: Serving queues

    /// Updates the queue for the hosts that wait through this replica, after each change and every second. Removes
    /// hosts that no longer listen, have the meter, or missed their offer. Offers an available meter to the first host.
    ///
    /// Safe to run concurrently, and with a stale lease: only the acquire that answers an offer decides.
    func settleQueue(of place: MeterPlace) async {
        let copy = copy
        // While this replica stops, leave the queue unchanged: its hosts rejoin through another replica and keep their
        // places.
        guard !hub.isClosed else { return }
        guard let queue = queues.queue(at: place), queue.waiters.contains(where: { $0.copy == copy }) else { return }
        let zone: Zone?
        let lease: LeaseSnapshot
        let limits: LeaseLimits
        do {
            zone = try await engine.zone(place.zone)
            lease = try await engine.standing(of: place.meter, in: place.zone)
            limits = try await engine.leaseLimits(at: clock.now())
        } catch {
            logger.warning("lease queue check failed", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
            return
        }
        guard let zone else { return }
        guard lease.meter == place.meter else {
            await moveQueue(from: place, to: MeterPlace(zone: place.zone, meter: lease.meter), through: copy)
            return
        }
        let record = lease.record
        let now = clock.now()
        let canBeHad =
            (record?.holder == nil || record?.isOver(at: now) == true) && limits.grantsNothingNewBefore == nil
        if let change = departures(from: place, of: copy, record: record, canBeHad: canBeHad, at: now) {
            if await tryChange(change, at: place) { tell(record, meter: place.meter, in: zone) }
        }
        guard canBeHad else { return }
        let turn = queues.offer(at: place) { $0.canBeHad(at: now, through: copy) }
        if case .offer(let waiter) = turn {
            hub.tellOffer(of: place.meter, reserved: LeaseRules.reservation, to: waiter.host, in: place.zone)
        }
    }

    private func moveQueue(from place: MeterPlace, to other: MeterPlace, through copy: ReplicaID) async {
        let waiters = queues.queue(at: place)?.waiters.filter { $0.copy == copy } ?? []
        for waiter in waiters {
            // If interrupted between the two changes, the host is in both queues, and the next check completes the
            // move.
            _ = await tryChange(.join(waiter), at: other)
            _ = await tryChange(.leave(waiter.host), at: place)
        }
        await tellQueue(at: place)
        await tellQueue(at: other)
        await settleQueue(of: other)
    }

    private func departures(
        from place: MeterPlace, of copy: ReplicaID, record: LeaseRecord?, canBeHad: Bool, at now: MonotonicTime
    ) -> QueueEdit? {
        queues.offer(at: place) { [hub] queue -> QueueEdit? in
            let gone = queue.waiters.filter { waiter in
                waiter.copy == copy
                    && (!hub.isListening(waiter.host, in: place.zone) || record?.serves(waiter) == true)
            }
            if !canBeHad { queue.cannotBeHad() }
            let late = queue.late(at: now)
            return gone.isEmpty && late == nil ? nil : .remove(Set(gone), late: late)
        } ?? nil
    }
}

extension LeaseRecord {
    fileprivate func serves(_ waiter: Waiter) -> Bool { holder?.host == waiter.host && token > waiter.token }
}
