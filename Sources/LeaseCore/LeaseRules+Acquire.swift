import MeterModel

extension LeaseRules {
    /// Decides who gets a meter. A take-over is an acquire that a person insists on.
    package static func acquire(
        _ request: LeaseAcquire, of record: LeaseRecord?, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        guard let record else { return grantAnew(request, after: nil, in: circumstances) }
        if request.requestID == record.requestID, record.holder == nil {
            return refuse(.released, record, after: .zero)
        }
        let isOver = record.isOver(at: circumstances.now)
        switch record.state {
        case .free:
            return grantAnew(request, after: record, in: circumstances)
        case .held(let holder) where holder.isRun(of: request):
            // After a restore its old token may be older than one that another host was given since the backup.
            guard record.token >= circumstances.tokenFloor else {
                return grantAnew(request, after: record, in: circumstances, heedingReservation: isOver)
            }
            return grantAgain(request, record, in: circumstances)
        case .held(let holder) where holder.isPredecessor(of: request):
            // A restart: the old process is surely gone, and a reservation is for a lease that nobody has.
            return grantAnew(request, after: record, in: circumstances, heedingReservation: isOver)
        case .held, .revoking:
            guard !isOver else { return grantAnew(request, after: record, in: circumstances) }
            return contend(request, record, in: circumstances)
        }
    }

    /// The holder asks again: its answer was lost, or it thought the lease lost. It counts as a renewal.
    ///
    /// The times stay those of the token's first grant: should this answer be lost too, the holder still goes by them,
    /// and the authority must not be the quicker of the two.
    private static func grantAgain(
        _ request: LeaseAcquire, _ record: LeaseRecord, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        if let wait = circumstances.restoreWait, request.requestID != record.requestID {
            // Whoever asks anew is not using the meter, and who held it after the backup may be.
            return refuse(.restoring, record, after: wait)
        }
        var record = record
        record.renew(at: circumstances.now)
        record.requestID = request.requestID
        record.terms = LeaseTerms(
            timeToLive: record.terms.timeToLive, lockDelay: record.terms.lockDelay,
            policy: circumstances.terms.policy.stricter(request.policy))
        return LeaseDecision(record: record, answer: .granted(record))
    }

    /// Nobody has it, or who had it does no more.
    private static func grantAnew(
        _ request: LeaseAcquire, after last: LeaseRecord?, in circumstances: LeaseCircumstances,
        heedingReservation: Bool = true
    ) -> LeaseDecision<LeaseAnswer> {
        let shown = last?.holder == nil ? nil : last
        if let wait = circumstances.restoreWait { return refuse(.restoring, shown, after: wait) }
        if heedingReservation, let reserved = circumstances.reservedFor, reserved != request.host {
            return refuse(.reserved, shown, after: reservation)
        }
        guard let token = nextToken(after: last?.token, floor: circumstances.tokenFloor) else {
            return refuse(.exhausted, shown, after: circumstances.terms.over)
        }
        let holder = LeaseHolder(
            host: request.host, hostName: request.hostName, session: request.session, transport: request.transport,
            acquiredAt: circumstances.wallNow)
        let record = LeaseRecord(
            state: .held(holder), token: token, terms: terms(for: request, in: circumstances.terms),
            renewedAt: circumstances.now, requestID: request.requestID)
        return LeaseDecision(record: record, answer: .granted(record))
    }

    /// Somebody else has it.
    private static func contend(
        _ request: LeaseAcquire, _ record: LeaseRecord, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        let untilOver = max(.zero, record.renewedAt + record.terms.over - circumstances.now)
        let wait = max(untilOver, circumstances.restoreWait ?? .zero)
        guard case .held(let holder) = record.state else { return refuse(.revoking, record, after: wait) }
        guard request.isTakeover else { return refuse(.held, record, after: wait) }
        if circumstances.restoreWait != nil { return refuse(.restoring, record, after: wait) }
        // Whoever of the three is strict does not want two hosts at one meter.
        let policy = record.terms.policy.stricter(circumstances.terms.policy).stricter(request.policy)
        guard policy == .strict else { return grantAnew(request, after: record, in: circumstances) }
        var revoked = record
        revoked.state = .revoking(holder)
        return LeaseDecision(
            record: revoked,
            answer: .refused(LeaseAnswer.Refusal(reason: .revoking, record: revoked, retryAfter: untilOver)))
    }

    private static func refuse(
        _ reason: LeaseAnswer.Refusal.Reason, _ record: LeaseRecord?, after wait: Duration
    ) -> LeaseDecision<LeaseAnswer> {
        let refusal = LeaseAnswer.Refusal(reason: reason, record: record, retryAfter: wait)
        return LeaseDecision(record: nil, answer: .refused(refusal))
    }

    /// nil once there is none left. Never traps, whatever a store holds.
    private static func nextToken(after last: FencingToken?, floor: FencingToken) -> FencingToken? {
        let lastValue = last?.rawValue ?? 0
        guard lastValue < FencingToken.max.rawValue, floor <= FencingToken.max else { return nil }
        return FencingToken(rawValue: max(lastValue + 1, floor.rawValue))
    }

    /// The zone's times and policy, shorter and stricter where the host wishes it.
    private static func terms(for request: LeaseAcquire, in zone: LeaseTerms) -> LeaseTerms {
        LeaseTerms(
            timeToLive: min(request.timeToLive, zone.timeToLive), lockDelay: zone.lockDelay,
            policy: zone.policy.stricter(request.policy))
    }
}

extension LeaseHolder {
    fileprivate func isRun(of request: LeaseAcquire) -> Bool { host == request.host && session == request.session }

    fileprivate func isPredecessor(of request: LeaseAcquire) -> Bool {
        host == request.host && session == request.previousSession
    }
}

extension LeaseCircumstances {
    /// What is left of the time after a restore in which nothing goes to anybody new.
    fileprivate var restoreWait: Duration? {
        guard let grantsNothingNewBefore, now < grantsNothingNewBefore else { return nil }
        return grantsNothingNewBefore - now
    }
}
