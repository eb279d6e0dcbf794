import Domain
package import GatewayAPI

/// Why the gateway did not do what a person asked. Travels to the command line as it is.
package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: ErrorCode
    /// What failed, with which value.
    package var message: String
    /// What to do next.
    package var next: String

    package init(_ code: ErrorCode, _ message: String, next: String) {
        self.code = code
        self.message = message.bounded
        self.next = next.bounded
    }

    package var description: String { "\(message) (\(next))" }

    package var body: ErrorBody { ErrorBody(code: code, message: message, next: next) }
}

extension GatewayError {
    /// The same in the words of who asked: what they called the meter is what it is called, in commands to copy too.
    ///
    /// - Parameter reference: as it was typed. The path of a port names a meter to `connect` alone, so it stays its id.
    func calling(_ id: MeterID, _ reference: String) -> GatewayError {
        guard !reference.hasPrefix("/") else { return self }
        return GatewayError(
            code, message.replacing("\(id)", with: reference), next: next.replacing("\(id)", with: reference.shellWord))
    }

    /// The store's own words, passed on.
    package init(_ error: any Error, doing what: String) {
        switch error {
        case let known as GatewayError: self = known
        case let store as StoreError: self.init(.store, "\(what): \(store.message)", next: "nothing stored was lost")
        default: self.init(.internalError, "\(what): \(error)", next: "see the log of meterd")
        }
    }
}
