package import Domain

/// A connection to a broker for `HomeBridge`: one attempt or link at a time. Calls never block; results go to the
/// attempt's listener, from any thread.
package protocol BrokerLink: Sendable {
    /// Begins an attempt, and ends any earlier attempt or link with its listener.
    ///
    /// - Parameter will: message that the broker publishes if it loses the connection.
    func open(will: BrokerMessage, tell listener: @escaping @Sendable (BrokerEvent) -> Void)
    /// Ends the link or the attempt, possibly without an event.
    func close()
    func subscribe(_ topics: [String])
    /// Publishes messages in order, with a single wake-up.
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
    /// The link was lost or not made. The last event of an attempt.
    case lost(BrokerTrouble)
    case acknowledged(PacketNumber, refusal: String?)
    case received(BrokerMessage)
    case subscriptionRefused(String)
}
