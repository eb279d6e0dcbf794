package struct LeaseAcquire: Hashable, Sendable {
    package var requestID: RequestID
    package var host: HostID
    package var hostName: String
    package var session: SessionID
    /// Earlier session of this host. Sent only by a host that locks its state folder, which proves that the earlier
    /// process has ended.
    package var previousSession: SessionID?
    /// Requested time to live; the zone limits it.
    package var timeToLive: Duration
    package var transport: LeaseTransport
    /// This host's policy; takes effect only if stricter than the zone's.
    package var policy: LeasePolicy
    /// Token of the grant to take over; nil for a plain acquire.
    package var takeover: FencingToken?
    /// Greatest token that the host has seen; nil if none. The next grant must exceed it, even if the authority has no
    /// record of it (rule 5). Ignored beyond `FencingToken.claimMax`.
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

/// State of the zone at the time of a decision.
package struct LeaseCircumstances: Hashable, Sendable {
    package var now: MonotonicTime
    package var wallNow: WallTime
    /// The zone's policy and maximum durations.
    package var terms: LeaseTerms
    /// Earliest time of new grants after a restore from a backup (rule 5); nil without a restore. Renewals and repeated
    /// requests succeed even earlier.
    package var grantsNothingNewBefore: MonotonicTime?
    /// Smallest token to grant (rule 5: after a restore, unix seconds × 2^20).
    package var tokenFloor: FencingToken
    /// Token that a new grant must exceed after meter ids were joined or separated, so that no token is valid under two
    /// ids. Unlike `tokenFloor`, it does not affect the present holder.
    package var grantsAbove = FencingToken(rawValue: 0)
    /// Host for which the meter is reserved: the first in the queue, or one that takes over.
    package var reservedFor: HostID?
    /// First host in the queue; gets the meter once the revoked holder has stopped.
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
            /// The holder has been ordered to stop (a take-over under `strict`). Retry after its release.
            case revoking
            /// The meter is free, but reserved for another host for some seconds.
            case reserved
            /// After a restore from a backup, the cloud grants no new leases until all earlier ones must have expired.
            case restoring
            /// The request arrived late or twice, and its lease has since been released or granted again. Send a new
            /// request.
            case released
            /// No token is left, because a restore set the token floor by a wrong clock; or the zone's quota allows no
            /// lease for a new meter.
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
    /// The host no longer holds the lease. The record is the present one; nil if there is none.
    case lost(Loss, LeaseRecord?)

    package enum Loss: String, Hashable, Sendable {
        /// Another host took the meter over, or acquired it after the lease ended.
        case takenOver
        /// The host must stop and release: a user requested the meter on another host, or revoked the lease.
        case revoking
        /// The lease was released; a late heartbeat does not renew it.
        case released
        case unknown
    }
}
