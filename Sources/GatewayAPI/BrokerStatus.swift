/// `GET /v1/broker`: state of the connection to the MQTT broker in `[mqtt]`.
package struct BrokerStatus: Codable, Hashable, Sendable {
    /// Whether `[mqtt]` names a broker. If not, everything else is 0, false or null.
    package var configured: Bool
    /// URL such as `mqtts://host:8883`, without user and password.
    @NullCodable package var url: String?
    package var connected: Bool
    /// Time when the link was last established or lost, RFC 3339. Before the first link: the start of meterd.
    @NullCodable package var since: String?
    /// Messages waiting to be sent or confirmed.
    package var queued: Int
    /// Number of messages in `queued` that are readings kept because the broker was down or too slow.
    package var backlog: Int
    /// Messages confirmed since meterd started. `dropped` (no room) and `refused` count from the same time.
    package var published: Int
    package var dropped: Int
    package var refused: Int
    /// Number of topics on which the broker refused a message since the link was established.
    package var refused_topics: Int
    /// Whether the broker allows subscriptions to the topics of requests. True until it refuses one, also without a
    /// link.
    package var hears_requests: Bool
    /// Links since meterd started, the first one included.
    package var links_opened: Int
    @NullCodable package var error: String?
    @NullCodable package var next: String?

    /// - Parameter url: nil if no broker is configured.
    package init(url: String? = nil) {
        configured = url != nil
        self.url = url
        connected = false
        (queued, backlog, published, dropped, refused, refused_topics, links_opened) = (0, 0, 0, 0, 0, 0, 0)
        hears_requests = url != nil
    }
}
