package struct BrokerTrouble: Hashable, Sendable {
    /// The failure, and the value that caused it; never a password.
    package var message: String
    package var next: String?

    package init(_ message: String, next: String? = nil) {
        self.message = message
        self.next = next
    }
}
