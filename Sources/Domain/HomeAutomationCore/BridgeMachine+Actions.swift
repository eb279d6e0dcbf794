extension BridgeMachine {
    package enum Action: Hashable, Sendable {
        /// Connect; the broker publishes `will` if it loses the connection.
        case open(will: BrokerMessage)
        /// End the link or the attempt, and report nothing more of it.
        case close
        case subscribe([String])
        case publish(PacketNumber, BrokerMessage)
        case perform(RequestNumber, MeterRequest, MeterID)
        case tell(Notice)
        /// The last action after `stop`.
        case finished
    }

    package enum Notice: Hashable, Sendable {
        /// - Parameters:
        ///   - outage: time without a link; nil for the first one.
        ///   - backlog: number of readings waiting.
        ///   - dropped: number of readings lost for lack of room since the start.
        case connected(outage: Duration?, backlog: Int, dropped: Int)
        /// - Parameter isNew: whether the cause differs from the last one.
        case lost(cause: BrokerTrouble, retryIn: Duration, isNew: Bool)
        case announced(MeterID)
        case removed(MeterID)
        /// Another host has the meter now.
        case yielded(MeterID, holder: String?)
        case homeAssistantStarted
        case requested(MeterID, String)
        case requestRefused(key: String, cause: String)
        /// Number of requests since the last such notice that were dropped because too many came at once.
        case requestsIgnored(Int)
        case publishRefused(topic: String, cause: String)
        /// From now on the oldest readings are lost.
        case backlogFull
    }
}
