/// Distinguishes a former holder's messages from the present one's. It increases with each change of holder or session,
/// and is never reused after a release, expiry, deletion or restore.
///
/// Below 2^53, so that every JSON parser represents it exactly.
package struct FencingToken: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let max = FencingToken(rawValue: (1 << 53) - 1)
    /// Greatest token accepted from a host or set after a restore. The greater half of the range remains for later
    /// grants.
    package static let claimMax = FencingToken(rawValue: 1 << 52)
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

package enum LeaseTransport: String, Hashable, Sendable, CaseIterable {
    case ble, spp, usb
}

package struct LeaseHolder: Hashable, Sendable {
    package var host: HostID
    package var hostName: String
    /// A restart of `meterd` begins a new session.
    package var session: SessionID
    package var transport: LeaseTransport
    /// Time by the authority's system clock, for display only.
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

package struct LeaseGrant: Hashable, Sendable {
    package var requestID: RequestID
    package var token: FencingToken

    package init(requestID: RequestID, token: FencingToken) {
        self.requestID = requestID
        self.token = token
    }
}

/// One meter's lease. The fencing token remains after a release or expiry.
package struct LeaseRecord: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Valid transitions: `held`.
        case free
        /// Valid transitions: `free` (release), `held` (another host acquires an expired lease, or takes over under
        /// `keep`), `revoking`.
        case held(LeaseHolder)
        /// The authority ordered the holder to stop, and refuses its renewals. Ends with the holder's release, or when
        /// the lease is over.
        case revoking(LeaseHolder)
    }

    package var state: State
    package var token: FencingToken
    package var terms: LeaseTerms
    /// Arrival of the last successful acquire or renewal, on the authority's monotonic clock. Not persisted: when the
    /// authority starts, every lease counts as just renewed (rule 5).
    package var renewedAt: MonotonicTime
    /// Latest granted requests, oldest first. A repeated request gets the stored answer, and is never decided again.
    package private(set) var grants: [LeaseGrant]

    /// Hosts repeat requests for `LeaseTiming.repetitionAge` only, and in that time a lease hardly changes its holder 8
    /// times.
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

    mutating func remember(_ requestID: RequestID) {
        grants.removeAll { $0.requestID == requestID }
        grants = (grants + [LeaseGrant(requestID: requestID, token: token)]).suffix(Self.grantsMax)
    }

    package func token(grantedTo requestID: RequestID) -> FencingToken? {
        grants.last { $0.requestID == requestID }?.token
    }

    package var holder: LeaseHolder? {
        switch state {
        case .free: nil
        case .held(let holder), .revoking(let holder): holder
        }
    }

    /// Remaining time to live; zero once expired.
    package func remaining(at now: MonotonicTime) -> Duration {
        holder == nil ? .zero : max(.zero, renewedAt + terms.timeToLive - now)
    }

    func untilOver(at now: MonotonicTime) -> Duration {
        holder == nil ? .zero : max(.zero, renewedAt + terms.over - now)
    }

    /// Whether another host may acquire the meter: time to live and lock-delay have passed.
    package func isOver(at now: MonotonicTime) -> Bool { holder != nil && now - renewedAt >= terms.over }
}
