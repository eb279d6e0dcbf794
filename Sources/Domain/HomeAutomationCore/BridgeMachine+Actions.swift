extension BridgeMachine {
    package enum Action: Hashable, Sendable {
        /// Connect. The broker publishes `will` if it loses the connection.
        case open(will: BrokerMessage)
        /// Close the link or end the attempt, and report no further events of it.
        case close
        case subscribe([String])
        case publish(PacketNumber, BrokerMessage)
        case perform(RequestNumber, MeterRequest, MeterID)
        case tell(Notice)
        case finished
    }

    package enum Notice: Hashable, Sendable {
        /// - Parameters:
        ///   - outage: duration without a link; nil for the first link.
        ///   - dropped: readings dropped since the start because the backlog was full.
        case connected(outage: Duration?, backlog: Int, dropped: Int)
        /// - Parameter isNew: whether the cause differs from that of the previous loss.
        case lost(cause: BrokerTrouble, retryIn: Duration, isNew: Bool)
        case announced(MeterID)
        case removed(MeterID)
        case yielded(MeterID, holder: String?)
        case homeAssistantStarted
        case requested(MeterID, String)
        case requestRefused(key: String, cause: String)
        /// Number of requests dropped since the last such notice, because too many arrived.
        case requestsIgnored(Int)
        case publishRefused(topic: String, cause: String)
        /// From now on the oldest readings are dropped.
        case backlogFull
    }
}
