/// Tells a former holder's messages from the present one's: it rises with each change of holder or session and is never
/// reused, whatever is released, expires, is deleted or restored from a backup.
///
/// Below 2^53, so that every JSON reader represents it exactly.
package struct FencingToken: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let max = FencingToken(rawValue: (1 << 53) - 1)
    /// The greatest token that a host may claim to have seen, and that a restore may jump to: half the range, so that
    /// no claim uses up the other half.
    package static let claimMax = FencingToken(rawValue: 1 << 52)
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// How the holder reaches the meter.
package enum LeaseTransport: String, Hashable, Sendable, CaseIterable {
    case ble, spp, usb
}

/// The host that has a lease.
package struct LeaseHolder: Hashable, Sendable {
    package var host: HostID
    /// For people to read.
    package var hostName: String
    /// The run of `meterd` that has the lease. A restarted host is in another session.
    package var session: SessionID
    package var transport: LeaseTransport
    /// By the authority's wall clock, for people to read. Decides nothing.
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

/// A granted request, and the token it got.
package struct LeaseGrant: Hashable, Sendable {
    package var requestID: RequestID
    package var token: FencingToken

    package init(requestID: RequestID, token: FencingToken) {
        self.requestID = requestID
        self.token = token
    }
}

/// What the authority keeps for ever about one meter's lease: a release or an expiry leaves the token.
package struct LeaseRecord: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Nobody has the meter. Valid transitions: `held`.
        case free
        /// Valid transitions: `free` (released), `held` (another, once it is over or under `keep`), `revoking`.
        case held(LeaseHolder)
        /// The holder was told to stop and cannot renew. Ends when it releases, or when the lease is over.
        case revoking(LeaseHolder)
    }

    package var state: State
    /// The token of the present holder, or of the last one.
    package var token: FencingToken
    package var terms: LeaseTerms
    /// When the last good acquire or renewal arrived, on the authority's boot-time clock. Not persisted: after a start
    /// every lease counts as renewed just then (rule 5).
    package var renewedAt: MonotonicTime
    /// The requests granted last, oldest first. A repeated one gets the same answer while that is still true, and is
    /// never decided anew. At most `grantsMax`.
    package private(set) var grants: [LeaseGrant]

    /// A host repeats no request older than `LeaseTiming.repetitionAge`, and a lease hardly changes hands this often
    /// within that time.
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

    /// The token that a request was granted, if it is among the last grants.
    package func token(grantedTo requestID: RequestID) -> FencingToken? {
        grants.last { $0.requestID == requestID }?.token
    }

    package var holder: LeaseHolder? {
        switch state {
        case .free: nil
        case .held(let holder), .revoking(let holder): holder
        }
    }

    /// The rest of the time to live; zero once expired.
    package func remaining(at now: MonotonicTime) -> Duration {
        holder == nil ? .zero : max(.zero, renewedAt + terms.timeToLive - now)
    }

    /// How long until another host can have the meter.
    func untilOver(at now: MonotonicTime) -> Duration {
        holder == nil ? .zero : max(.zero, renewedAt + terms.over - now)
    }

    /// Whether time to live and lock-delay are over, so that another host may have the meter.
    package func isOver(at now: MonotonicTime) -> Bool { holder != nil && now - renewedAt >= terms.over }
}
