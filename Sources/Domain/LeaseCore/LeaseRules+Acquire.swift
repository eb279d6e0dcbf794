extension LeaseRules {
    /// Decides an acquire request. A take-over is an acquire that names the grant to replace.
    package static func acquire(
        _ request: LeaseAcquire, of record: LeaseRecord?, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        guard let record else { return grantAnew(request, after: nil, in: circumstances) }
        if let token = record.token(grantedTo: request.requestID) {
            return answerAgain(request, token, record, in: circumstances)
        }
        let isOver = record.isOver(at: circumstances.now)
        switch record.state {
        case .free:
            return grantAnew(request, after: record, in: circumstances)
        case .held(let holder) where holder.isRun(of: request):
            if let wait = circumstances.restoreWait {
                // A host that acquired the meter after the backup may still use it.
                return refuse(.restoring, record, after: wait)
            }
            guard mayKeep(record.token, for: request, in: circumstances) else {
                return grantAnew(request, after: record, in: circumstances, heedingReservation: isOver)
            }
            return grantAgain(request, record, in: circumstances)
        case .held(let holder) where holder.isPredecessor(of: request):
            // An earlier run of this host holds the lease, and its process has ended. A reservation for another host
            // counts only once the lease is over.
            return grantAnew(request, after: record, in: circumstances, heedingReservation: isOver)
        case .revoking(let holder) where holder.isPredecessor(of: request):
            return succeedRevoked(request, record, in: circumstances)
        case .held, .revoking:
            guard !isOver else { return grantAnew(request, after: record, in: circumstances) }
            return contend(request, record, in: circumstances)
        }
    }

    /// Repeats a grant while it is valid, otherwise refuses. Never decides the request again.
    private static func answerAgain(
        _ request: LeaseAcquire, _ token: FencingToken, _ record: LeaseRecord, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        switch record.state {
        case .held(let holder) where holder.isRun(of: request) && token == record.token:
            // After a restore, another host may hold a later grant with a greater token.
            if mayKeep(token, for: request, in: circumstances) { return grantAgain(request, record, in: circumstances) }
            if let wait = circumstances.restoreWait { return refuse(.restoring, record, after: wait) }
            return refuse(.released, record, after: .zero)
        case .free:
            return refuse(.released, record, after: .zero)
        case .held(let holder), .revoking(let holder):
            let isRevoking = record.state == .revoking(holder)
            // A host must not wait for its own lease: `released` makes it send a new acquire.
            let reason: LeaseAnswer.Refusal.Reason = holder.host == request.host ? .released : .held
            return refuse(isRevoking ? .revoking : reason, record, after: record.untilOver(at: circumstances.now))
        }
    }

    /// Renews the lease of a holder that lost the answer or believed the lease lost.
    ///
    /// Keeps the durations of the token's first grant: if this answer is lost too, the holder still uses those.
    private static func grantAgain(
        _ request: LeaseAcquire, _ record: LeaseRecord, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        var record = record
        record.renew(at: circumstances.now)
        record.remember(request.requestID)
        record.terms = LeaseTerms(
            timeToLive: record.terms.timeToLive, lockDelay: record.terms.lockDelay,
            policy: circumstances.terms.policy.stricter(request.policy))
        return LeaseDecision(record: record, answer: .granted(record))
    }

    /// Handles a request from a restarted host whose earlier session was revoked. That process has ended, so its lease
    /// counts as released. The first host in the queue gets the meter, otherwise this one.
    private static func succeedRevoked(
        _ request: LeaseAcquire, _ record: LeaseRecord, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        guard circumstances.restoreWait == nil, let next = circumstances.nextInQueue, next != request.host else {
            return grantAnew(request, after: record, in: circumstances, heedingReservation: false)
        }
        var freed = record
        freed.state = .free
        let refusal = LeaseAnswer.Refusal(reason: .reserved, record: freed, retryAfter: reservation)
        return LeaseDecision(record: freed, answer: .refused(refusal))
    }

    private static func grantAnew(
        _ request: LeaseAcquire, after last: LeaseRecord?, in circumstances: LeaseCircumstances,
        heedingReservation: Bool = true
    ) -> LeaseDecision<LeaseAnswer> {
        let shown = last?.holder == nil ? nil : last
        if let wait = circumstances.restoreWait { return refuse(.restoring, shown, after: wait) }
        if heedingReservation, let reserved = circumstances.reservedFor, reserved != request.host {
            return refuse(.reserved, shown, after: reservation)
        }
        guard let token = nextToken(after: last?.token, for: request, in: circumstances) else {
            return refuse(.exhausted, shown, after: circumstances.terms.over)
        }
        let holder = LeaseHolder(
            host: request.host, hostName: request.hostName, session: request.session, transport: request.transport,
            acquiredAt: circumstances.wallNow)
        var record = LeaseRecord(
            state: .held(holder), token: token, terms: terms(for: request, in: circumstances.terms),
            renewedAt: circumstances.now, grants: last?.grants ?? [])
        record.remember(request.requestID)
        return LeaseDecision(record: record, answer: .granted(record))
    }

    private static func contend(
        _ request: LeaseAcquire, _ record: LeaseRecord, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        let wait = max(record.untilOver(at: circumstances.now), circumstances.restoreWait ?? .zero)
        guard case .held(let holder) = record.state else { return refuse(.revoking, record, after: wait) }
        // Refuse a take-over that names an older grant (compare-and-swap).
        guard request.takeover == record.token else { return refuse(.held, record, after: wait) }
        if circumstances.restoreWait != nil { return refuse(.restoring, record, after: wait) }
        // If the present grant, the zone or the request is strict, revoke first: two hosts must not use the meter at
        // once.
        let policy = record.terms.policy.stricter(circumstances.terms.policy).stricter(request.policy)
        guard policy == .strict else { return grantAnew(request, after: record, in: circumstances) }
        var revoked = record
        revoked.state = .revoking(holder)
        let refusal = LeaseAnswer.Refusal(
            reason: .revoking, record: revoked, retryAfter: record.untilOver(at: circumstances.now))
        return LeaseDecision(record: revoked, answer: .refused(refusal))
    }

    static func refuse(
        _ reason: LeaseAnswer.Refusal.Reason, _ record: LeaseRecord?, after wait: Duration
    ) -> LeaseDecision<LeaseAnswer> {
        let refusal = LeaseAnswer.Refusal(reason: reason, record: record, retryAfter: wait)
        return LeaseDecision(record: nil, answer: .refused(refusal))
    }

    /// Nil if the host claims no token, or one above `FencingToken.claimMax`.
    private static func claim(of request: LeaseAcquire) -> FencingToken? {
        request.tokenFloor.flatMap { $0 <= .claimMax ? $0 : nil }
    }

    /// Whether the holder may keep the token: neither the host's claim nor a restore's floor may exceed it.
    private static func mayKeep(
        _ token: FencingToken, for request: LeaseAcquire, in circumstances: LeaseCircumstances
    ) -> Bool {
        token >= min(circumstances.tokenFloor, .claimMax) && token >= claim(of: request) ?? token
    }

    /// Returns a token above the last one, the host's claim and an alias's floor, and not below a restore's floor; nil
    /// if none is left. Never traps on invalid stored values.
    private static func nextToken(
        after last: FencingToken?, for request: LeaseAcquire, in circumstances: LeaseCircumstances
    ) -> FencingToken? {
        let seen = max(
            last?.rawValue ?? 0, claim(of: request)?.rawValue ?? 0, circumstances.grantsAbove.rawValue)
        guard seen < FencingToken.max.rawValue else { return nil }
        return FencingToken(rawValue: max(seen + 1, min(circumstances.tokenFloor, .claimMax).rawValue))
    }

    /// Returns the zone's terms; the request may only shorten the time to live and make the policy stricter.
    private static func terms(for request: LeaseAcquire, in zone: LeaseTerms) -> LeaseTerms {
        LeaseTerms(
            timeToLive: min(request.timeToLive, zone.timeToLive), lockDelay: zone.lockDelay,
            policy: zone.policy.stricter(request.policy))
    }
}

extension LeaseHolder {
    func isRun(of request: LeaseAcquire) -> Bool { host == request.host && session == request.session }

    fileprivate func isPredecessor(of request: LeaseAcquire) -> Bool {
        host == request.host && session == request.previousSession
    }
}

extension LeaseCircumstances {
    /// Nil if new grants are allowed.
    fileprivate var restoreWait: Duration? {
        guard let grantsNothingNewBefore, now < grantsNothingNewBefore else { return nil }
        return grantsNothingNewBefore - now
    }
}
