/// `GET /v1/web` on the control socket, and the answer to enabling and disabling. Unknown or not applicable is null.
package struct WebStatus: Codable, Hashable, Sendable {
    /// The page is served at all.
    package var serving: Bool
    /// The network reaches it, and everybody has to log in.
    package var enabled: Bool
    /// Where it listens, `address:port`.
    package var listen: String
    /// Where a browser finds it, best first. Never holds the token.
    package var urls: [String]
    /// The chart library is installed; without it the page has no charts.
    package var charts: Bool
    /// Why it is not served.
    @NullCodable package var error: String?
    /// What to do about that.
    @NullCodable package var next: String?
    /// Only in the answer to enabling: what the login asks for. A secret, shown this once.
    package var token: String?

    package init(serving: Bool, enabled: Bool, listen: String, urls: [String], charts: Bool) {
        self.serving = serving
        self.enabled = enabled
        self.listen = listen
        self.urls = urls
        self.charts = charts
    }
}

/// `POST /v1/web` on the control socket: opens the page to the network.
package struct WebEnableRequest: Codable, Hashable, Sendable {
    /// `address:port`; null or absent: all addresses, and the port of the configuration.
    package var listen: String?

    package init(listen: String? = nil) { self.listen = listen }
}

/// `POST /v1/session` on the web page's listener.
package struct LoginRequest: Codable, Sendable {
    /// A secret.
    package var token: String

    package init(token: String) { self.token = token }
}

/// `GET /v1/session` on the web page's listener, and the answer to logging in and out.
package struct SessionBody: Codable, Hashable, Sendable {
    package enum Login: String, Codable, Hashable, Sendable {
        /// Only this machine reaches the page.
        case none
        case needed
        case done
    }

    package var login: Login
    /// Whoever asks may change something, and not only look.
    package var may_change: Bool

    package init(login: Login, may_change: Bool) {
        self.login = login
        self.may_change = may_change
    }
}
