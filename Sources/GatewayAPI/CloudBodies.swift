/// `POST /v1/cloud/join`.
package struct CloudJoinRequest: Codable, Hashable, Sendable {
    /// One or more copies of one cloud, `https://host:8643`.
    package var urls: [String]
    /// An enrolment token or this host's own. A secret: only ever on the control socket.
    package var token: String
    /// `sha256:…`, if the cloud's certificate is self-signed.
    package var pin: String?
    /// If the zone is not the last one: also sends others' records, not just those made or met here.
    package var bring_all: Bool?

    package init(urls: [String], token: String, pin: String?, bring_all: Bool? = nil) {
        self.urls = urls
        self.token = token
        self.pin = pin
        self.bring_all = bring_all
    }
}

/// The answer to `POST /v1/cloud/hosts/{host}/retire`: the host as it was.
package struct RetiredHost: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    /// Number of tokens revoked.
    package var tokens: Int
    /// The meters whose leases it held.
    package var leases: [String]

    package init(id: String, name: String, tokens: Int, leases: [String]) {
        self.id = id
        self.name = name
        self.tokens = tokens
        self.leases = leases
    }
}

/// `GET /v1/cloud`, and the answer to joining and leaving. Unknown or not applicable is null.
package struct CloudStatus: Codable, Hashable, Sendable {
    package var joined: Bool
    /// Without the token.
    package var urls: [String]
    @NullCodable package var zone: String?
    @NullCodable package var pin: String?
    /// This host's id, as others see it.
    package var host_id: String
    package var host_name: String
    /// The cloud's event stream is open, so what happens there is seen here at once.
    package var connected: Bool
    /// `keep` or `strict`, as last reported by the cloud.
    @NullCodable package var policy: String?
    /// What this host may do there: `full`, or `readOnly` where it may only look. Null before the cloud has said it.
    @NullCodable package var role: String?
    /// This host's wall clock minus the cloud's.
    @NullCodable package var clock_offset_ms: Int64?
    /// If this meterd serves the cloud itself: the command line that joins another host.
    @NullCodable package var serving: String?
    /// If it is to serve the cloud and cannot: why, and what to do. It is tried again each 10 s.
    @NullCodable package var unserved: String?
    /// What keeps it from working, and what to do.
    @NullCodable package var error: String?

    package init(joined: Bool, urls: [String] = [], host_id: String, host_name: String, connected: Bool = false) {
        self.joined = joined
        self.urls = urls
        self.host_id = host_id
        self.host_name = host_name
        self.connected = connected
    }
}
