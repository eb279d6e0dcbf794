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

/// A message with the number for its acknowledgement.
package struct NumberedMessage: Hashable, Sendable {
    package var number: PacketNumber
    package var message: BrokerMessage

    package init(_ number: PacketNumber, _ message: BrokerMessage) {
        self.number = number
        self.message = message
    }
}

/// An event of an attempt or its link.
package enum BrokerEvent: Hashable, Sendable {
    /// The broker accepted the connection.
    case opened
    /// The link was lost or not made. The last event of an attempt.
    case lost(BrokerTrouble)
    /// The broker received a message, or refused it with a reason.
    case acknowledged(PacketNumber, refusal: String?)
    case received(BrokerMessage)
    /// The broker refused a subscription, with a reason.
    case subscriptionRefused(String)
}
