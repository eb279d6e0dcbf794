package import Domain

/// A connection to a broker, as `HomeBridge` uses it: one attempt or link at a time. Nothing here blocks; results go to
/// the listener given with the attempt, from any thread.
package protocol BrokerLink: Sendable {
    /// Begins an attempt. Any earlier attempt or link is over, and its listener hears nothing more of use.
    ///
    /// - Parameter will: what the broker publishes if it loses the connection.
    func open(will: BrokerMessage, tell listener: @escaping @Sendable (BrokerEvent) -> Void)
    /// Ends the link or the attempt. The listener need not hear of it.
    func close()
    func subscribe(_ topics: [String])
    /// Publishes messages in order, all together, with a single wake-up.
    func publish(_ messages: [NumberedMessage])
}

/// A message with the number under which it is acknowledged.
package struct NumberedMessage: Hashable, Sendable {
    package var number: PacketNumber
    package var message: BrokerMessage

    package init(_ number: PacketNumber, _ message: BrokerMessage) {
        self.number = number
        self.message = message
    }
}

/// An event in an attempt or on its link.
package enum BrokerEvent: Hashable, Sendable {
    /// The broker accepted the connection.
    case opened
    /// There is no link, and why. The last event of an attempt.
    case lost(BrokerTrouble)
    /// The broker has received a message, or says why it refuses it.
    case acknowledged(PacketNumber, refusal: String?)
    case received(BrokerMessage)
    /// The broker does not let us subscribe, with the cause.
    case subscriptionRefused(String)
}
