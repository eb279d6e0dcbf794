package import Domain
package import GatewayAPI

/// Decides whether a session may open and use a link to its meter. A session without a gate needs no permission.
///
/// Use only on the session loop; the gate answers there, perhaps before a call returns. A permission covers one attempt
/// and the resulting link. The gate treats the link as open until `channelClosed`.
package protocol LinkGate: Sendable {
    /// - Parameter tell: receives the verdicts on this meter. Nil ends any permission.
    func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?)
    /// Requests permission for a connection attempt or, with `isUp`, to keep an existing link.
    func ask(for meter: MeterID, _ intent: LeaseIntent, over transport: LeaseTransport, isUp: Bool)
    func linkUp(_ meter: MeterID)
    func channelClosed(_ meter: MeterID, _ end: ChannelEnd)
    /// Withdraws the request or releases the lease. Call after the link is closed. Idempotent.
    func cancel(_ meter: MeterID)
    /// Waits at most a few seconds until this host has released the meter's lease. Callable from any thread.
    func givenBack(_ meter: MeterID) async
    /// Role of this host. A read-only host gets no lease, and uses a free meter without one if the zone allows that.
    var role: HostRole { get }
    func lease(of meter: MeterID) -> LeaseStatus
    /// Time to search for a meter after the grant of its lease: one heartbeat longer if the former holder may not know
    /// of the take-over yet.
    func searchTime(for meter: MeterID) -> Duration
    /// Updates `lease(of:)` from the lease authority within a few seconds. Callable from any thread.
    ///
    /// - Returns: leases and queues of other hosts.
    func look() async -> [MeterID: LeaseStatus]
}

package enum LinkVerdict: Hashable, Sendable {
    /// Open a link or keep the current one. Replaces an earlier permission.
    case permitted(LinkPermission)
    /// No permission yet. The request remains pending; `permitted` follows when possible.
    case refused(LinkRefusal)
    /// This host is read-only and the zone `strict`. Final until this host's access token or the zone's policy changes.
    case barred
    /// Close the link now, then call `channelClosed`. The text is the reason for users.
    case withdrawn(String)
}

package enum LinkPermission: Hashable, Sendable {
    /// Under `strict`, the session sends nothing after the permit's `hardStopAt`.
    case leased(LeasePermit)
    /// Another host may use the meter at the same time.
    case unleased
}

package struct LinkRefusal: Hashable, Sendable {
    package var reason: LeaseAnswer.Refusal.Reason
    /// Name of the holder; nil if unknown.
    package var holder: String?
    /// Time until the holder's lease expires; nil if unknown.
    package var remaining: Duration?

    package init(reason: LeaseAnswer.Refusal.Reason, holder: String?, remaining: Duration?) {
        self.reason = reason
        self.holder = holder
        self.remaining = remaining
    }
}
