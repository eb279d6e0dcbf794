/// Why there is no link to the broker, in words, and what to do about it.
package struct BrokerTrouble: Hashable, Sendable {
    /// What failed, with which value. Never a password.
    package var message: String
    /// What a person can do, if anything.
    package var next: String?

    package init(_ message: String, next: String? = nil) {
        self.message = message
        self.next = next
    }
}
