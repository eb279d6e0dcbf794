/// Reason for a missing link to the broker.
package struct BrokerTrouble: Hashable, Sendable {
    /// Description of the failure with its value; never a password.
    package var message: String
    /// Advice, if any.
    package var next: String?

    package init(_ message: String, next: String? = nil) {
        self.message = message
        self.next = next
    }
}
