extension BridgeMachine {
    package enum Action: Hashable, Sendable {
        /// Connect. The broker publishes `will` if it loses the connection.
        case open(will: BrokerMessage)
        /// End the link or the attempt; nothing more may come of it.
        case close
        case subscribe([String])
        case publish(PacketNumber, BrokerMessage)
        case perform(RequestNumber, MeterRequest, MeterID)
        case tell(Notice)
        /// After `stop`: this was the last action.
        case finished
    }

    /// An event worth a line in the log.
    package enum Notice: Hashable, Sendable {
        /// - Parameters:
        ///   - outage: how long there was no link; nil for the first one.
        ///   - backlog: number of readings waiting to be sent.
        ///   - dropped: number of readings lost for lack of room since the start.
        case connected(outage: Duration?, backlog: Int, dropped: Int)
        /// - Parameter isNew: whether the cause differs from the last one.
        case lost(cause: BrokerTrouble, retryIn: Duration, isNew: Bool)
        case announced(MeterID)
        case removed(MeterID)
        /// Another host has the meter from now on.
        case yielded(MeterID, holder: String?)
        case homeAssistantStarted
        case requested(MeterID, String)
        case requestRefused(key: String, cause: String)
        /// Number of requests since the last such notice that were not even answered, because there were too many at
        /// once.
        case requestsIgnored(Int)
        /// The broker refuses what is published there.
        case publishRefused(topic: String, cause: String)
        /// There is no room for more readings: the oldest are being lost.
        case backlogFull
    }
}
