/// `GET /v1/web` on the control socket, and the answer to enabling and disabling. Unknown or not applicable is null.
package struct WebStatus: Codable, Hashable, Sendable {
    /// Whether the page is served at all.
    package var serving: Bool
    /// The network can reach it, and everybody has to log in.
    package var enabled: Bool
    /// The address it listens on, `address:port`.
    package var listen: String
    /// The addresses for a browser, best first. Never contains the token.
    package var urls: [String]
    /// Why it is not served.
    @NullCodable package var error: String?
    /// What to do about that.
    @NullCodable package var next: String?
    /// Null where the page is served over plain HTTP alone.
    @NullCodable package var tls: WebTLSStatus?
    /// What people should know about how it is open to the network.
    @NullCodable package var warning: String?
    /// The name under which the network finds the page by mDNS.
    @NullCodable package var announced: String?
    /// Why it is not announced although the network can reach it.
    @NullCodable package var announcement_error: String?
    /// What to do about that.
    @NullCodable package var announcement_next: String?
    /// Only in the answer to enabling: the token that the login asks for. A secret, shown only this once.
    package var token: String?

    package init(serving: Bool, enabled: Bool, listen: String, urls: [String]) {
        self.serving = serving
        self.enabled = enabled
        self.listen = listen
        self.urls = urls
    }
}

/// The certificate of the web page.
package struct WebTLSStatus: Codable, Hashable, Sendable {
    /// meterd makes and renews it.
    package var self_signed: Bool
    /// SHA-256 of the certificate in use. Null if there is none.
    @NullCodable package var fingerprint: String?
    /// When it ends.
    @NullCodable package var ends: String?
    /// Whole days until then; below zero once it has ended.
    @NullCodable package var days_left: Int?
    /// Why the configured files are not in use.
    @NullCodable package var error: String?

    package init(self_signed: Bool, fingerprint: String?, ends: String?, days_left: Int?, error: String?) {
        self.self_signed = self_signed
        self.fingerprint = fingerprint
        self.ends = ends
        self.days_left = days_left
        self.error = error
    }
}

/// `POST /v1/web` on the control socket: opens the page to the network.
package struct WebEnableRequest: Codable, Hashable, Sendable {
    /// `address:port`; null or absent for all addresses and the configuration's port.
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
        /// Only this machine can reach the page.
        case none
        case needed
        case done
    }

    package var login: Login
    /// Whether the client may make changes, rather than only view.
    package var may_change: Bool
    /// Why nobody may make changes here, and what allows it. Only inside Home Assistant.
    package var reason: String?

    package init(login: Login, may_change: Bool, reason: String? = nil) {
        self.login = login
        self.may_change = may_change
        self.reason = reason
    }
}
