/// `POST /v1/cloud/join`.
package struct CloudJoinRequest: Codable, Hashable, Sendable {
    /// URLs of one cloud's replicas, such as `https://host:8643`.
    package var urls: [String]
    /// Secret access token: for enrolment, or this host's own. May be sent only over the control socket.
    package var token: String
    /// Fingerprint `sha256:…` of a self-signed certificate's public key.
    package var pin: String?
    /// Whether to send all records after a change of zone. If not, only those of meters seen by this host or with a
    /// setting made here.
    package var bring_all: Bool?

    package init(urls: [String], token: String, pin: String?, bring_all: Bool? = nil) {
        self.urls = urls
        self.token = token
        self.pin = pin
        self.bring_all = bring_all
    }
}

/// Answer to `POST /v1/cloud/hosts/{host}/retire`.
package struct RetiredHost: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    package var tokens: Int
    package var leases: [String]

    package init(id: String, name: String, tokens: Int, leases: [String]) {
        self.id = id
        self.name = name
        self.tokens = tokens
        self.leases = leases
    }
}

/// `GET /v1/cloud`, and the answer to joining and leaving.
package struct CloudStatus: Codable, Hashable, Sendable {
    package var joined: Bool
    package var urls: [String]
    @NullCodable package var zone: String?
    @NullCodable package var pin: String?
    package var host_id: String
    package var host_name: String
    /// Whether the cloud's event stream is open.
    package var connected: Bool
    /// `keep` or `strict`.
    @NullCodable package var policy: String?
    /// This host's rights in the zone, `full` or `readOnly`; null until the cloud reports them.
    @NullCodable package var role: String?
    /// This host's system clock minus the cloud's.
    @NullCodable package var clock_offset_ms: Int64?
    /// Command line to join another host to the cloud that this meterd serves.
    @NullCodable package var serving: String?
    /// Cause and remedy if this meterd should serve the cloud but cannot. It retries every 10 s.
    @NullCodable package var unserved: String?
    @NullCodable package var error: String?

    package init(joined: Bool, urls: [String] = [], host_id: String, host_name: String, connected: Bool = false) {
        self.joined = joined
        self.urls = urls
        self.host_id = host_id
        self.host_name = host_name
        self.connected = connected
    }
}
