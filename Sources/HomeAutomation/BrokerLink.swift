package import Domain

/// A connection to a broker for `HomeBridge`: one attempt or link at a time. Calls never block. Listeners receive
/// events on any thread.
package protocol BrokerLink: Sendable {
    /// Opens a link. Ends any earlier attempt or link, whose listener receives no more events.
    ///
    /// - Parameter will: message that the broker publishes if it loses the connection; nil for none.
    func open(will: BrokerMessage?, tell listener: @escaping @Sendable (BrokerEvent) -> Void)
    /// Ends link or attempt, possibly without an event to the listener.
    func close()
    func subscribe(_ topics: [String])
    /// Publishes in order, waking the link's thread only once.
    func publish(_ messages: [NumberedMessage])
}

package struct NumberedMessage: Hashable, Sendable {
    package var number: PacketNumber
    package var message: BrokerMessage

    package init(_ number: PacketNumber, _ message: BrokerMessage) {
        self.number = number
        self.message = message
    }
}

package enum BrokerEvent: Hashable, Sendable {
    case opened
    /// The link or the attempt failed. No event of this attempt follows.
    case lost(BrokerTrouble)
    case acknowledged(PacketNumber, refusal: String?)
    case received(BrokerMessage)
    case subscriptionRefused(String)
}
