/// Each mutating method changes the state and returns the action to perform.
enum LeaseState: Sendable {
    typealias Action = LeaseMachine.Action

    /// Valid transitions: `seeking`, `releasing` (after a late grant).
    case idle
    /// Valid transitions: `held`, `idle`, `stopping`, `releasing`.
    case seeking(Seeking)
    /// Valid transitions: `stopping`, `releasing`, `seeking` (lease lost, link kept), `idle` (lease lost, no link).
    case held(Holding)
    /// The channel is closing. Valid transitions: `releasing`, `seeking`, `idle`.
    case stopping(Stopping)
    /// Valid transitions: `idle`, `seeking`, `held` (after another grant).
    case releasing(Releasing)

    struct Stopping: Sendable {
        /// Nil if this host has no lease to release.
        var lease: Holding?
        /// Intent received since the stop began; nil if nothing requests the meter.
        var intent: LeaseIntent?
    }

    // MARK: Seeking

    mutating func seek(_ intent: LeaseIntent, _ known: inout LeaseKnowledge, at now: MonotonicTime) -> Action {
        if let pausedUntil = known.pausedUntil, now < pausedUntil, !intent.isAsked {
            self = .seeking(Seeking(intent, askAt: pausedUntil))
            return .none
        }
        known.endPause()
        if known.mayGoUnleased(at: now) {
            known.dropTakeover()
            self = .seeking(Seeking(intent, askAt: now, isUnleased: true))
            return .permitUnleased
        }
        return ask(Seeking(intent, askAt: now), &known, at: now)
    }

    mutating func ask(_ seeking: Seeking, _ known: inout LeaseKnowledge, at now: MonotonicTime) -> Action {
        guard !known.mayOnlyLook else { return doWithout(seeking, &known, at: now) }
        var seeking = seeking
        let action = seeking.ask(takeover: known.takeoverTarget(at: now), at: now)
        self = .seeking(seeking)
        return action
    }

    /// Continues without a lease on a read-only host. Under `keep`, the host may use a meter that no other host holds
    /// (rule 4).
    private mutating func doWithout(
        _ seeking: Seeking, _ known: inout LeaseKnowledge, at now: MonotonicTime
    ) -> Action {
        known.dropTakeover()
        if seeking.isUnleased, known.policy == .strict { return stop(nil, intent: seeking.intent, because: .barred) }
        var seeking = seeking
        let isElsewhere = known.isElsewhere(at: now)
        let isNew = !seeking.isUnleased && known.mayGoUnleased(at: now)
        if isNew { seeking.goUnleased() }
        let again = now + LeaseTiming.barredLook
        seeking.doWithout(
            isElsewhere ? .held : nil, until: isElsewhere ? min(known.elsewhereUntil ?? again, again) : again)
        self = .seeking(seeking)
        guard !seeking.isUnleased else { return isNew ? .permitUnleased : .none }
        return isElsewhere ? .refuse : .bar
    }

    mutating func press(
        _ intent: LeaseIntent, _ seeking: Seeking, _ known: inout LeaseKnowledge, at now: MonotonicTime
    ) -> Action {
        // While the meter is used without a lease, only a user's take-over requests one, if the cloud is reachable.
        guard !seeking.isUnleased || (intent.isTakeover && !known.isCloudUnreachable) else {
            known.dropTakeover()
            return .permitUnleased
        }
        var seeking = seeking
        seeking.wanted(intent)
        self = .seeking(seeking)
        return intent.isAsked && !seeking.isInFlight ? ask(seeking, &known, at: now) : .none
    }

    // MARK: Holding

    mutating func hold(
        _ holding: Holding, _ seeking: Seeking, _ known: inout LeaseKnowledge, at now: MonotonicTime
    ) -> Action {
        if known.isGivenBack(holding.permit.token) {
            guard seeking.isUnleased else { return release(holding, intent: seeking.intent, &known, at: now) }
            // Ignore a grant whose release may be in flight: the release would free the meter while the link is open.
            guard holding.permit.token >= known.greatestToken ?? holding.permit.token else { return .none }
        }
        guard now < holding.permit.hardStopAt else {
            var late = seeking
            late.grantedTooLate()
            return ask(late, &known, at: now)
        }
        known.dropTakeover()
        self = .held(holding)
        return .permit(holding.permit)
    }

    mutating func use(
        _ holding: Holding, _ intent: LeaseIntent, _ known: inout LeaseKnowledge, at now: MonotonicTime
    ) -> Action {
        guard now < holding.permit.hardStopAt else {
            // After the hard stop, release this lease before requesting another.
            return holding.isOpen ? .none : release(holding, intent: intent, &known, at: now)
        }
        var holding = holding
        holding.reopen()
        self = .held(holding)
        return .permit(holding.permit)
    }

    // MARK: Losing

    mutating func lose(
        _ holding: Holding, _ loss: LeaseRenewal.Loss, _ known: inout LeaseKnowledge, at now: MonotonicTime,
        random: UInt64
    ) -> Action {
        var holding = holding
        holding.renewalEnded()
        switch loss {
        case .revoking:
            known.pause(for: holding.permit.token, at: now)
            return end(holding, because: .revoked, &known, at: now)
        case .takenOver where !holding.isKept(under: known.policy) || now < holding.permit.hardStopAt:
            // A user may have taken the meter over, so do not request it immediately.
            known.pause(for: holding.permit.token, at: now)
            return abandon(holding, because: .takenOver)
        case .takenOver:
            // Keep the link: the lease expired here before another host acquired it. Both may have a link now; a user
            // has to decide (rule 4).
            return keepUnleased(holding, refusal: .held, askAt: now + LeaseTiming.within(.seconds(30), random))
        case .released, .unknown:
            guard holding.isKept(under: known.policy) else { return abandon(holding, because: .unknown) }
            return keepUnleased(holding, refusal: nil, askAt: now)
        }
    }

    private mutating func keepUnleased(
        _ holding: Holding, refusal: LeaseAnswer.Refusal.Reason?, askAt time: MonotonicTime
    ) -> Action {
        guard holding.isOpen else {
            self = .idle
            return .none
        }
        self = .seeking(Seeking(.resume, askAt: time, isUnleased: true, refusal: refusal))
        return .permitUnleased
    }

    private mutating func abandon(_ holding: Holding, because cause: LeaseMachine.Withdrawal) -> Action {
        guard holding.isOpen else {
            self = .idle
            return .none
        }
        return stop(nil, because: cause)
    }

    // MARK: Ending

    mutating func end(
        _ holding: Holding, because cause: LeaseMachine.Withdrawal, _ known: inout LeaseKnowledge,
        at now: MonotonicTime
    ) -> Action {
        guard holding.isOpen else { return release(holding, intent: nil, &known, at: now) }
        return stop(holding, because: cause)
    }

    mutating func stop(
        _ lease: Holding?, intent: LeaseIntent? = nil, because cause: LeaseMachine.Withdrawal
    ) -> Action {
        self = .stopping(Stopping(lease: lease, intent: intent))
        return .withdraw(cause)
    }

    mutating func remember(_ intent: LeaseIntent?) {
        switch self {
        case .stopping(var stopping):
            stopping.intent = intent
            self = .stopping(stopping)
        case .releasing(var releasing):
            releasing.intent = intent
            self = .releasing(releasing)
        case .idle, .seeking, .held: break
        }
    }

    mutating func release(
        _ holding: Holding, intent: LeaseIntent?, _ known: inout LeaseKnowledge, at now: MonotonicTime
    ) -> Action {
        let releasing = Releasing(holding, intent: intent, at: now)
        guard holding.isRenewing else { return send(releasing, &known, at: now) }
        // Rule 6: the release waits for the renewal's answer or timeout.
        self = .releasing(releasing)
        return .none
    }

    mutating func send(_ releasing: Releasing, _ known: inout LeaseKnowledge, at now: MonotonicTime) -> Action {
        var releasing = releasing
        releasing.sent(at: now)
        known.gaveBack(releasing.token)
        self = .releasing(releasing)
        return .sendRelease(releasing.token)
    }

    mutating func settle(_ intent: LeaseIntent?, _ known: inout LeaseKnowledge, at now: MonotonicTime) -> Action {
        guard let intent else {
            self = .idle
            return .none
        }
        return seek(intent, &known, at: now)
    }
}
