/// `GET /v1/broker`: how it goes with the MQTT broker that `[mqtt]` names. Unknown or not applicable is null.
package struct BrokerStatus: Codable, Hashable, Sendable {
    /// `[mqtt]` names a broker; without one everything else is 0, false or null.
    package var configured: Bool
    /// Where it is, as `mqtts://host:8883`. Holds neither user nor password.
    @NullCodable package var url: String?
    /// The broker has us.
    package var connected: Bool
    /// RFC 3339: when the link went up, or was lost, or when meterd started where there was none so far.
    @NullCodable package var since: String?
    /// Messages that wait: to be sent, to be confirmed, or until the broker is back.
    package var queued: Int
    /// Of those, readings that are kept for a broker that could not take them in time.
    package var backlog: Int
    /// Messages that the broker confirmed, since meterd started.
    package var published: Int
    /// Messages given up for want of room, since meterd started.
    package var dropped: Int
    /// Messages that the broker did not take, since meterd started.
    package var refused: Int
    /// On how many topics it takes not everything, as far as was seen since the link went up.
    package var refused_topics: Int
    /// It lets this host listen to requests; also true while there is no link to say so.
    package var hears_requests: Bool
    /// Links that went up since meterd started; what is more than one is a reconnect.
    package var links_opened: Int
    /// Why there is no link.
    @NullCodable package var error: String?
    /// What to do about that.
    @NullCodable package var next: String?

    /// - Parameter url: nil where no broker is configured.
    package init(url: String? = nil) {
        configured = url != nil
        self.url = url
        connected = false
        (queued, backlog, published, dropped, refused, refused_topics, links_opened) = (0, 0, 0, 0, 0, 0, 0)
        hears_requests = url != nil
    }
}
