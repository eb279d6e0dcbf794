package import CloudAPI
import Domain
import Logging

extension CloudService {
    /// Returns the zone's leases that any host holds or waits for, sorted by meter.
    package func leases(in zone: String, by principal: Principal) async throws(CloudFailure) -> LeaseList {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone, for: principal)
        let held = try await ask { try await engine.heldLeases(in: zone.name) }
        var bodies = held.map { body(of: $0.record, meter: $0.meter, in: zone, for: member.host) }
        let listed = Set(held.map(\.meter))
        for place in queues.places(in: zone.name) where !listed.contains(place.meter) {
            let record = try await ask { try await engine.lease(of: place.meter, in: zone.name) }
            bodies.append(body(of: record, meter: place.meter, in: zone, for: member.host))
        }
        return LeaseList(leases: bodies.sorted { $0.meter < $1.meter })
    }

    /// - Throws: `leaseHeld`, with the holder and the reason.
    package func acquire(
        _ request: AcquireRequest, meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone, for: principal)
        let wish = try LeaseAcquire(request, by: member, in: zone)
        let asked = try Self.meter(meter)
        let limits = try await ask { try await engine.leaseLimits(at: clock.now()) }
        let decided = try await ask {
            try await engine.decideLease(of: asked, in: zone.name) { [clock, queues] lease in
                let now = clock.now()
                let place = MeterPlace(zone: zone.name, meter: lease.meter)
                // Only a free meter is reserved for the host with the offer.
                let isHeld = lease.record.map { $0.holder != nil && !$0.isOver(at: now) } ?? false
                let circumstances = LeaseCircumstances(
                    now: now, wallNow: clock.wallNow(), terms: zone.terms,
                    grantsNothingNewBefore: limits.grantsNothingNewBefore, tokenFloor: limits.tokenFloor,
                    reservedFor: isHeld ? nil : queues.reserved(at: place, now: now),
                    nextInQueue: queues.reserved(at: place, now: now))
                let decision = LeaseRules.acquire(wish, of: lease, in: circumstances)
                return LeaseDecision(
                    record: decision.record,
                    answer: (before: lease.record, meter: lease.meter, answer: decision.answer))
            }
        }
        let meter = decided.meter
        switch decided.answer {
        case .granted(let record):
            await granted(record, before: decided.before, meter: meter, in: zone, to: member)
            var granted = body(of: record, meter: meter, in: zone, for: member.host)
            if let old = decided.before?.holder?.host, old != member.host {
                // Also false if another replica has the old holder's stream.
                granted.oldHolderTold = hub.isListening(old, in: zone.name)
            }
            return granted
        case .refused(let refusal):
            var failure = await refused(refusal, wish, before: decided.before, meter: meter, in: zone, by: member)
            if request.isUnnamedTakeover, refusal.reason == .held {
                failure.message += ". This request names no grant to take over; update meterd on the host that asks"
            }
            throw failure
        }
    }

    private func granted(
        _ record: LeaseRecord, before: LeaseRecord?, meter: String, in zone: Zone, to member: Member
    ) async {
        let place = MeterPlace(zone: zone.name, meter: meter)
        let isWaiting = queues.offer(at: place) { queue in
            queue.cannotBeHad()
            return queue.waiters.contains { $0.host == member.host }
        }
        // If this fails, or this replica has not read the queue yet, `settleQueue` removes the host.
        let hasLeft = isWaiting == true ? await tryChange(.leave(member.host), at: place) : false
        // A repeated grant changes nothing, so no event is sent.
        guard hasLeft || before?.token != record.token || before?.state != record.state else { return }
        tell(record, meter: meter, in: zone)
        logger.info(
            "lease granted",
            metadata: [
                "zone": "\(zone.name)", "meter": "\(meter)", "host": "\(member.host)",
                "token": "\(record.token.rawValue)",
            ])
    }

    private func refused(
        _ refusal: LeaseAnswer.Refusal, _ wish: LeaseAcquire, before: LeaseRecord?, meter: String, in zone: Zone,
        by member: Member
    ) async -> CloudFailure {
        let place = MeterPlace(zone: zone.name, meter: meter)
        var isNews = refusal.record.map { before?.state != $0.state } ?? false
        if refusal.reason == .revoking, let token = wish.takeover, token == refusal.record?.token,
            hub.noteQueue(of: member.host, in: zone.name)
        {
            // The host becomes first in the queue if this request revoked the lease, and joins at the end if an earlier
            // take-over did.
            let waiter = waiter(member, at: refusal.record)
            let isMoved = await tryChange(isNews ? .joinAtHead(waiter) : .join(waiter), at: place)
            isNews = isNews || isMoved
        }
        if isNews, let record = refusal.record { tell(record, meter: meter, in: zone) }
        // If the revoked holder restarted and so no longer uses the meter, the next host in the queue gets an offer.
        if isNews, refusal.record?.holder == nil { await settleQueue(of: place) }
        var failure = CloudFailure(
            .leaseHeld, Self.words(for: refusal, meter: meter), retryAfter: refusal.retryAfter)
        failure.lease = refusal.record.map { body(of: $0, meter: meter, in: zone, for: member.host) }
        failure.reason = refusal.reason.rawValue
        return failure
    }

    private static func words(for refusal: LeaseAnswer.Refusal, meter: String) -> String {
        let holder = refusal.record?.holder?.hostName ?? "another host"
        return switch refusal.reason {
        case .held: "\(holder) has \(meter); take it over, or queue for it"
        case .revoking: "\(holder) has \(meter) and was told to stop; ask again when it is free"
        case .reserved: "\(meter) is kept for another host for some seconds; ask again then"
        case .restoring:
            "this cloud was restored from a backup and gives out nothing new until old holders have surely stopped"
        case .released: "this request for \(meter) was granted and the lease released since; ask anew"
        case .exhausted: "\(meter) has no token left; the cloud's clock was absurd at a restore"
        }
    }

    /// Returns one result for each lease, in the order of the request.
    package func renew(
        _ request: RenewRequest, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> RenewAnswer {
        let member = try member(principal, of: zone)
        guard request.leases.count <= CloudLimits.leasesPerRenewal else {
            throw CloudFailure(
                .limitExceeded,
                "\(request.leases.count) leases are too many for one request; send \(CloudLimits.leasesPerRenewal)")
        }
        let zone = try await existing(zone, for: principal)
        let session = try Self.session(request.session)
        // A malformed id gets the result `unknown`, because no lease was ever granted for it.
        let asked = request.leases.map { try? Self.meter($0.meter) }
        let leases = zip(asked, request.leases).compactMap { meter, lease in
            meter.map { (meter: $0, token: FencingToken(rawValue: lease.token)) }
        }
        var renewals = try await ask {
            leases.isEmpty
                ? []
                : try await engine.renewLeases(
                    leases, session: session, in: zone.name, under: zone.terms.policy, at: clock.now())
        }[...]
        let results = zip(asked, request.leases).map { meter, lease -> RenewAnswer.Result in
            guard let meter, let renewal = renewals.popFirst() else {
                return RenewAnswer.Result(meter: lease.meter, result: LeaseRenewal.Loss.unknown.rawValue, lease: nil)
            }
            let (word, record) =
                switch renewal {
                case .renewed(let record): ("renewed", LeaseRecord?.some(record))
                case .lost(let loss, let record): (loss.rawValue, record)
                }
            return RenewAnswer.Result(
                meter: meter, result: word,
                lease: record.map { body(of: $0, meter: meter, in: zone, for: member.host) })
        }
        return RenewAnswer(results: results)
    }

    /// Releases a lease. Returns the present state, unchanged if the host is not the holder.
    package func release(
        _ request: ReleaseRequest, meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone, for: principal)
        let meter = try Self.meter(meter)
        let session = try Self.session(request.session)
        let token = FencingToken(rawValue: request.token)
        let change = try await change(meter, in: zone) { LeaseRules.release(token, session: session, of: $0) }
        return body(of: change.record, meter: change.meter, in: zone, for: member.host)
    }

    /// Instructs the holder to stop. The lease is free once the holder releases it, or at its expiry.
    package func revoke(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        _ = try member(principal, of: zone)
        return try await revoke(try Self.meter(meter), in: try await existing(zone, for: principal))
    }

    func revoke(_ meter: String, in zone: Zone) async throws(CloudFailure) -> LeaseBody {
        let change = try await change(meter, in: zone) { LeaseRules.revoke($0) }
        return body(of: change.record, meter: change.meter, in: zone)
    }

    private func change(
        _ meter: String, in zone: Zone,
        _ rule: @escaping @Sendable (LeaseSnapshot) -> LeaseDecision<LeaseChange>
    ) async throws(CloudFailure) -> (meter: String, record: LeaseRecord?) {
        let (meter, change) = try await ask {
            try await engine.decideLease(of: meter, in: zone.name) { lease in
                let decision = rule(lease)
                return LeaseDecision(record: decision.record, answer: (lease.meter, decision.answer))
            }
        }
        await changed(change, meter: meter, in: zone)
        return (meter, change.record)
    }

    func changed(_ change: LeaseChange, meter: String, in zone: Zone) async {
        guard case .changed(let record) = change else { return }
        tell(record, meter: meter, in: zone)
        await settleQueue(of: MeterPlace(zone: zone.name, meter: meter))
    }
}
