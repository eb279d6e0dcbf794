/// A section `[notify.NAME]` of the configuration.
package struct NotificationTarget: Hashable, Sendable {
    package enum Way: Hashable, Sendable {
        /// POST of an `AlertNoticeBody`.
        case webhook(NotificationAddress)
        /// URL of an ntfy topic.
        case ntfy(NotificationAddress)
        /// URL of a Gotify server.
        case gotify(NotificationAddress)
        /// Path of a program, then its arguments.
        case program([String])
    }

    package static let limitDefault = Duration.seconds(10)

    package var name: String
    package var way: Way
    package var tokenPath: String?
    package var limit: Duration

    package init(name: String, way: Way, tokenPath: String? = nil, limit: Duration = Self.limitDefault) {
        self.name = name
        self.way = way
        self.tokenPath = tokenPath
        self.limit = limit
    }

    package var kind: String {
        switch way {
        case .webhook: "webhook"
        case .ntfy: "ntfy"
        case .gotify: "gotify"
        case .program: "exec"
        }
    }
}

/// URL to which notices are sent. Its printed form omits the path, a secret in many webhooks.
package struct NotificationAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The complete URL, used only for requests.
    let text: String
    /// Scheme, host and port, safe to display: `https://hooks.example.org:8443`.
    package let server: String

    /// - Returns: nil unless the text is an `http://` or `https://` URL with a host, without user, password, fragment
    ///   and blank.
    package init?(_ text: String) {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }),
            text.utf8.allSatisfy({ 0x21..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") }), text.utf8.count <= 2000
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !host.isEmpty, !host.contains("@"), !text.contains("#"), host.first != ":" else { return nil }
        self.text = text
        server = scheme + host
    }

    package var description: String { server }
    package var debugDescription: String { server }
    package var customMirror: Mirror { Mirror(self, children: ["server": server]) }
}
