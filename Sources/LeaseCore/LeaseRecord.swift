package import MeterModel

/// The number that tells an old holder's words from the present one's: rises with each change of holder or session,
/// and is never used twice, whatever is released, expires, is deleted or restored from a backup.
///
/// Below 2^53, so that every JSON reader takes it exactly.
package struct FencingToken: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let max = FencingToken(rawValue: (1 << 53) - 1)
    /// The greatest that a host may claim to have seen, and that a restore may jump to: half of all, so that whatever
    /// is claimed leaves the other half to be given out.
    package static let claimMax = FencingToken(rawValue: 1 << 52)
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// How the holder reaches the meter.
package enum LeaseTransport: String, Hashable, Sendable, CaseIterable {
    case ble, spp, usb
}

/// Who has a lease.
package struct LeaseHolder: Hashable, Sendable {
    package var host: HostID
    /// For people.
    package var hostName: String
    /// The run of `meterd` that has it. A restarted host is another session.
    package var session: SessionID
    package var transport: LeaseTransport
    /// The authority's wall clock, for people to read. Decides nothing.
    package var acquiredAt: WallTime

    package init(
        host: HostID, hostName: String, session: SessionID, transport: LeaseTransport, acquiredAt: WallTime
    ) {
        self.host = host
        self.hostName = hostName
        self.session = session
        self.transport = transport
        self.acquiredAt = acquiredAt
    }
}

/// A request that was granted, and the token that it got.
package struct LeaseGrant: Hashable, Sendable {
    package var requestID: RequestID
    package var token: FencingToken

    package init(requestID: RequestID, token: FencingToken) {
        self.requestID = requestID
        self.token = token
    }
}

/// What the authority keeps of one meter's lease, for ever: a release or an expiry leaves the token.
package struct LeaseRecord: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Nobody has it. Valid transitions: `held`.
        case free
        /// Valid transitions: `free` (released), `held` (another, once it is over or under `keep`), `revoking`.
        case held(LeaseHolder)
        /// The holder was told to stop and cannot renew. Ends when it releases, or when the lease is over.
        case revoking(LeaseHolder)
    }

    package var state: State
    /// Of the present holder, or of the last one.
    package var token: FencingToken
    package var terms: LeaseTerms
    /// When the last good acquire or renewal was received, on the authority's boot-time clock. Not persisted: after a
    /// start every lease counts as renewed just then (rule 5).
    package var renewedAt: MonotonicTime
    /// The requests that were granted last, oldest first: one that is repeated gets the same answer while that is still
    /// true, and is never decided anew. At most `grantsMax`.
    package private(set) var grants: [LeaseGrant]

    /// A host repeats no request that is older than `LeaseTiming.repetitionAge`, in which a lease hardly changes hands
    /// so often.
    package static let grantsMax = 8

    package init(
        state: State, token: FencingToken, terms: LeaseTerms, renewedAt: MonotonicTime, grants: [LeaseGrant]
    ) {
        self.state = state
        self.token = token
        self.terms = terms
        self.renewedAt = renewedAt
        self.grants = grants.suffix(Self.grantsMax)
    }

    /// Remembers that a request was granted with the present token.
    mutating func remember(_ requestID: RequestID) {
        grants.removeAll { $0.requestID == requestID }
        grants = (grants + [LeaseGrant(requestID: requestID, token: token)]).suffix(Self.grantsMax)
    }

    /// The token that a request was granted with. nil where none of the last grants was its.
    package func token(grantedTo requestID: RequestID) -> FencingToken? {
        grants.last { $0.requestID == requestID }?.token
    }

    package var holder: LeaseHolder? {
        switch state {
        case .free: nil
        case .held(let holder), .revoking(let holder): holder
        }
    }

    /// What is left of the time to live; zero once it is expired.
    package func remaining(at now: MonotonicTime) -> Duration {
        holder == nil ? .zero : max(.zero, renewedAt + terms.timeToLive - now)
    }

    /// How long nobody else can have it yet.
    package func untilOver(at now: MonotonicTime) -> Duration {
        holder == nil ? .zero : max(.zero, renewedAt + terms.over - now)
    }

    /// The time to live and the lock-delay are over: another host may have it.
    package func isOver(at now: MonotonicTime) -> Bool { holder != nil && now - renewedAt >= terms.over }
}
