/// An error in the broker's settings.
package struct HomeAutomationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Description of the failure with the faulty value, but never with a password.
    package var message: String
    package var next: String

    package init(_ message: String, next: String) {
        self.message = message
        self.next = next
    }

    package var description: String { "\(message) (\(next))" }
}
