/// `GET /v1/web` on the control socket, and the answer to enabling and disabling.
package struct WebStatus: Codable, Hashable, Sendable {
    package var serving: Bool
    /// Whether other machines can reach the page; everybody then has to log in.
    package var enabled: Bool
    /// `address:port`.
    package var listen: String
    /// Addresses of the page for a browser, best first, without the access token.
    package var urls: [String]
    @NullCodable package var error: String?
    @NullCodable package var next: String?
    /// Null if the page uses only plain HTTP.
    @NullCodable package var tls: WebTLSStatus?
    @NullCodable package var warning: String?
    /// Name under which mDNS announces the page; null if it does not.
    @NullCodable package var announced: String?
    @NullCodable package var announcement_error: String?
    @NullCodable package var announcement_next: String?
    /// Secret access token for the login. Only in the answer to enabling.
    package var token: String?

    package init(serving: Bool, enabled: Bool, listen: String, urls: [String]) {
        self.serving = serving
        self.enabled = enabled
        self.listen = listen
        self.urls = urls
    }
}

package struct WebTLSStatus: Codable, Hashable, Sendable {
    /// Whether meterd made the certificate, which it then also renews.
    package var self_signed: Bool
    /// SHA-256 of the certificate in use.
    @NullCodable package var fingerprint: String?
    @NullCodable package var ends: String?
    /// Whole days until the certificate expires; negative afterwards.
    @NullCodable package var days_left: Int?
    /// Reason why meterd does not use the configured certificate files.
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
    /// `address:port`; null or absent for all addresses and the configured port.
    package var listen: String?

    package init(listen: String? = nil) { self.listen = listen }
}

/// `POST /v1/session` on the web page's listener.
package struct LoginRequest: Codable, Sendable {
    /// Secret access token of the page.
    package var token: String

    package init(token: String) { self.token = token }
}

/// `GET /v1/session` on the web page's listener, and the answer to login and logout.
package struct SessionBody: Codable, Hashable, Sendable {
    package enum Login: String, Codable, Hashable, Sendable {
        /// No login is needed: only this machine can reach the page, or Home Assistant has logged the person in.
        case none
        case needed
        case done
    }

    package var login: Login
    package var may_change: Bool
    /// Reason why nobody may make changes here, and the remedy. Only inside Home Assistant.
    package var reason: String?

    package init(login: Login, may_change: Bool, reason: String? = nil) {
        self.login = login
        self.may_change = may_change
        self.reason = reason
    }
}
