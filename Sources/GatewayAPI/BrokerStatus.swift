/// `GET /v1/broker`: the state of the connection to the MQTT broker in `[mqtt]`. Unknown or not applicable is null.
package struct BrokerStatus: Codable, Hashable, Sendable {
    /// Whether `[mqtt]` names a broker. If not, everything else is 0, false or null.
    package var configured: Bool
    /// The broker's address, such as `mqtts://host:8883`, without user and password.
    @NullCodable package var url: String?
    /// Whether the broker has accepted the connection.
    package var connected: Bool
    /// RFC 3339: when the link came up or was lost; before the first link, when meterd started.
    @NullCodable package var since: String?
    /// Messages waiting to be sent, to be confirmed, or for the broker to come back.
    package var queued: Int
    /// Of those, readings kept for a broker that could not take them in time.
    package var backlog: Int
    /// Messages confirmed by the broker since meterd started.
    package var published: Int
    /// Messages given up for lack of room since meterd started.
    package var dropped: Int
    /// Messages refused by the broker since meterd started.
    package var refused: Int
    /// Topics for which the broker has refused something since the link came up.
    package var refused_topics: Int
    /// Whether the broker lets this host subscribe to requests; true as well while there is no link to tell.
    package var hears_requests: Bool
    /// Links that came up since meterd started; all but the first are reconnects.
    package var links_opened: Int
    /// Why there is no link.
    @NullCodable package var error: String?
    /// What to do about that.
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
