/// MQTT message. Outgoing messages use quality of service 1, so that the broker acknowledges them.
package struct BrokerMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// Whether the broker is to retain an outgoing message, or retained an incoming one.
    package var isRetained: Bool

    package init(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
    }

    package init(_ topic: String, _ text: String, isRetained: Bool = false) {
        self.init(topic, Array(text.utf8), isRetained: isRetained)
    }

    package var text: String { String(decoding: payload, as: UTF8.self) }
}

/// Home Assistant's default values of availability topics.
package enum Availability: String, Sendable {
    case online
    case offline

    package init(_ isOnline: Bool) { self = isOnline ? .online : .offline }
}
