package import MeterModel

/// The authority's answer to an acquire, or its silence.
extension LeaseMachine {
    /// - Parameters:
    ///   - sentAt: when the answered request was sent.
    ///   - random: random bits for jitter.
    package mutating func granted(
        _ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, random: UInt64
    ) -> Action {
        failures = 0
        elsewhereUntil = nil
        note(lease)
        let permit = LeasePermit(token: lease.token, terms: lease.terms, sentAt: sentAt)
        let holding = Holding(
            permit: permit, channel: .open(keptUntil: nil),
            renewAt: sentAt + LeaseTiming.heartbeat(of: permit.terms, random))
        switch state {
        case .idle:
            // Nobody waits for the lease any more.
            return release(holding, intent: nil, at: now)
        case .seeking(let seeking):
            var taken = holding
            // The former holder needs a moment to let go, so the first attempts at the link may well fail.
            if seeking.intent.isTakeover { taken.channel = .open(keptUntil: now + LeaseTiming.takeoverGrace(lease)) }
            return take(taken, seeking, at: now)
        case .held(var present):
            // The answer to a repeated request, which is news only if that was sent later.
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
            // A grant of what is being released is ignored, whenever it arrives.
            guard lease.token > releasing.token else { return .none }
            guard let intent = releasing.intent else { return release(holding, intent: nil, at: now) }
            return take(holding, Seeking(intent: intent, request: .waiting(until: now)), at: now)
        }
    }

    private mutating func take(_ holding: Holding, _ seeking: Seeking, at now: MonotonicTime) -> Action {
        if let releasedThrough, holding.permit.token <= releasedThrough, !seeking.isUnleased {
            return release(holding, intent: seeking.intent, at: now)
        }
        guard now < holding.permit.hardStopAt else {
            // The answer took so long that the lease is of no use. The same request gets the same lease, renewed.
            var late = seeking
            late.isRepeat = true
            return ask(late, at: now)
        }
        takeover = nil
        state = .held(holding)
        return .permit(holding.permit)
    }

    /// - Parameters:
    ///   - lease: the present lease, if anybody has the meter.
    ///   - retryAfter: when the authority suggests asking again.
    package mutating func refused(
        _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, retryAfter: Duration?, at now: MonotonicTime,
        random: UInt64
    ) -> Action {
        failures = 0
        if let lease { note(lease) }
        guard case .seeking(var seeking) = state else { return .none }
        let target = takeoverTarget(reason, lease, asked: seeking.takeover, at: now)
        let wait = (retryAfter ?? .seconds(10)).clamped(to: .zero ... .seconds(3600))
        seeking.refusal = reason
        seeking.isRepeat = false
        seeking.request = .waiting(until: now + Self.pause(after: reason, wait, random))
        if lease?.holder != host, reason != .released { elsewhereUntil = now + wait }
        if seeking.isUnleased, policy == .strict {
            state = .stopping(Stopping(lease: nil, intent: seeking.intent))
            return .withdraw(.takenOver)
        }
        if target != nil {
            // The request goes on, so this was not a refusal yet.
            seeking.refusal = nil
            return ask(seeking, at: now)
        }
        let mayQueue = reason == .held || reason == .revoking || reason == .reserved
        let joins = seeking.intent.waitsInLine && !seeking.isQueued && mayQueue
        seeking.isQueued = seeking.isQueued || joins
        state = .seeking(seeking)
        return joins ? .joinQueue : .none
    }

    /// The grant to take over, now that the cloud has said who has the meter. This answer ends the intent or gives it a
    /// target, because a take-over is requested once. Afterwards the holder knows, and the request stands in the queue;
    /// or another host has the meter by now, which the person did not mean.
    private mutating func takeoverTarget(
        _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, asked: FencingToken?, at now: MonotonicTime
    ) -> FencingToken? {
        guard let intent = takeover, now < intent.until, asked == nil, reason == .held || reason == .revoking,
            let target = intent.target ?? lease?.token
        else {
            takeover = nil
            return nil
        }
        takeover?.target = target
        return target
    }

    /// Keeps the greatest token. The next grant's has to exceed it.
    mutating func note(_ lease: LeaseView) { greatestToken = max(greatestToken ?? lease.token, lease.token) }

    private static func pause(
        after reason: LeaseAnswer.Refusal.Reason, _ wait: Duration, _ random: UInt64
    ) -> Duration {
        let legal = LeaseTiming.refusedRetry
        let isSoonFree = reason == .revoking || reason == .reserved || reason == .released
        let longest = isSoonFree ? LeaseTiming.soonFreeRetry : legal.upperBound
        return LeaseTiming.spread(wait.clamped(to: legal.lowerBound...longest), random)
    }

    /// No answer came: the network failed, the request timed out, or the cloud said to try later. Whether the request
    /// took effect is unknown.
    package mutating func requestFailed(retryAfter: Duration? = nil, at now: MonotonicTime, random: UInt64) -> Action {
        guard case .seeking(var seeking) = state, case .inFlight = seeking.request else { return .none }
        failures += 1
        let wait = (retryAfter ?? .zero).clamped(to: .zero ... .seconds(300))
        let pause = max(LeaseTiming.acquireRetry(afterFailures: failures, random), wait)
        seeking.isRepeat = true
        seeking.request = .waiting(until: now + pause)
        let goesUnleased = !seeking.isUnleased && mayGoUnleased(at: now)
        seeking.isUnleased = seeking.isUnleased || goesUnleased
        // A host that goes on without a lease has given the person what they wanted, so it takes the meter over from
        // nobody later.
        if seeking.isUnleased, isCloudUnreachable { takeover = nil }
        state = .seeking(seeking)
        return goesUnleased ? .permitUnleased : .none
    }

    /// The meter is reserved for this host for some seconds: this host was the head of the queue.
    package mutating func offered(at now: MonotonicTime) -> Action {
        elsewhereUntil = nil
        guard case .seeking(var seeking) = state else { return .none }
        seeking.isQueued = false
        state = .seeking(seeking)
        guard case .waiting = seeking.request else { return .none }
        return ask(seeking, at: now)
    }

    /// This host lost its place in the queue. It asks for another with the next refusal.
    package mutating func queueLost() {
        guard case .seeking(var seeking) = state else { return }
        seeking.isQueued = false
        state = .seeking(seeking)
    }
}
