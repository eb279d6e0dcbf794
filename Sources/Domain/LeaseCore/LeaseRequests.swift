/// Acquire request of a host.
package struct LeaseAcquire: Hashable, Sendable {
    package var requestID: RequestID
    package var host: HostID
    package var hostName: String
    package var session: SessionID
    /// The host's session before this one. Only a host that locks its state directory sends it: the lock proves that
    /// the old process has ended.
    package var previousSession: SessionID?
    /// Requested time to live; the zone caps it.
    package var timeToLive: Duration
    package var transport: LeaseTransport
    /// `strict` if this host requires a stricter policy than its zone's.
    package var policy: LeasePolicy
    /// Token of the one grant that a person wants to take over; nil for a plain acquire.
    package var takeover: FencingToken?
    /// Greatest token of this meter that the host has seen; nil if it has seen none. The next grant must exceed it,
    /// even if the authority has no record of it (rule 5). The authority ignores a claim beyond
    /// `FencingToken.claimMax`.
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

/// State of the zone when the authority decides a request.
package struct LeaseCircumstances: Hashable, Sendable {
    package var now: MonotonicTime
    package var wallNow: WallTime
    /// The zone's policy and maximum times.
    package var terms: LeaseTerms
    /// Time before which the authority makes no new grants after a restore (rule 5); nil without a restore. Renewals
    /// and repetitions of granted requests still succeed.
    package var grantsNothingNewBefore: MonotonicTime?
    /// Least token to grant (rule 5: after a restore, unix seconds × 2^20).
    package var tokenFloor: FencingToken
    /// Token that a new grant must exceed after the meter's ids were joined or separated: no token may be valid under
    /// two ids. Unlike `tokenFloor`, it does not affect a present holder's token.
    package var grantsAbove = FencingToken(rawValue: 0)
    /// Host for which this meter is reserved for some seconds: the queue's head, or a host that takes over.
    package var reservedFor: HostID?
    /// First host in the queue. It gets the meter if the revoked holder has stopped.
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

package enum LeaseAnswer: Hashable, Sendable {
    case granted(LeaseRecord)
    case refused(Refusal)

    package struct Refusal: Hashable, Sendable {
        package enum Reason: String, Hashable, Sendable {
            /// Another host, or another session of this host, holds the lease.
            case held
            /// As `held`, but the authority has ordered the holder to stop (a take-over under `strict`). Retry after
            /// the holder's release.
            case revoking
            /// The meter is free, but reserved for another host for some seconds.
            case reserved
            /// After a restore, the authority makes no new grants until the leases of all former holders must have
            /// expired.
            case restoring
            /// The request arrived late or twice: its lease has been released or granted again since. Send a new
            /// request.
            case released
            /// No token is left, because a restore set the floor by a wrong clock. Or the zone's limit allows no lease
            /// for a new meter.
            case exhausted
        }

        package var reason: Reason
        package var record: LeaseRecord?
        /// Maximum pause before the next request.
        package var retryAfter: Duration

        package init(reason: Reason, record: LeaseRecord?, retryAfter: Duration) {
            self.reason = reason
            self.record = record
            self.retryAfter = retryAfter
        }
    }
}

package enum LeaseRenewal: Hashable, Sendable {
    case renewed(LeaseRecord)
    /// The host no longer holds the lease. The record is the meter's present one; nil if the meter has none.
    case lost(Loss, LeaseRecord?)

    package enum Loss: String, Hashable, Sendable {
        /// Another host took the meter over, or acquired it after the lease ended.
        case takenOver
        /// The host must stop and release: a person wants the meter on another host, or revoked the lease.
        case revoking
        /// The lease was released before; a late heartbeat does not revive it.
        case released
        case unknown
    }
}
