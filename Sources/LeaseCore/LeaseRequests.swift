package import MeterModel

/// A host wants a meter.
package struct LeaseAcquire: Hashable, Sendable {
    package var requestID: RequestID
    package var host: HostID
    package var hostName: String
    package var session: SessionID
    /// The session before this one, sent only by a host that holds the lock file of its state directory, so that the
    /// old process is surely gone.
    package var previousSession: SessionID?
    /// A wish; the zone caps it.
    package var timeToLive: Duration
    package var transport: LeaseTransport
    /// `strict` where this host wants it stricter than its zone.
    package var policy: LeasePolicy
    /// A person wants it from who has it by this token; from nobody else, whoever that is by now.
    package var takeover: FencingToken?
    /// The greatest token of this meter that the host knows of: a grant's is above it, even by an authority that has
    /// forgotten (rule 5). One beyond `FencingToken.claimMax` is ignored.
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

/// What is true of the zone when a request is decided.
package struct LeaseCircumstances: Hashable, Sendable {
    package var now: MonotonicTime
    /// For `acquiredAt`.
    package var wallNow: WallTime
    /// The zone's policy and greatest times.
    package var terms: LeaseTerms
    /// Until then nothing goes to anybody new: a backup was restored (rule 5). Renewals are served, and so is the
    /// repetition of a request that was granted. nil means no such time.
    package var grantsNothingNewBefore: MonotonicTime?
    /// No token is given out below this (rule 5: after a restore, unix seconds × 2^20).
    package var tokenFloor: FencingToken
    /// A new grant's token exceeds it, because a meter's ids became one or were parted: what was given out under one
    /// must not be given out under another. Unlike `tokenFloor` it leaves a present holder's token alone.
    package var grantsAbove = FencingToken(rawValue: 0)
    /// Another host was offered this meter and has some seconds to take it (the queue's head, or who takes over).
    package var reservedFor: HostID?
    /// Who waits first, whoever has it now: gets it when its revoked holder turns out to have stopped.
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
            /// Another host, or another session of this one, has it.
            case held
            /// As `held`, and the holder was told to stop (a take-over under `strict`): ask again on its release.
            case revoking
            /// Free, but offered to another host for some seconds.
            case reserved
            /// A backup was restored; nothing new is granted until old holders have surely stopped.
            case restoring
            /// This very request was granted before, and the lease released or granted anew since: it came late, or
            /// twice. Ask anew.
            case released
            /// No token is left for this meter. Only an absurd clock at a restore leads here.
            case exhausted
        }

        package var reason: Reason
        /// Who has it. nil where nobody does.
        package var record: LeaseRecord?
        /// When asking again may help, at the latest.
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
    /// Not yours any more. The record says whose it is.
    case lost(Loss, LeaseRecord?)

    package enum Loss: String, Hashable, Sendable {
        /// Somebody took it over or acquired it after its end.
        case takenOver
        /// Stop, and release: a person wants it elsewhere or revoked it.
        case revoking
        /// Released before: a late heartbeat resurrects nothing.
        case released
        /// The authority never gave it out.
        case unknown
    }
}
