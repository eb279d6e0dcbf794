package import CloudAPI

package struct CloudMembership: Hashable, Sendable {
    /// Addresses of one cloud's replicas, tried in turn: `https://host:port`, or `http://` on this machine only.
    package var urls: [String]
    package var zone: String
    package var token: Secret
    /// Pin of a self-signed certificate; nil to rely on the system's trust roots.
    package var pin: CertificatePin?
    /// Whether to push other hosts' records too, if the zone differs from the previous one.
    package var bringsAll: Bool

    package init(urls: [String], zone: String, token: Secret, pin: CertificatePin?, bringsAll: Bool = false) {
        self.urls = urls
        self.zone = zone
        self.token = token
        self.pin = pin
        self.bringsAll = bringsAll
    }

    /// Returns whether the addresses and the pin are of this membership's cloud, which may receive its token.
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

    /// Whether the text is visible ASCII, as a header requires. Check this first: the HTTP library's error message
    /// would contain an invalid secret.
    var isSendable: Bool {
        !text.isEmpty && text.utf8.count <= 4096 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
