/// An error in the broker's settings.
package struct HomeAutomationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Contains the faulty value, but never a password.
    package var message: String
    package var next: String

    package init(_ message: String, next: String) {
        self.message = message
        self.next = next
    }

    package var description: String { "\(message) (\(next))" }
}
