package import CloudAPI

/// Data with which a host reaches its cloud.
package struct CloudMembership: Hashable, Sendable {
    /// Addresses of replicas of one cloud, tried in turn. `https://host:port`, or `http://` on this machine only.
    package var urls: [String]
    package var zone: String
    package var token: Secret
    /// Pin of a self-signed certificate. If nil, the system's trust roots decide.
    package var pin: CertificatePin?
    /// Whether to send others' records too, if the zone is not the last one.
    package var bringsAll: Bool

    package init(urls: [String], zone: String, token: Secret, pin: CertificatePin?, bringsAll: Bool = false) {
        self.urls = urls
        self.zone = zone
        self.token = token
        self.pin = pin
        self.bringsAll = bringsAll
    }

    /// Whether the addresses and the pin belong to the same cloud, so that it may see this membership's token.
    package func isOfCloud(at urls: [String], pin: CertificatePin?) -> Bool {
        self.pin == pin && (pin != nil || !Set(self.urls).isDisjoint(with: urls))
    }
}

/// A text that never appears in logs and errors.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }

    /// Whether it is visible ASCII, as required in a header. The HTTP library's error would show a refused secret.
    var isSendable: Bool {
        !text.isEmpty && text.utf8.count <= 4096 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
