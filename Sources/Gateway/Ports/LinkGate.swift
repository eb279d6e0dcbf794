package import Domain
package import GatewayAPI

/// Decides whether a session may open and use a link to its meter. A session without a gate needs no permission.
///
/// Use only on the loop; the gate answers there, perhaps before a call returns. A permission covers one attempt and the
/// resulting link. Until `channelClosed`, the gate treats the channel as open.
package protocol LinkGate: Sendable {
    /// Registers the receiver of the verdicts on this meter. Nil ends any permission.
    func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?)
    /// Requests permission for an attempt or, with `isUp`, to keep an existing link.
    func ask(for meter: MeterID, _ intent: LeaseIntent, over transport: LeaseTransport, isUp: Bool)
    func linkUp(_ meter: MeterID)
    func channelClosed(_ meter: MeterID, _ end: ChannelEnd)
    /// Withdraws the request. Called after the channel is closed; harmless at any time.
    func cancel(_ meter: MeterID)
    /// Waits a few seconds at most until this host has released the meter's lease, so that other hosts can get it.
    /// Callable from anywhere.
    func givenBack(_ meter: MeterID) async
    /// Role of this host. A read-only host gets no lease, and uses a free meter without one if the zone allows that.
    var role: HostRole { get }
    func lease(of meter: MeterID) -> LeaseStatus
    /// Returns the search time for a meter after the grant of its lease: longer by one heartbeat if the former holder
    /// may not know of the take-over yet.
    func searchTime(for meter: MeterID) -> Duration
    /// Updates `lease(of:)` from the authority within a few seconds. Callable from anywhere.
    ///
    /// - Returns: leases and queues of other hosts.
    func look() async -> [MeterID: LeaseStatus]
}

package enum LinkVerdict: Hashable, Sendable {
    /// Open a link or keep the current one. Replaces an earlier permission.
    case permitted(LinkPermission)
    /// No permission yet. The request remains pending; `permitted` follows when possible.
    case refused(LinkRefusal)
    /// No permission, because this host is read-only and the zone `strict`. Final until this host's access token or the
    /// zone's policy changes.
    case barred
    /// Close the channel now, then call `channelClosed`. The text is the cause for users.
    case withdrawn(String)
}

package enum LinkPermission: Hashable, Sendable {
    /// Permission by a lease, with its times. Under `strict`, the session sends nothing after the hard stop.
    case leased(LeasePermit)
    /// Permission without a lease. Another host may use the meter at the same time.
    case unleased
}

package struct LinkRefusal: Hashable, Sendable {
    package var reason: LeaseAnswer.Refusal.Reason
    /// Name of the host that holds the meter, if known.
    package var holder: String?
    /// Time until the holder's lease expires, if known.
    package var remaining: Duration?

    package init(reason: LeaseAnswer.Refusal.Reason, holder: String?, remaining: Duration?) {
        self.reason = reason
        self.holder = holder
        self.remaining = remaining
    }
}
