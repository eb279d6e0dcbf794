import MeterModel

extension LeaseMachine {
    enum State: Sendable {
        /// Nothing wanted, nothing held. Valid transitions: `seeking`, `releasing` (a grant came late).
        case idle
        /// Asks for a lease until it gets one or nobody wants it. Valid transitions: `held`, `idle`, `stopping`,
        /// `releasing`.
        case seeking(Seeking)
        /// Valid transitions: `stopping`, `releasing`, `seeking` (lost, the link kept), `idle` (lost, no link).
        case held(Holding)
        /// The channel is being closed. Valid transitions: `releasing`, `seeking`, `idle`.
        case stopping(Stopping)
        /// Valid transitions: `idle`, `seeking`, `held` (a later grant).
        case releasing(Releasing)
    }

    enum Request: Sendable {
        /// The request counts as failed at that moment.
        case inFlight(until: MonotonicTime)
        case waiting(until: MonotonicTime)
    }

    struct Seeking: Sendable {
        var intent: LeaseIntent
        var request: Request
        /// The answer to the last request may have been lost, so the next request repeats it.
        var isRepeat = false
        /// When the request to be repeated was first sent.
        var firstSentAt: MonotonicTime?
        /// The token of the grant that the last request was to take over, if any.
        var takeover: FencingToken?
        /// A link is used without a lease.
        var isUnleased = false
        var refusal: LeaseAnswer.Refusal.Reason?
        var isQueued = false
    }

    /// A person wants the meter from its holder.
    struct Takeover: Sendable {
        /// When the intent lapses.
        var until: MonotonicTime
        /// The token of the grant to take over, if known yet.
        var target: FencingToken?

        /// Nil if the intent is not for a take-over.
        init?(_ intent: LeaseIntent, at now: MonotonicTime) {
            guard intent.isTakeover else { return nil }
            until = now + LeaseTiming.takeoverIntent
            target = intent.aimedAt
        }
    }

    struct Holding: Sendable {
        enum Channel: Sendable {
            /// A permit is out. With a time, the link was lost and no reconnect has succeeded yet.
            case open(keptUntil: MonotonicTime?)
            /// The link was lost; the lease is kept until then for a reconnect.
            case closed(keptUntil: MonotonicTime)
        }

        var permit: LeasePermit
        var channel: Channel
        /// When the next heartbeat, or its repetition, is due.
        var renewAt: MonotonicTime
        var isRenewing = false
        /// Under `keep`, the hard stop has passed and been reported.
        var isLost = false

        var isOpen: Bool {
            if case .open = channel { true } else { false }
        }
    }

    struct Stopping: Sendable {
        /// The lease to release. Nil if there is none, or another host already has it.
        var lease: Holding?
        /// The intent for the meter since then, if any.
        var intent: LeaseIntent?
    }

    struct Releasing: Sendable {
        var token: FencingToken
        var request: Request
        /// When the authority gives the meter to others by itself.
        var giveUpAt: MonotonicTime
        var intent: LeaseIntent?
    }
}

// MARK: Transitions

extension LeaseMachine {
    /// Starts from a state without lease and channel.
    mutating func seek(_ intent: LeaseIntent, at now: MonotonicTime) -> Action {
        var seeking = Seeking(intent: intent, request: .waiting(until: now))
        if let pausedUntil, now < pausedUntil, !intent.isAsked {
            seeking.request = .waiting(until: pausedUntil)
            state = .seeking(seeking)
            return .none
        }
        pausedUntil = nil
        if mayGoUnleased(at: now) {
            seeking.isUnleased = true
            takeover = nil
            state = .seeking(seeking)
            return .permitUnleased
        }
        return ask(seeking, at: now)
    }

    /// Sends the next acquire.
    mutating func ask(_ seeking: Seeking, at now: MonotonicTime) -> Action {
        var seeking = seeking
        if let until = takeover?.until, until <= now { takeover = nil }
        let isYoung = seeking.firstSentAt.map { now < $0 + LeaseTiming.repetitionAge } ?? false
        let again = seeking.isRepeat && isYoung && seeking.takeover == takeover?.target
        if !again { seeking.firstSentAt = now }
        seeking.request = .inFlight(until: now + LeaseTiming.answerTimeout)
        seeking.isRepeat = again
        seeking.takeover = takeover?.target
        state = .seeking(seeking)
        return .sendAcquire(again: again, takeover: seeking.takeover)
    }

    /// The meter is wanted again while it is being sought.
    mutating func press(_ intent: LeaseIntent, _ seeking: Seeking, at now: MonotonicTime) -> Action {
        var seeking = seeking
        // A link without a lease needs no second permit, but a person may insist now if the cloud can be asked.
        guard !seeking.isUnleased || (intent.isTakeover && !isCloudUnreachable) else {
            takeover = nil
            return .permitUnleased
        }
        if intent.isAsked { seeking.intent = intent }
        state = .seeking(seeking)
        guard intent.isAsked, case .waiting = seeking.request else { return .none }
        return ask(seeking, at: now)
    }

    /// The meter is wanted while its lease is held.
    mutating func use(_ holding: Holding, _ intent: LeaseIntent, at now: MonotonicTime) -> Action {
        var holding = holding
        switch holding.channel {
        case .open(_) where now < holding.permit.hardStopAt:
            return .permit(holding.permit)
        case .open:
            return .none
        case .closed(let keptUntil) where now < holding.permit.hardStopAt:
            holding.channel = .open(keptUntil: keptUntil)
            state = .held(holding)
            return .permit(holding.permit)
        case .closed:
            // Too late for this lease, which is given back before another is requested.
            return release(holding, intent: intent, at: now)
        }
    }

    /// This host ends the lease: after the channel, if one is open.
    mutating func end(_ holding: Holding, because cause: Withdrawal, at now: MonotonicTime) -> Action {
        guard holding.isOpen else { return release(holding, intent: nil, at: now) }
        state = .stopping(Stopping(lease: holding, intent: nil))
        return .withdraw(cause)
    }

    mutating func release(_ holding: Holding, intent: LeaseIntent?, at now: MonotonicTime) -> Action {
        let releasing = Releasing(
            token: holding.permit.token, request: .waiting(until: holding.renewAt),
            giveUpAt: now + holding.permit.terms.over, intent: intent)
        guard holding.isRenewing else { return send(releasing, at: now) }
        // Renewal and release are serialised (rule 6): the release waits for the renewal's answer, or until that counts
        // as lost.
        state = .releasing(releasing)
        return .none
    }

    mutating func send(_ releasing: Releasing, at now: MonotonicTime) -> Action {
        var releasing = releasing
        releasing.request = .inFlight(until: now + LeaseTiming.answerTimeout)
        releasedThrough = max(releasedThrough ?? releasing.token, releasing.token)
        state = .releasing(releasing)
        return .sendRelease(releasing.token)
    }

    /// Nothing is held or under way any more.
    mutating func settle(_ intent: LeaseIntent?, at now: MonotonicTime) -> Action {
        guard let intent else {
            state = .idle
            return .none
        }
        return seek(intent, at: now)
    }

    func mayGoUnleased(at now: MonotonicTime) -> Bool {
        policy == .keep && isCloudUnreachable && elsewhereUntil.map { now >= $0 } ?? true
    }
}
