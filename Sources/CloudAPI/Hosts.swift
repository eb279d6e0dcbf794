/// A host in the console's list and in the answer to `POST …/hosts/{host}/retire`.
package struct HostBody: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    package var tokens: Int
    package var leases: [String]
    /// Whether the host has an open event stream to the answering replica.
    package var listening: Bool
    /// `full` or `readOnly` (`HostRole`), from one of its valid access tokens. Nil without an access token, and from a
    /// cloud without roles.
    package var role: String?

    package init(id: String, name: String, tokens: Int, leases: [String], listening: Bool) {
        self.id = id
        self.name = name
        self.tokens = tokens
        self.leases = leases
        self.listening = listening
    }
}
