package import CloudAPI

/// What a host needs to reach its cloud: where it is, how to know it, and the token that says who asks.
package struct CloudMembership: Hashable, Sendable {
    /// One or several copies of one cloud, tried in turn. `https://host:port`, or `http://` on this machine only.
    package var urls: [String]
    package var zone: String
    package var token: Secret
    /// How to know a self-made certificate. nil means the system's trust roots judge it.
    package var pin: CertificatePin?
    /// Where the zone is another than the last, it is told others' records too.
    package var bringsAll: Bool

    package init(urls: [String], zone: String, token: Secret, pin: CertificatePin?, bringsAll: Bool = false) {
        self.urls = urls
        self.zone = zone
        self.token = token
        self.pin = pin
        self.bringsAll = bringsAll
    }
}

/// A text that no log and no error shows.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }

    /// Visible ASCII, as a header takes it. The HTTP library would show one that it refuses in its error.
    var isSendable: Bool {
        !text.isEmpty && text.utf8.count <= 4096 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
