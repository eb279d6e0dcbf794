/// A host's request for a meter.
package struct LeaseAcquire: Hashable, Sendable {
    package var requestID: RequestID
    package var host: HostID
    package var hostName: String
    package var session: SessionID
    /// The session before this one. Sent only by a host that holds the lock file of its state directory, so that the
    /// old process must have ended.
    package var previousSession: SessionID?
    /// What is asked for; the zone caps it.
    package var timeToLive: Duration
    package var transport: LeaseTransport
    /// `strict` if this host wants it stricter than its zone.
    package var policy: LeasePolicy
    /// A person wants to take the meter over from the host that has it under this token, and from nobody else.
    package var takeover: FencingToken?
    /// The greatest token of this meter that the host knows. The next grant's must exceed it, even if the authority has
    /// forgotten it (rule 5). A claim beyond `FencingToken.claimMax` is ignored.
    package var tokenFloor: FencingToken?

    package init(
        requestID: RequestID, host: HostID, hostName: String, session: SessionID, previousSession: SessionID? = nil,
        timeToLive: Duration, transport: LeaseTransport, policy: LeasePolicy = .keep,
        takeover: FencingToken? = nil, tokenFloor: FencingToken? = nil
    ) {
        self.requestID = requestID
        self.host = host
        self.hostName = hostName
        self.session = session
        self.previousSession = previousSession
        self.timeToLive = timeToLive
        self.transport = transport
        self.policy = policy
        self.takeover = takeover
        self.tokenFloor = tokenFloor
    }
}

/// The state of the zone when a request is decided.
package struct LeaseCircumstances: Hashable, Sendable {
    package var now: MonotonicTime
    /// The wall time for `acquiredAt`.
    package var wallNow: WallTime
    /// The zone's policy and its longest times.
    package var terms: LeaseTerms
    /// Until then no new grants are made, because a backup was restored (rule 5). Renewals are served, and so are
    /// repetitions of a granted request. Nil at other times.
    package var grantsNothingNewBefore: MonotonicTime?
    /// The least token to be granted (rule 5: after a restore, unix seconds × 2^20).
    package var tokenFloor: FencingToken
    /// A new grant's token must exceed this one, because a meter's ids were joined or separated: a token granted under
    /// one id must not be granted under another. Unlike `tokenFloor`, it leaves a present holder's token alone.
    package var grantsAbove = FencingToken(rawValue: 0)
    /// A host that was offered this meter and has some seconds to take it (the head of the queue, or a host that takes
    /// over).
    package var reservedFor: HostID?
    /// The first host in the queue, whoever has the meter now. It gets the meter if the revoked holder turns out to
    /// have stopped.
    package var nextInQueue: HostID?

    package init(
        now: MonotonicTime, wallNow: WallTime, terms: LeaseTerms, grantsNothingNewBefore: MonotonicTime? = nil,
        tokenFloor: FencingToken = FencingToken(rawValue: 0), reservedFor: HostID? = nil, nextInQueue: HostID? = nil
    ) {
        self.now = now
        self.wallNow = wallNow
        self.terms = terms
        self.grantsNothingNewBefore = grantsNothingNewBefore
        self.tokenFloor = tokenFloor
        self.reservedFor = reservedFor
        self.nextInQueue = nextInQueue
    }
}

/// The answer to an acquire.
package enum LeaseAnswer: Hashable, Sendable {
    case granted(LeaseRecord)
    case refused(Refusal)

    package struct Refusal: Hashable, Sendable {
        package enum Reason: String, Hashable, Sendable {
            /// Another host, or another session of this one, has the meter.
            case held
            /// As `held`, and the holder was told to stop (a take-over under `strict`): ask again when it releases.
            case revoking
            /// Free, but offered to another host for some seconds.
            case reserved
            /// A backup was restored; nothing new is granted until former holders must have stopped.
            case restoring
            /// This very request was granted before, and the lease has been released or granted anew since: it came
            /// late, or twice. Send a new request.
            case released
            /// No token is left for this meter, which only an absurd clock at a restore can cause; or it never had a
            /// lease, and its zone may have no more.
            case exhausted
        }

        package var reason: Reason
        /// The present lease, if anybody has the meter.
        package var record: LeaseRecord?
        /// The latest time at which to ask again.
        package var retryAfter: Duration

        package init(reason: Reason, record: LeaseRecord?, retryAfter: Duration) {
            self.reason = reason
            self.record = record
            self.retryAfter = retryAfter
        }
    }
}

/// The answer to a renewal.
package enum LeaseRenewal: Hashable, Sendable {
    case renewed(LeaseRecord)
    /// The lease is not yours any more. The record is the present one.
    case lost(Loss, LeaseRecord?)

    package enum Loss: String, Hashable, Sendable {
        /// Another host took the meter over, or acquired it after the lease ended.
        case takenOver
        /// Stop and release: a person wants the meter elsewhere, or revoked the lease.
        case revoking
        /// The lease was released before: a late heartbeat does not revive it.
        case released
        /// The authority never granted this lease.
        case unknown
    }
}
