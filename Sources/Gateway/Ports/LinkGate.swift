package import Domain
package import GatewayAPI

/// Decides whether a session may open and use a link to its meter. A session without a gate asks nobody.
///
/// To be used only on the loop, like a channel, and answers there, perhaps before a call has returned. A permission
/// belongs to one attempt and the link that results from it; from the moment it is given until `channelClosed`, the
/// gate treats the channel as open.
package protocol LinkGate: Sendable {
    /// From now on `tell` hears the verdicts on this meter. If it is nil, nobody does, and any permission ends.
    func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?)
    /// Asks for permission for an attempt or, with `isUp`, to keep a link that is there already.
    func ask(for meter: MeterID, _ intent: LeaseIntent, over transport: LeaseTransport, isUp: Bool)
    /// The permitted link is up.
    func linkUp(_ meter: MeterID)
    func channelClosed(_ meter: MeterID, _ end: ChannelEnd)
    /// Nobody wants the meter any more. Called after the channel is closed; harmless at any time.
    func cancel(_ meter: MeterID)
    /// Returns once the meter's lease that this host is giving back is free for others. Takes a few seconds at most.
    /// May be called from anywhere.
    func givenBack(_ meter: MeterID) async
    /// What this host may do in its zone. One that may only look gets no lease, and uses a meter without one where the
    /// zone allows that and no other host has it.
    var role: HostRole { get }
    /// The state of the lease, to show to people.
    func lease(of meter: MeterID) -> LeaseStatus
    /// How long to look for a granted meter that is not heard here: the former holder may learn of the grant only at
    /// its next heartbeat.
    func searchTime(for meter: MeterID) -> Duration
    /// Asks the authority who has what, so that `lease(of:)` is up to date. Takes a few seconds at most. May be called
    /// from anywhere.
    ///
    /// - Returns: what other hosts have or wait for.
    func look() async -> [MeterID: LeaseStatus]
}

/// What the gate says to a session.
package enum LinkVerdict: Hashable, Sendable {
    /// Open a link, or keep the present one. Replaces an earlier permission.
    case permitted(LinkPermission)
    /// Not now. The request stands, and is granted when it can be.
    case refused(LinkRefusal)
    /// Not now, and not before this host has another token or the zone another policy: it may only look, and the zone is
    /// `strict`.
    case barred
    /// Close the channel now, then call `channelClosed`. The text is the cause, for people.
    case withdrawn(String)
}

package enum LinkPermission: Hashable, Sendable {
    /// Permitted with a lease and its times. Under `strict` nothing is sent to the meter after the hard stop, whatever
    /// else is said or not.
    case leased(LeasePermit)
    /// Permitted without a lease: who else uses the meter is unknown.
    case unleased
}

/// Why a link was refused, and who has the meter instead.
package struct LinkRefusal: Hashable, Sendable {
    package var reason: LeaseAnswer.Refusal.Reason
    /// The name of the holder's host, if known.
    package var holder: String?
    /// The time until the holder's lease expires, if known.
    package var remaining: Duration?

    package init(reason: LeaseAnswer.Refusal.Reason, holder: String?, remaining: Duration?) {
        self.reason = reason
        self.holder = holder
        self.remaining = remaining
    }
}
