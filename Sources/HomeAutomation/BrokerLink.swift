package import HomeAutomationCore

/// A way to a broker, as `HomeBridge` uses it: one attempt or link at a time. Nothing here waits; what comes of it is told
/// to the listener given with the attempt, from any thread.
package protocol BrokerLink: Sendable {
    /// Begins an attempt. Whatever was before it is over, and its listener hears nothing more of use.
    ///
    /// - Parameter will: what the broker is to say once it loses us.
    func open(will: BrokerMessage, tell listener: @escaping @Sendable (BrokerEvent) -> Void)
    /// Cuts the link, or the attempt. The listener need not hear of it.
    func close()
    func subscribe(_ topics: [String])
    /// Publishes messages in their order, all at once: one wake-up for as many as there are.
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

/// What came of an attempt.
package enum BrokerEvent: Hashable, Sendable {
    /// The broker took us.
    case opened
    /// There is no link, and why. The last event of an attempt.
    case lost(BrokerTrouble)
    /// The broker has a message, or says why it does not take it.
    case acknowledged(PacketNumber, refusal: String?)
    case received(BrokerMessage)
    /// The broker does not let us hear anything, with the cause.
    case subscriptionRefused(String)
}
