package import MeterModel

/// What the authority, or its silence, says to an acquire.
extension LeaseMachine {
    /// - Parameters:
    ///   - sentAt: when the request that this answers was sent.
    ///   - dice: random bits, here as everywhere.
    package mutating func granted(
        _ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, dice: UInt64
    ) -> Action {
        failures = 0
        elsewhereUntil = nil
        note(lease)
        let permit = LeasePermit(token: lease.token, terms: lease.terms, sentAt: sentAt)
        let holding = Holding(
            permit: permit, channel: .open(keptUntil: nil),
            renewAt: sentAt + LeaseTiming.heartbeat(of: permit.terms, dice))
        switch state {
        case .idle:
            // Nobody waits for it any more.
            return release(holding, wish: nil, at: now)
        case .seeking(let seeking):
            var taken = holding
            // Who has to let go needs a moment for it, so the first attempts at the link may well fail.
            if seeking.wish.isTakeover { taken.channel = .open(keptUntil: now + LeaseTiming.takeoverGrace(lease)) }
            return take(taken, seeking, at: now)
        case .held(var present):
            // A repetition's answer. Only one that was sent later says anything new.
            guard lease.token >= present.permit.token, sentAt > present.permit.sentAt, now < permit.hardStopAt else {
                return .none
            }
            present.permit = permit
            present.renewAt = holding.renewAt
            present.isLost = false
            state = .held(present)
            return present.isOpen ? .permit(permit) : .none
        case .stopping(var stopping):
            if lease.token > stopping.lease?.permit.token ?? FencingToken(rawValue: 0) { stopping.lease = holding }
            state = .stopping(stopping)
            return .none
        case .releasing(let releasing):
            // What is being released stays so, whenever its grant is heard again.
            guard lease.token > releasing.token else { return .none }
            guard let wish = releasing.wish else { return release(holding, wish: nil, at: now) }
            return take(holding, Seeking(wish: wish, request: .waiting(until: now)), at: now)
        }
    }

    private mutating func take(_ holding: Holding, _ seeking: Seeking, at now: MonotonicTime) -> Action {
        if let releasedThrough, holding.permit.token <= releasedThrough, !seeking.isUnleased {
            return release(holding, wish: seeking.wish, at: now)
        }
        guard now < holding.permit.hardStopAt else {
            // The answer took so long that it is worth nothing. The same request gets the same lease, renewed.
            var late = seeking
            late.isRepeat = true
            return ask(late, at: now)
        }
        takeover = nil
        state = .held(holding)
        return .permit(holding.permit)
    }

    /// - Parameters:
    ///   - lease: who has it; nil where nobody does.
    ///   - retryAfter: what the authority said of asking again.
    package mutating func refused(
        _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, retryAfter: Duration?, at now: MonotonicTime,
        dice: UInt64
    ) -> Action {
        failures = 0
        if let lease { note(lease) }
        guard case .seeking(var seeking) = state else { return .none }
        let target = takeoverTarget(reason, lease, asked: seeking.takeover, at: now)
        let wait = (retryAfter ?? .seconds(10)).clamped(to: .zero ... .seconds(3600))
        seeking.refusal = reason
        seeking.isRepeat = false
        seeking.request = .waiting(until: now + Self.pause(after: reason, wait, dice))
        if lease?.holder != host, reason != .released { elsewhereUntil = now + wait }
        if seeking.isUnleased, policy == .strict {
            state = .stopping(Stopping(lease: nil, wish: seeking.wish))
            return .withdraw(.takenOver)
        }
        if target != nil {
            // Still asked for: this was no refusal yet.
            seeking.refusal = nil
            return ask(seeking, at: now)
        }
        let mayQueue = reason == .held || reason == .revoking || reason == .reserved
        let joins = seeking.wish.waitsInLine && !seeking.isQueued && mayQueue
        seeking.isQueued = seeking.isQueued || joins
        state = .seeking(seeking)
        return joins ? .joinQueue : .none
    }

    /// Which grant is to be taken over, now that the cloud has said who has the meter. With this answer the wish is over,
    /// or has its target: a take-over is asked for once. Then the holder knows, and the request stands in the queue; or
    /// somebody else has the meter by now, of whom the person knew nothing.
    private mutating func takeoverTarget(
        _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, asked: FencingToken?, at now: MonotonicTime
    ) -> FencingToken? {
        guard let wish = takeover, now < wish.until, asked == nil, reason == .held || reason == .revoking,
            let target = wish.target ?? lease?.token
        else {
            takeover = nil
            return nil
        }
        takeover?.target = target
        return target
    }

    /// Keeps the greatest token, which the next grant has to exceed.
    mutating func note(_ lease: LeaseView) { greatestToken = max(greatestToken ?? lease.token, lease.token) }

    private static func pause(
        after reason: LeaseAnswer.Refusal.Reason, _ wait: Duration, _ dice: UInt64
    ) -> Duration {
        let legal = LeaseTiming.refusedRetry
        let isSoonFree = reason == .revoking || reason == .reserved || reason == .released
        let longest = isSoonFree ? LeaseTiming.soonFreeRetry : legal.upperBound
        return LeaseTiming.spread(wait.clamped(to: legal.lowerBound...longest), dice)
    }

    /// No answer came: the network, a time-out, a cloud that says try later. Whether it was done, nobody knows.
    package mutating func requestFailed(retryAfter: Duration? = nil, at now: MonotonicTime, dice: UInt64) -> Action {
        guard case .seeking(var seeking) = state, case .inFlight = seeking.request else { return .none }
        failures += 1
        let wait = (retryAfter ?? .zero).clamped(to: .zero ... .seconds(300))
        let pause = max(LeaseTiming.acquireRetry(afterFailures: failures, dice), wait)
        seeking.isRepeat = true
        seeking.request = .waiting(until: now + pause)
        let goesUnleased = !seeking.isUnleased && mayGoUnleased(at: now)
        seeking.isUnleased = seeking.isUnleased || goesUnleased
        // A host that goes on without a lease has what the person wanted, and takes it from nobody later.
        if seeking.isUnleased, isCloudUnreachable { takeover = nil }
        state = .seeking(seeking)
        return goesUnleased ? .permitUnleased : .none
    }

    /// The meter is kept for this host for some seconds: it was the queue's head.
    package mutating func offered(at now: MonotonicTime) -> Action {
        elsewhereUntil = nil
        guard case .seeking(var seeking) = state else { return .none }
        seeking.isQueued = false
        state = .seeking(seeking)
        guard case .waiting = seeking.request else { return .none }
        return ask(seeking, at: now)
    }

    /// There is no place in the queue after all. It is asked for again with the next refusal.
    package mutating func queueLost() {
        guard case .seeking(var seeking) = state else { return }
        seeking.isQueued = false
        state = .seeking(seeking)
    }
}
