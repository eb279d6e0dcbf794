package import CloudAPI
import LeaseCore
import Logging
import MeterModel

extension CloudService {
    /// Waits for a meter. When it can be had, the host's event stream brings an `offer`, which it answers with an
    /// acquire within `LeaseRules.reservation`. Calling it again changes nothing.
    ///
    /// - Throws: `badRequest` where no event stream of the host is open: nobody could tell it that its turn has come;
    ///   `rateLimited` where too many wait.
    package func enqueue(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone)
        let asked = try Self.meter(meter)
        let standing = try await ask { try await engine.standing(of: asked, in: zone.name) }
        let (meter, record) = (standing.meter, standing.record)
        guard hub.noteQueue(of: member.host, in: zone.name) else {
            throw CloudFailure(
                .badRequest, "a host that waits for \(meter) has its event stream open; open it, then queue")
        }
        let place = MeterPlace(zone: zone.name, meter: meter)
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
        let zone = try await existing(zone)
        let asked = try Self.meter(meter)
        let standing = try await ask { try await engine.standing(of: asked, in: zone.name) }
        if standing.meter != asked, queues.queue(at: MeterPlace(zone: zone.name, meter: asked)) != nil {
            // From before it was an alias, and not moved yet.
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

    /// A host that waits through this copy.
    func waiter(_ member: Member, at record: LeaseRecord?) -> Waiter {
        Waiter(
            host: member.host, name: member.name, copy: copy, token: record?.token ?? FencingToken(rawValue: 0))
    }

    // MARK: Changing queues

    /// - Returns: the queue, and whether it is another one to whoever is shown it.
    func change(
        _ change: QueueEdit, at place: MeterPlace
    ) async throws(CloudFailure) -> (after: QueueState, isNews: Bool) {
        let queue = try await ask { try await engine.changeQueue(at: place) { change($0) } }
        return (queue, queues.take(queue, at: place))
    }

    /// As `change`, where it can wait: what a queue lacks is made good by the next `settleQueue`, or by its host.
    func tryChange(_ change: QueueEdit, at place: MeterPlace) async -> Bool {
        do {
            return try await self.change(change, at: place).isNews
        } catch {
            logger.warning("a queue is not changed", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
            return false
        }
    }

    /// Reads all queues: what other copies changed, and nobody told of.
    func readQueues() async {
        do {
            for place in queues.take(try await engine.queues()) { await tellQueue(at: place) }
        } catch {
            logger.warning("queues cannot be read", metadata: ["error": "\(error)"])
        }
    }

    /// Tells all hosts of the zone who waits for a meter.
    func tellQueue(at place: MeterPlace) async {
        do {
            guard let zone = try await engine.zone(place.zone) else { return }
            tell(try await engine.lease(of: place.meter, in: place.zone), meter: place.meter, in: zone)
        } catch {
            logger.warning("a queue's change is not told", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
        }
    }

    // MARK: Serving queues

    /// Makes the queue what it should be now, as far as those are concerned who wait through this copy: without hosts
    /// that do not listen any more, have the meter, or did not take their offer, and with an offer to the first where
    /// the meter can be had. Called after each change, and each second.
    ///
    /// Two of these at once, or one with a lease that has just changed, do no harm: an offer decides nothing, the acquire
    /// that answers it does.
    func settleQueue(of place: MeterPlace) async {
        let copy = copy
        // While this copy stops, its hosts go to another one, where they queue again in their places.
        guard !hub.isClosed else { return }
        // What others wait through, others look after.
        guard let queue = queues.queue(at: place), queue.waiters.contains(where: { $0.copy == copy }) else { return }
        let zone: Zone?
        let lease: LeaseStanding
        let limits: LeaseLimits
        do {
            zone = try await engine.zone(place.zone)
            lease = try await engine.standing(of: place.meter, in: place.zone)
            limits = try await engine.leaseLimits(at: clock.now())
        } catch {
            logger.warning("a queue cannot be served", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
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

    /// The id that they wait for became another id of a meter: those who wait through this copy wait for that meter.
    private func moveQueue(from place: MeterPlace, to other: MeterPlace, through copy: ReplicaID) async {
        let waiters = queues.queue(at: place)?.waiters.filter { $0.copy == copy } ?? []
        for waiter in waiters {
            // Should this stop here, the waiter stands in both queues, and the next round goes on.
            _ = await tryChange(.join(waiter), at: other)
            _ = await tryChange(.leave(waiter.host), at: place)
        }
        await tellQueue(at: place)
        await tellQueue(at: other)
        await settleQueue(of: other)
    }

    /// Who is to leave, of those who wait through this copy. nil means nobody.
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
    /// It waited for the meter, and has it.
    fileprivate func serves(_ waiter: Waiter) -> Bool { holder?.host == waiter.host && token > waiter.token }
}
