package import MeterModel

/// Heartbeats, releases, and events about the lease.
extension LeaseMachine {
    /// A request with this host's heartbeats is about to be sent.
    ///
    /// - Returns: the token to include, or nil if this lease does not need a renewal yet or its last one is still under
    ///   way.
    package mutating func joinRenewal(at now: MonotonicTime, random: UInt64) -> FencingToken? {
        guard case .held(var holding) = state else { return nil }
        let isFresh = now - holding.permit.sentAt < holding.permit.terms.timeToLive / 4
        guard now >= holding.renewAt || (!holding.isRenewing && !isFresh) else { return nil }
        let retry = holding.isLost ? LeaseTiming.lostRetry : LeaseTiming.renewalRetry
        // Spread between four and six fifths, so that the lost requests of a burst are not all repeated at once.
        holding.renewAt = now + LeaseTiming.spread(retry, random)
        holding.isRenewing = true
        state = .held(holding)
        return holding.permit.token
    }

    /// - Parameter sentAt: when the answered request was sent.
    package mutating func renewed(
        _ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, random: UInt64
    ) -> Action {
        failures = 0
        switch state {
        case .held(var holding) where holding.permit.token == lease.token:
            holding.isRenewing = false
            let permit = LeasePermit(token: lease.token, terms: lease.terms, sentAt: sentAt)
            let isNews = sentAt > holding.permit.sentAt && now < permit.hardStopAt
            if isNews {
                holding.permit = permit
                holding.renewAt = sentAt + LeaseTiming.heartbeat(of: permit.terms, random)
                holding.isLost = false
            }
            state = .held(holding)
            return isNews && holding.isOpen ? .permit(permit) : .none
        default:
            return renewalEnded(at: now)
        }
    }

    /// The lease is no longer this host's, or has to be given back.
    ///
    /// - Parameters:
    ///   - token: the one to be renewed.
    ///   - lease: the present lease, if any.
    package mutating func renewalLost(
        _ loss: LeaseRenewal.Loss, of token: FencingToken, _ lease: LeaseView?, at now: MonotonicTime, random: UInt64
    ) -> Action {
        failures = 0
        noteHolder(lease, at: now)
        guard case .held(let holding) = state, holding.permit.token == token else { return renewalEnded(at: now) }
        return lose(holding, loss, at: now, random: random)
    }

    /// No answer came. `woke` repeats the request in time.
    package mutating func renewalFailed(at now: MonotonicTime) -> Action {
        if case .held(var holding) = state {
            failures += 1
            holding.isRenewing = false
            state = .held(holding)
        }
        return renewalEnded(at: now)
    }

    private mutating func renewalEnded(at now: MonotonicTime) -> Action {
        switch state {
        case .stopping(var stopping):
            stopping.lease?.isRenewing = false
            state = .stopping(stopping)
            return .none
        case .releasing(let releasing):
            guard releasedThrough ?? FencingToken(rawValue: 0) < releasing.token else { return .none }
            return send(releasing, at: now)
        case .idle, .seeking, .held:
            return .none
        }
    }

    private mutating func lose(
        _ holding: Holding, _ loss: LeaseRenewal.Loss, at now: MonotonicTime, random: UInt64
    ) -> Action {
        var holding = holding
        holding.isRenewing = false
        switch loss {
        case .revoking:
            pause(for: holding, at: now)
            return end(holding, because: .revoked, at: now)
        case .takenOver
        where policy == .strict || holding.permit.terms.policy == .strict || now < holding.permit.hardStopAt:
            // Early enough to be a person's intent, so this host does not ask for the meter again at once.
            pause(for: holding, at: now)
            return abandon(holding, because: .takenOver)
        case .takenOver:
            // The lease ran out here before another host got one: there may be two links, and a person has to choose
            // (rule 4).
            return keepUnleased(
                holding, refusal: .held, .waiting(until: now + LeaseTiming.within(.seconds(30), random)), at: now)
        case .released, .unknown:
            guard policy == .keep, holding.permit.terms.policy == .keep else {
                return abandon(holding, because: .unknown)
            }
            return keepUnleased(holding, refusal: nil, .waiting(until: now), at: now)
        }
    }

    private mutating func pause(for holding: Holding, at now: MonotonicTime) {
        pausedUntil = now + LeaseTiming.pauseAfterRevocation
        pausedFor = holding.permit.token
    }

    /// Ends without a release, as the lease is gone.
    private mutating func abandon(_ holding: Holding, because cause: Withdrawal) -> Action {
        guard holding.isOpen else {
            state = .idle
            return .none
        }
        state = .stopping(Stopping(lease: nil, intent: nil))
        return .withdraw(cause)
    }

    /// The lease is gone; a working link stays.
    private mutating func keepUnleased(
        _ holding: Holding, refusal: LeaseAnswer.Refusal.Reason?, _ request: Request, at now: MonotonicTime
    ) -> Action {
        guard holding.isOpen else {
            state = .idle
            return .none
        }
        state = .seeking(Seeking(intent: .resume, request: request, isUnleased: true, refusal: refusal))
        return .permitUnleased
    }

    // MARK: Releases

    package mutating func released(_ token: FencingToken, at now: MonotonicTime) -> Action {
        guard case .releasing(let releasing) = state, releasing.token == token else { return .none }
        failures = 0
        return settle(releasing.intent, at: now)
    }

    package mutating func releaseFailed(_ token: FencingToken, at now: MonotonicTime, random: UInt64) -> Action {
        guard case .releasing(var releasing) = state, releasing.token == token, case .inFlight = releasing.request
        else { return .none }
        failures += 1
        guard releasing.intent == nil, now < releasing.giveUpAt else { return settle(releasing.intent, at: now) }
        releasing.request = .waiting(until: now + LeaseTiming.spread(LeaseTiming.renewalRetry, random))
        state = .releasing(releasing)
        return .none
    }

    // MARK: Events of the zone

    /// The cloud reported a change of this meter's lease.
    package mutating func leaseSeen(_ lease: LeaseView, at now: MonotonicTime, random: UInt64) -> Action {
        noteHolder(lease, at: now)
        // The host that took the meter over gave it back, as it does if it cannot hear the meter.
        if lease.state == .free, let pausedFor, lease.token > pausedFor { pausedUntil = nil }
        switch state {
        case .held(let holding) where lease.token == holding.permit.token && lease.state == .revoking:
            return lose(holding, .revoking, at: now, random: random)
        case .held(let holding) where lease.token > holding.permit.token && lease.holder != host:
            return lose(holding, .takenOver, at: now, random: random)
        case .seeking(var seeking) where lease.state == .free:
            guard case .waiting(let until) = seeking.request else { return .none }
            // A pause lets others go first: a release by this very host does not end it.
            let soon = max(now + LeaseTiming.within(.milliseconds(500), random), pausedUntil ?? now)
            seeking.request = .waiting(until: min(until, soon))
            state = .seeking(seeking)
            return .none
        case .idle, .seeking, .held, .stopping, .releasing:
            return .none
        }
    }

    /// The cloud can be reached again: requests waiting for it are sent soon. Places in queues were lost with the
    /// connection.
    package mutating func cloudReached(at now: MonotonicTime, random: UInt64) {
        let soon = now + LeaseTiming.within(.seconds(1), random)
        switch state {
        case .seeking(var seeking):
            if case .waiting(let until) = seeking.request, seeking.isRepeat || seeking.isQueued {
                seeking.request = .waiting(until: min(until, soon))
            }
            seeking.isQueued = false
            state = .seeking(seeking)
        case .held(var holding) where isCloudUnreachable || holding.isLost:
            holding.renewAt = min(holding.renewAt, soon)
            state = .held(holding)
        case .idle, .held, .stopping, .releasing:
            break
        }
    }

    private mutating func noteHolder(_ lease: LeaseView?, at now: MonotonicTime) {
        guard let lease else { return }
        note(lease)
        switch lease.state {
        case .free: elsewhereUntil = nil
        case .held, .revoking, .expired:
            elsewhereUntil = lease.holder == host ? nil : now + lease.remaining + lease.terms.lockDelay
        }
    }
}
