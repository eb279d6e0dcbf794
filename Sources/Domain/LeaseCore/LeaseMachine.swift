/// Decides whether this host may communicate with one meter, and which requests to send to the authority (the cloud).
///
/// ```
///            wanted                    granted                  withdrawn, given up
///  ┌──────┐─────────▶┌─────────┐──────────────────▶┌──────┐─────────────────────────▶┌──────────┐
///  │ idle │          │ seeking │                   │ held │                          │ stopping │
///  └──────┘◀─────────└─────────┘◀──────────────────└──────┘                          └──────────┘
///     ▲     unwanted              lost under `keep`    │ let go, grace over               │ channelClosed
///     │                                                ▼                                  │
///     │                 released                 ┌───────────┐                            │
///     └──────────────────────────────────────────│ releasing │◀───────────────────────────┘
///                                                └───────────┘
/// ```
///
/// The machine performs no I/O and reads no clock or random numbers. Each method handles an event and returns the one
/// action to perform. Afterwards call `woke` at `nextWake`, which may be in the past.
///
/// Durations count from *sending* the last successful request (Docs/Leases.md#rule-2). Under `strict`, every permit
/// ends at its hard stop. Under `keep`, a working link outlives its lease, and `meterctl status` shows this. The host
/// sends a release only while no channel is open, and never renews a released lease (rule 6).
///
/// `LeaseState` contains the steps; `LeaseKnowledge` contains the other facts.
package struct LeaseMachine: Sendable {
    private let host: HostID
    private var state = LeaseState.idle
    private var known: LeaseKnowledge

    /// - Parameters:
    ///   - policy: the stricter of the host's policy and the zone's last known one.
    ///   - greatestToken: recorded before `meterd` started; nil if none.
    package init(
        host: HostID, policy: LeasePolicy, role: HostRole = .full, greatestToken: FencingToken? = nil
    ) {
        self.host = host
        known = LeaseKnowledge(host: host, policy: policy, role: role, greatestToken: greatestToken)
    }

    // MARK: Queries

    package func phase(at now: MonotonicTime) -> Phase {
        switch state {
        case .idle: .none
        case .seeking(let seeking) where seeking.isUnleased: .unleased(seeking.refusal)
        case .seeking(let seeking):
            seeking.refusal.map { .waiting($0) } ?? (known.mayOnlyLook ? .barred : .requesting)
        case .held(let holding): holding.phase(at: now)
        case .stopping: .stopping
        case .releasing: .releasing
        }
    }

    package var permit: LeasePermit? { if case .held(let holding) = state { holding.permit } else { nil } }
    package var greatestToken: FencingToken? { known.greatestToken }
    package var isCloudUnreachable: Bool { known.isCloudUnreachable }

    // MARK: Wishes

    /// Requests the use of a meter in reach. A later event may return the permit.
    package mutating func wanted(_ intent: LeaseIntent, at now: MonotonicTime) -> Action {
        if intent.isAsked || intent.isTakeover { known.wanted(intent, at: now) }
        switch state {
        case .idle: return state.seek(intent, &known, at: now)
        case .seeking(let seeking): return state.press(intent, seeking, &known, at: now)
        case .held(let holding): return state.use(holding, intent, &known, at: now)
        case .stopping, .releasing:
            state.remember(intent)
            return .none
        }
    }

    /// Handles a link opened before this host joined a cloud. `keep` leaves it open while the host requests a lease;
    /// `strict` closes it. Acts as `wanted` unless the machine is idle.
    package mutating func foundOpen(_ intent: LeaseIntent, at now: MonotonicTime) -> Action {
        guard case .idle = state else { return wanted(intent, at: now) }
        known.wanted(intent, at: now)
        guard known.policy == .keep else { return state.stop(nil, because: .unknown) }
        state = .seeking(Seeking(intent, askAt: now, isUnleased: true))
        return .permitUnleased
    }

    /// Ends the use of the meter: a user disconnects, the meter is gone or the host shuts down. Idempotent.
    package mutating func unwanted(at now: MonotonicTime) -> Action {
        known.dropTakeover()
        switch state {
        case .idle: return .none
        case .seeking(let seeking) where seeking.isUnleased: return state.stop(nil, because: .unwanted)
        case .seeking(let seeking):
            state = .idle
            return seeking.isQueued ? .leaveQueue : .none
        case .held(let holding): return state.end(holding, because: .unwanted, &known, at: now)
        case .stopping, .releasing:
            state.remember(nil)
            return .none
        }
    }

    package mutating func policyChanged(_ policy: LeasePolicy) { known.policyChanged(policy) }

    package mutating func roleIs(_ role: HostRole, at now: MonotonicTime) -> Action {
        guard known.roleIs(role), case .seeking(let seeking) = state else { return .none }
        return state.ask(seeking, &known, at: now)
    }

    // MARK: Events of the channel

    package mutating func linkUp() {
        guard case .held(var holding) = state else { return }
        holding.linkUp()
        state = .held(holding)
    }

    package mutating func channelClosed(_ end: ChannelEnd, at now: MonotonicTime) -> Action {
        switch state {
        case .seeking(let seeking) where seeking.isUnleased:
            state = .idle
            return .none
        case .held(var holding):
            guard holding.closed(end, at: now) else { return state.release(holding, intent: nil, &known, at: now) }
            state = .held(holding)
            return .none
        case .stopping(let stopping):
            guard let lease = stopping.lease else { return state.settle(stopping.intent, &known, at: now) }
            return state.release(lease, intent: stopping.intent, &known, at: now)
        case .idle, .seeking, .releasing: return .none
        }
    }

    // MARK: Answers to an acquire

    package mutating func granted(
        _ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, random: UInt64
    ) -> Action {
        known.answered()
        known.isHere()
        known.heard(lease)
        var holding = Holding(lease, sentAt: sentAt, random: random)
        switch state {
        case .idle:
            return state.release(holding, intent: nil, &known, at: now)
        case .seeking(let seeking):
            // The former holder may still be closing its link.
            if seeking.intent.isTakeover { holding.allowFailures(until: now + LeaseTiming.takeoverGrace(lease)) }
            return state.hold(holding, seeking, &known, at: now)
        case .held(var present):
            // Ignore a grant of an older request than that of the present permit.
            guard lease.token >= present.permit.token,
                present.renew(lease, sentAt: sentAt, at: now, random: random)
            else { return .none }
            state = .held(present)
            return present.isOpen ? .permit(present.permit) : .none
        case .stopping(var stopping):
            if lease.token > stopping.lease?.permit.token ?? FencingToken(rawValue: 0) { stopping.lease = holding }
            state = .stopping(stopping)
            return .none
        case .releasing(let releasing):
            guard lease.token > releasing.token else { return .none }
            guard let intent = releasing.intent else { return state.release(holding, intent: nil, &known, at: now) }
            return state.hold(holding, Seeking(intent, askAt: now), &known, at: now)
        }
    }

    package mutating func refused(
        _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, retryAfter: Duration?, at now: MonotonicTime,
        random: UInt64
    ) -> Action {
        known.answered()
        if let lease { known.heard(lease) }
        guard case .seeking(var seeking) = state else { return .none }
        let wait = (retryAfter ?? .seconds(10)).clamped(to: .zero ... .seconds(3600))
        let goesOn = known.goesOnAsTakeover(after: reason, lease, asked: seeking.takeover, at: now)
        known.refused(reason, lease, until: now + wait)
        seeking.refused(reason, wait, isFinal: !goesOn, at: now, random: random)
        if seeking.isUnleased, known.policy == .strict {
            return state.stop(nil, intent: seeking.intent, because: .takenOver)
        }
        if goesOn { return state.ask(seeking, &known, at: now) }
        let joins = seeking.joinsQueue(after: reason)
        state = .seeking(seeking)
        return joins ? .joinQueue : .none
    }

    /// Handles a network failure, a timeout or "try later". The request may nevertheless have taken effect.
    package mutating func requestFailed(retryAfter: Duration? = nil, at now: MonotonicTime, random: UInt64) -> Action {
        guard case .seeking(var seeking) = state, seeking.isInFlight else { return .none }
        known.unanswered()
        let wait = (retryAfter ?? .zero).clamped(to: .zero ... .seconds(300))
        seeking.unanswered(known.failures, retryAfter: wait, at: now, random: random)
        let goesUnleased = !seeking.isUnleased && known.mayGoUnleased(at: now)
        if goesUnleased { seeking.goUnleased() }
        // The user now uses the meter without a lease, so a late take-over would only disturb the holder.
        if seeking.isUnleased, known.isCloudUnreachable { known.dropTakeover() }
        state = .seeking(seeking)
        return goesUnleased ? .permitUnleased : .none
    }

    /// Handles the cloud's offer to the first host in the queue. The meter is reserved for some seconds only.
    package mutating func offered(at now: MonotonicTime) -> Action {
        known.isHere()
        queueLost()
        guard case .seeking(let seeking) = state, !seeking.isInFlight else { return .none }
        return state.ask(seeking, &known, at: now)
    }

    /// Handles the loss of this host's place in the queue. The host joins again after the next refusal.
    package mutating func queueLost() {
        guard case .seeking(var seeking) = state else { return }
        seeking.leftQueue()
        state = .seeking(seeking)
    }

    // MARK: Heartbeats

    /// - Returns: the token for the heartbeat; nil if no lease is held, or if it was recently renewed or its renewal is
    ///   in flight.
    package mutating func joinRenewal(at now: MonotonicTime, random: UInt64) -> FencingToken? {
        guard case .held(var holding) = state, let token = holding.joinRenewal(at: now, random: random) else {
            return nil
        }
        state = .held(holding)
        return token
    }

    package mutating func renewed(
        _ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, random: UInt64
    ) -> Action {
        known.answered()
        guard case .held(var holding) = state, holding.permit.token == lease.token else { return renewalEnded(at: now) }
        holding.renewalEnded()
        let isNews = holding.renew(lease, sentAt: sentAt, at: now, random: random)
        state = .held(holding)
        return isNews && holding.isOpen ? .permit(holding.permit) : .none
    }

    /// Handles a lost lease, or the cloud's order to release it.
    package mutating func renewalLost(
        _ loss: LeaseRenewal.Loss, of token: FencingToken, _ lease: LeaseView?, at now: MonotonicTime, random: UInt64
    ) -> Action {
        known.answered()
        if let lease { known.seen(lease, at: now) }
        guard case .held(let holding) = state, holding.permit.token == token else { return renewalEnded(at: now) }
        return state.lose(holding, loss, &known, at: now, random: random)
    }

    /// Handles an unanswered heartbeat. A later `woke` retries it.
    package mutating func renewalFailed(at now: MonotonicTime) -> Action {
        guard case .held(var holding) = state else { return renewalEnded(at: now) }
        known.unanswered()
        holding.renewalEnded()
        state = .held(holding)
        return .none
    }

    /// Handles the end of a heartbeat whose lease is no longer held.
    private mutating func renewalEnded(at now: MonotonicTime) -> Action {
        switch state {
        case .stopping(var stopping):
            stopping.lease?.renewalEnded()
            state = .stopping(stopping)
            return .none
        case .releasing(let releasing):
            return known.isGivenBack(releasing.token) ? .none : state.send(releasing, &known, at: now)
        case .idle, .seeking, .held: return .none
        }
    }

    // MARK: Answers to a release

    package mutating func released(_ token: FencingToken, at now: MonotonicTime) -> Action {
        guard case .releasing(let releasing) = state, releasing.token == token else { return .none }
        known.answered()
        return state.settle(releasing.intent, &known, at: now)
    }

    package mutating func releaseFailed(_ token: FencingToken, at now: MonotonicTime, random: UInt64) -> Action {
        guard case .releasing(var releasing) = state, releasing.token == token, releasing.isInFlight else {
            return .none
        }
        known.unanswered()
        known.gaveBackUnanswered(token)
        guard releasing.failed(at: now, random: random) else {
            return state.settle(releasing.intent, &known, at: now)
        }
        state = .releasing(releasing)
        return .none
    }

    // MARK: Events of the zone

    package mutating func leaseSeen(_ lease: LeaseView, at now: MonotonicTime, random: UInt64) -> Action {
        known.seen(lease, at: now)
        known.endPause(ifGivenBack: lease)
        switch state {
        case .held(let holding) where lease.token == holding.permit.token && lease.state == .revoking:
            return state.lose(holding, .revoking, &known, at: now, random: random)
        case .held(let holding) where lease.token > holding.permit.token && lease.holder != host:
            return state.lose(holding, .takenOver, &known, at: now, random: random)
        case .seeking(let seeking) where known.mayOnlyLook && seeking.isUnleased:
            return state.ask(seeking, &known, at: now)
        case .seeking(var seeking) where lease.state == .free:
            // The pause lets other hosts go first, so do not request the lease before it ends.
            seeking.hasten(to: max(now + LeaseTiming.within(.milliseconds(500), random), known.pausedUntil ?? now))
            state = .seeking(seeking)
            return .none
        case .idle, .seeking, .held, .stopping, .releasing: return .none
        }
    }

    /// Sends scheduled requests within a second. Clears the place in the queue, which the outage has ended.
    package mutating func cloudReached(at now: MonotonicTime, random: UInt64) {
        let soon = now + LeaseTiming.within(.seconds(1), random)
        switch state {
        case .seeking(var seeking):
            seeking.cloudReached(soon)
            state = .seeking(seeking)
        case .held(var holding) where known.isCloudUnreachable || holding.isLost:
            holding.hastenRenewal(to: soon)
            state = .held(holding)
        case .idle, .held, .stopping, .releasing: break
        }
    }

    // MARK: Time

    /// Handles due requests and timeouts. May be called at any time. Call again while `nextWake` is not after `now`.
    package mutating func woke(at now: MonotonicTime, random: UInt64) -> Action {
        switch state {
        case .idle, .stopping: return .none
        case .seeking(let seeking):
            switch seeking.due(at: now) {
            case .sending: return state.ask(seeking, &known, at: now)
            case .failure: return requestFailed(at: now, random: random)
            case nil: return .none
            }
        case .held(var holding):
            let due = holding.woke(at: now, under: known.policy)
            switch due {
            case .hardStop: return state.end(holding, because: .hardStop, &known, at: now)
            case .graceOver: return state.release(holding, intent: nil, &known, at: now)
            case .renewal, nil: state = .held(holding)
            }
            return due == .renewal ? .sendRenewal : .none
        case .releasing(let releasing):
            switch releasing.due(at: now) {
            case .sending: return state.send(releasing, &known, at: now)
            case .failure: return releaseFailed(releasing.token, at: now, random: random)
            case nil: return .none
            }
        }
    }

    /// Nil if only an event can change the state.
    package var nextWake: MonotonicTime? {
        switch state {
        case .idle, .stopping: nil
        case .seeking(let seeking): seeking.nextWake
        case .held(let holding): holding.nextWake
        case .releasing(let releasing): releasing.nextWake
        }
    }
}
