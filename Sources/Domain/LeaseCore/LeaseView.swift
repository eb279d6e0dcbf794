/// A lease as reported by the cloud. The host measures `remaining` on its monotonic clock.
package struct LeaseView: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case free, held, revoking, expired
    }

    package var meter: MeterID
    package var state: State
    package var holder: HostID?
    package var holderName: String?
    package var token: FencingToken
    package var terms: LeaseTerms
    package var transport: LeaseTransport?
    /// RFC 3339, for display only.
    package var acquiredAt: String?
    /// Duration until expiry, counted from the arrival of the cloud's message.
    package var remaining: Duration
    /// Waiting hosts in the order of the queue.
    package var waiting: [String]
    /// For a grant: whether the cloud notified the former holder immediately. Otherwise that host learns of it at its
    /// next heartbeat.
    package var isOldHolderTold = true

    package init(
        meter: MeterID, state: State, holder: HostID?, holderName: String?, token: FencingToken, terms: LeaseTerms,
        transport: LeaseTransport?, acquiredAt: String?, remaining: Duration, waiting: [String] = []
    ) {
        self.meter = meter
        self.state = state
        self.holder = holder
        self.holderName = holderName
        self.token = token
        self.terms = terms
        self.transport = transport
        self.acquiredAt = acquiredAt
        self.remaining = remaining
        self.waiting = waiting
    }
}
