/// A host of the zone, in the console's list and in the answer to `POST …/hosts/{host}/retire`.
package struct HostBody: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    /// Number of valid tokens.
    package var tokens: Int
    /// Meters whose leases it holds.
    package var leases: [String]
    /// It has an event stream open to the copy that answers.
    package var listening: Bool
    /// What it may do with one of its valid tokens: `full` or `readOnly` (`HostRole`). Nil without a token, and from a
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
