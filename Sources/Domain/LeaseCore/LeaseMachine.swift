/// Decides whether this host may talk to one meter, and what to tell the authority about it.
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
/// The machine performs no I/O and reads neither clock nor random numbers. Every method names something that happened
/// and returns the one thing to do; afterwards `nextWake` says when to call `woke`, which may be at once. All methods
/// return the same kind of action, because nearly every event may lead to nearly every action and the driver performs
/// them all in the same way.
///
/// All times are counted from when the last good request was *sent* (Docs/Leases.md#rule-2), by the terms that came
/// with the grant. Under `strict` no permit outlives its hard stop; under `keep` a working link outlives its lease, and
/// is shown as such. A release is sent only while no channel is open, and nothing heard later revives a released lease
/// (rule 6).
///
/// It decides which step each event leads to. The steps are in `LeaseState`; what is known beside the state, such as
/// whether the cloud answers, is in `LeaseKnowledge`.
package struct LeaseMachine: Sendable {
    private let host: HostID
    private var state = LeaseState.idle
    private var known: LeaseKnowledge

    /// - Parameters:
    ///   - policy: the stricter of the host's own and the zone's last known one.
    ///   - role: what the cloud lets this host do, as far as known.
    ///   - greatestToken: the greatest that an earlier run knew.
    package init(
        host: HostID, policy: LeasePolicy, role: HostRole = .full, greatestToken: FencingToken? = nil
    ) {
        self.host = host
        known = LeaseKnowledge(host: host, policy: policy, role: role, greatestToken: greatestToken)
    }

    // MARK: State for others

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

    /// The permit of a held lease, including one lost under `keep`.
    package var permit: LeasePermit? { if case .held(let holding) = state { holding.permit } else { nil } }
    /// The greatest token of this meter heard of so far, or one more if its release got no answer: the next grant's has
    /// to exceed it.
    package var greatestToken: FencingToken? { known.greatestToken }
    /// Whether the cloud left the last few requests unanswered.
    package var isCloudUnreachable: Bool { known.isCloudUnreachable }

    // MARK: The host's wishes

    /// The meter is present and a link is to be attempted. Answered by a permit, now or later.
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

    /// A link is already up without a permit, because the host has only now joined a cloud. Under `keep` it stays while
    /// a lease is requested. If a permit is out, as `wanted`.
    package mutating func foundOpen(_ intent: LeaseIntent, at now: MonotonicTime) -> Action {
        guard case .idle = state else { return wanted(intent, at: now) }
        known.wanted(intent, at: now)
        guard known.policy == .keep else { return state.stop(nil, because: .unknown) }
        state = .seeking(Seeking(intent, askAt: now, isUnleased: true))
        return .permitUnleased
    }

    /// A person lets go, the meter is gone, or the host shuts down. Harmless if repeated.
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

    /// The policy of the zone or the host has changed.
    package mutating func policyChanged(_ policy: LeasePolicy) { known.policyChanged(policy) }

    /// What the cloud lets this host do. A host that may only look asks for no lease.
    package mutating func roleIs(_ role: HostRole, at now: MonotonicTime) -> Action {
        guard known.roleIs(role), case .seeking(let seeking) = state else { return .none }
        return state.ask(seeking, &known, at: now)
    }

    // MARK: Events of the channel

    /// The link is up, which ends any grace after an earlier loss.
    package mutating func linkUp() {
        guard case .held(var holding) = state else { return }
        holding.linkUp()
        state = .held(holding)
    }

    /// The channel used under a permit is closed.
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

    /// - Parameters:
    ///   - sentAt: when the answered request was sent.
    ///   - random: random bits for jitter.
    package mutating func granted(
        _ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, random: UInt64
    ) -> Action {
        known.answered()
        known.isHere()
        known.heard(lease)
        var holding = Holding(lease, sentAt: sentAt, random: random)
        switch state {
        case .idle:
            // Nobody waits for the lease any more.
            return state.release(holding, intent: nil, &known, at: now)
        case .seeking(let seeking):
            // The former holder needs a moment to let go, so the first attempts at the link may well fail.
            if seeking.intent.isTakeover { holding.allowFailures(until: now + LeaseTiming.takeoverGrace(lease)) }
            return state.hold(holding, seeking, &known, at: now)
        case .held(var present):
            // The answer to a repeated request, which is news only if that was sent later.
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
            // A grant of what is being released is ignored, whenever it arrives.
            guard lease.token > releasing.token else { return .none }
            guard let intent = releasing.intent else { return state.release(holding, intent: nil, &known, at: now) }
            return state.hold(holding, Seeking(intent, askAt: now), &known, at: now)
        }
    }

    /// - Parameters:
    ///   - lease: the present lease, if anybody has the meter.
    ///   - retryAfter: when the authority suggests asking again.
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

    /// No answer came: the network failed, the request timed out, or the cloud said to try later. Whether the request
    /// took effect is unknown.
    package mutating func requestFailed(retryAfter: Duration? = nil, at now: MonotonicTime, random: UInt64) -> Action {
        guard case .seeking(var seeking) = state, seeking.isInFlight else { return .none }
        known.unanswered()
        let wait = (retryAfter ?? .zero).clamped(to: .zero ... .seconds(300))
        seeking.unanswered(known.failures, retryAfter: wait, at: now, random: random)
        let goesUnleased = !seeking.isUnleased && known.mayGoUnleased(at: now)
        if goesUnleased { seeking.goUnleased() }
        // A host that goes on without a lease has given the person what they wanted, so it takes the meter over from
        // nobody later.
        if seeking.isUnleased, known.isCloudUnreachable { known.dropTakeover() }
        state = .seeking(seeking)
        return goesUnleased ? .permitUnleased : .none
    }

    /// The meter is reserved for this host for some seconds: this host was the head of the queue.
    package mutating func offered(at now: MonotonicTime) -> Action {
        known.isHere()
        queueLost()
        guard case .seeking(let seeking) = state, !seeking.isInFlight else { return .none }
        return state.ask(seeking, &known, at: now)
    }

    /// This host lost its place in the queue. It asks for another with the next refusal.
    package mutating func queueLost() {
        guard case .seeking(var seeking) = state else { return }
        seeking.leftQueue()
        state = .seeking(seeking)
    }

    // MARK: Heartbeats

    /// A request with this host's heartbeats is about to be sent.
    ///
    /// - Returns: the token to include, or nil if this lease does not need a renewal yet or its last one is still under
    ///   way.
    package mutating func joinRenewal(at now: MonotonicTime, random: UInt64) -> FencingToken? {
        guard case .held(var holding) = state, let token = holding.joinRenewal(at: now, random: random) else {
            return nil
        }
        state = .held(holding)
        return token
    }

    /// - Parameter sentAt: when the answered request was sent.
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

    /// The lease is no longer this host's, or has to be given back.
    ///
    /// - Parameters:
    ///   - token: the one to be renewed.
    ///   - lease: the present lease, if any.
    package mutating func renewalLost(
        _ loss: LeaseRenewal.Loss, of token: FencingToken, _ lease: LeaseView?, at now: MonotonicTime, random: UInt64
    ) -> Action {
        known.answered()
        if let lease { known.seen(lease, at: now) }
        guard case .held(let holding) = state, holding.permit.token == token else { return renewalEnded(at: now) }
        return state.lose(holding, loss, &known, at: now, random: random)
    }

    /// No answer came. `woke` repeats the request in time.
    package mutating func renewalFailed(at now: MonotonicTime) -> Action {
        guard case .held(var holding) = state else { return renewalEnded(at: now) }
        known.unanswered()
        holding.renewalEnded()
        state = .held(holding)
        return .none
    }

    /// The answer to a heartbeat came, or none will, for a lease that is not held any more.
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

    /// The cloud reported a change of this meter's lease.
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
            // A pause lets others go first: a release by this very host does not end it.
            seeking.hasten(to: max(now + LeaseTiming.within(.milliseconds(500), random), known.pausedUntil ?? now))
            state = .seeking(seeking)
            return .none
        case .idle, .seeking, .held, .stopping, .releasing: return .none
        }
    }

    /// The cloud can be reached again: requests waiting for it are sent soon. Places in queues were lost with the
    /// connection.
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

    /// Time has passed. Harmless at any moment; to be called again as long as `nextWake` is not after now.
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

    /// When `woke` has something to do next. Nil while only an event can change anything.
    package var nextWake: MonotonicTime? {
        switch state {
        case .idle, .stopping: nil
        case .seeking(let seeking): seeking.nextWake
        case .held(let holding): holding.nextWake
        case .releasing(let releasing): releasing.nextWake
        }
    }
}
