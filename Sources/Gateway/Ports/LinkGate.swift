package import GatewayAPI
package import LeaseCore
package import MeterModel

/// Has a say in whether a session may open and use a link to its meter. A session that has no gate asks nobody.
///
/// Only used on the loop, like a channel, and answers there: perhaps before a call has returned. A permission belongs
/// to one attempt and the link that comes of it; from the moment it is given until `channelClosed`, the gate takes the
/// channel for open.
package protocol LinkGate: Sendable {
    /// From now on `tell` hears the verdicts on this meter; nil means nobody does, and what is permitted is over.
    func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?)
    /// A link is to be attempted, or with `isUp` is there already and needs permission to stay.
    func ask(for meter: MeterID, _ wish: LeaseWish, over transport: LeaseTransport, isUp: Bool)
    /// The permitted link is up.
    func linkUp(_ meter: MeterID)
    func channelClosed(_ meter: MeterID, _ end: ChannelEnd)
    /// Nobody wants the meter any more. Said after the channel is closed; harmless at any time.
    func cancel(_ meter: MeterID)
    /// Waits until what this host gives back of a meter is free for others, a few seconds at most. From anywhere.
    func givenBack(_ meter: MeterID) async
    /// For people.
    func lease(of meter: MeterID) -> LeaseStatus
    /// How long a meter that is not heard here is looked for once it was granted: whoever had it may hear of that at its
    /// next heartbeat only.
    func searchTime(for meter: MeterID) -> Duration
    /// Asks the authority who has what, so that `lease(of:)` is of now. Takes a few seconds at most. From anywhere.
    ///
    /// - Returns: what other hosts have or wait for.
    func look() async -> [MeterID: LeaseStatus]
}

/// What the gate says to a session.
package enum LinkVerdict: Hashable, Sendable {
    /// Open a link, or go on with the one that is there. Replaces what was permitted before.
    case permitted(LinkPermission)
    /// Not now. The request stands, and is permitted when it can be.
    case refused(LinkRefusal)
    /// Close the channel now, then say `channelClosed`. With the cause, for people.
    case withdrawn(String)
}

package enum LinkPermission: Hashable, Sendable {
    /// With its times: under `strict` nothing goes to the meter after the hard stop, whatever else is said or not.
    case leased(LeasePermit)
    /// Nobody knows who else uses the meter.
    case unleased
}

/// Who has the meter instead.
package struct LinkRefusal: Hashable, Sendable {
    package var reason: LeaseAnswer.Refusal.Reason
    /// Its host's name, where it is known.
    package var holder: String?
    /// Until that lease expires.
    package var remaining: Duration?

    package init(reason: LeaseAnswer.Refusal.Reason, holder: String?, remaining: Duration?) {
        self.reason = reason
        self.holder = holder
        self.remaining = remaining
    }
}
