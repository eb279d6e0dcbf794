package import MeterModel

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
package struct LeaseMachine: Sendable {
    /// What to do.
    package enum Action: Hashable, Sendable {
        /// Ask the authority for the meter. `again`: repeat the last request id, because its answer may have been lost;
        /// otherwise use a new one. `takeover`: take it from the host that has it under this token.
        case sendAcquire(again: Bool, takeover: FencingToken?)
        /// A heartbeat is due: call `joinRenewal` on all of this host's machines and send what they return in one
        /// request.
        case sendRenewal
        case sendRelease(FencingToken)
        /// A channel may be opened and used until the permit's hard stop. Replaces an earlier permit. The channel
        /// counts as open from now until `channelClosed`.
        case permit(LeasePermit)
        /// As `permit`, but without a lease or an end: the cloud is unreachable and the policy is `keep` (rule 4).
        case permitUnleased
        /// Close the channel now, then call `channelClosed(.letGo)`.
        case withdraw(Withdrawal)
        case joinQueue
        case leaveQueue
        case none
    }

    /// Why a channel must be closed.
    package enum Withdrawal: String, Hashable, Sendable {
        /// Nobody here wants the meter any more.
        case unwanted
        /// A person wants it elsewhere, or revoked the lease.
        case revoked
        /// Another host has it.
        case takenOver
        /// The lease could not be renewed in time.
        case hardStop
        /// The authority does not know this lease.
        case unknown
    }

    let host: HostID
    var state = State.idle
    /// The stricter of the host's own policy and the zone's, as far as known.
    var policy: LeasePolicy
    /// Consecutive requests without an answer.
    var failures = 0
    /// Tokens up to this one were given back, though the authority may not have heard of it yet. A grant with one of
    /// them (the same session asked again before the release arrived) is of no use: the release may arrive at any time.
    var releasedThrough: FencingToken?
    /// A person's intent to take the meter over, until the cloud has answered it.
    var takeover: Takeover?
    /// The greatest token of this meter heard of so far.
    package internal(set) var greatestToken: FencingToken?
    /// Until when another host may have the meter, by what was last heard.
    var elsewhereUntil: MonotonicTime?
    /// Until when the host does not ask by itself, because a person wanted the meter elsewhere.
    var pausedUntil: MonotonicTime?
    /// The token of the lease lost to that intent. Once a later lease is given back, nobody wants the meter elsewhere any
    /// more.
    var pausedFor: FencingToken?

    /// - Parameters:
    ///   - policy: the stricter of the host's own and the zone's last known one.
    ///   - greatestToken: the greatest that an earlier run knew.
    package init(host: HostID, policy: LeasePolicy, greatestToken: FencingToken? = nil) {
        self.host = host
        self.policy = policy
        self.greatestToken = greatestToken
    }

    // MARK: The host's wishes

    /// The meter is present and a link is to be attempted. Answered by a permit, now or later.
    package mutating func wanted(_ intent: LeaseIntent, at now: MonotonicTime) -> Action {
        if intent.isAsked || intent.isTakeover { takeover = Takeover(intent, at: now) }
        switch state {
        case .idle:
            return seek(intent, at: now)
        case .seeking(let seeking):
            return press(intent, seeking, at: now)
        case .held(let holding):
            return use(holding, intent, at: now)
        case .stopping(var stopping):
            stopping.intent = intent
            state = .stopping(stopping)
            return .none
        case .releasing(var releasing):
            releasing.intent = intent
            state = .releasing(releasing)
            return .none
        }
    }

    /// A link is already up without a permit, because the host has only now joined a cloud. Under `keep` it stays while
    /// a lease is requested. If a permit is out, as `wanted`.
    package mutating func foundOpen(_ intent: LeaseIntent, at now: MonotonicTime) -> Action {
        guard case .idle = state else { return wanted(intent, at: now) }
        takeover = Takeover(intent, at: now)
        guard policy == .keep else {
            state = .stopping(Stopping(lease: nil, intent: nil))
            return .withdraw(.unknown)
        }
        state = .seeking(Seeking(intent: intent, request: .waiting(until: now), isUnleased: true))
        return .permitUnleased
    }

    /// A person lets go, the meter is gone, or the host shuts down. Harmless if repeated.
    package mutating func unwanted(at now: MonotonicTime) -> Action {
        takeover = nil
        switch state {
        case .idle:
            return .none
        case .seeking(let seeking) where seeking.isUnleased:
            state = .stopping(Stopping(lease: nil, intent: nil))
            return .withdraw(.unwanted)
        case .seeking(let seeking):
            state = .idle
            return seeking.isQueued ? .leaveQueue : .none
        case .held(let holding):
            return end(holding, because: .unwanted, at: now)
        case .stopping(var stopping):
            stopping.intent = nil
            state = .stopping(stopping)
            return .none
        case .releasing(var releasing):
            releasing.intent = nil
            state = .releasing(releasing)
            return .none
        }
    }

    // MARK: Events of the channel

    /// The link is up, which ends any grace after an earlier loss.
    package mutating func linkUp() {
        guard case .held(var holding) = state, case .open = holding.channel else { return }
        holding.channel = .open(keptUntil: nil)
        state = .held(holding)
    }

    /// The channel used under a permit is closed.
    package mutating func channelClosed(_ end: ChannelEnd, at now: MonotonicTime) -> Action {
        switch state {
        case .seeking(let seeking) where seeking.isUnleased:
            state = .idle
            return .none
        case .held(var holding):
            guard case .open(let keptUntil) = holding.channel else { return .none }
            let deadline = end == .linkLost ? now + LeaseTiming.reconnectGrace : keptUntil
            guard end != .letGo, let deadline, now < deadline else { return release(holding, intent: nil, at: now) }
            holding.channel = .closed(keptUntil: deadline)
            state = .held(holding)
            return .none
        case .stopping(let stopping):
            guard let lease = stopping.lease else { return settle(stopping.intent, at: now) }
            return release(lease, intent: stopping.intent, at: now)
        case .idle, .seeking, .releasing:
            return .none
        }
    }

    /// The policy of the zone or the host has changed.
    package mutating func policyChanged(_ policy: LeasePolicy) { self.policy = policy }

    // MARK: State for others

    /// Where the lease stands, in the words of `status`.
    package enum Phase: Hashable, Sendable {
        case none
        case requesting
        /// Refused so far and asking again, perhaps with a place in the queue.
        case waiting(LeaseAnswer.Refusal.Reason)
        case held
        case jeopardy
        /// The lease could not be renewed in time, and the link is kept.
        case lost
        /// A link without a lease. If there is a reason, another host has the lease.
        case unleased(LeaseAnswer.Refusal.Reason?)
        /// Waiting for the channel to be closed.
        case stopping
        case releasing
    }

    package func phase(at now: MonotonicTime) -> Phase {
        switch state {
        case .idle: .none
        case .seeking(let seeking) where seeking.isUnleased: .unleased(seeking.refusal)
        case .seeking(let seeking): seeking.refusal.map { .waiting($0) } ?? .requesting
        case .held(let holding) where now >= holding.permit.hardStopAt: .lost
        case .held(let holding) where now >= holding.permit.jeopardyAt: .jeopardy
        case .held: .held
        case .stopping: .stopping
        case .releasing: .releasing
        }
    }

    /// The permit of a held lease, including one lost under `keep`.
    package var permit: LeasePermit? {
        if case .held(let holding) = state { holding.permit } else { nil }
    }

    /// Whether the cloud left the last few requests unanswered.
    package var isCloudUnreachable: Bool { failures >= LeaseTiming.unreachableAfter }
}
