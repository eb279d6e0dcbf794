/// `[notify.NAME]` in the configuration.
package struct NotificationTarget: Hashable, Sendable {
    package enum Way: Hashable, Sendable {
        /// POST of an `AlertNoticeBody`.
        case webhook(NotificationAddress)
        /// The address of a topic.
        case ntfy(NotificationAddress)
        /// The address of the server.
        case gotify(NotificationAddress)
        /// The path of a program, and its arguments.
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

/// Destination of a notice. Many webhooks have a secret path, so this prints without it.
package struct NotificationAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The complete address, for the request alone.
    let text: String
    /// `https://hooks.example.org:8443`, for people.
    package let server: String

    /// - Returns: nil unless it is `http://` or `https://` with a host, and without user, password, fragment and
    ///   blanks.
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
