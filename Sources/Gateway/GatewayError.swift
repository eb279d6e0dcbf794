import Domain
package import GatewayAPI

/// Reason why the gateway refused or failed a user's request.
package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: ErrorCode
    package var message: String
    /// Next step for the user.
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
    /// Replaces the meter's id by the name that the user typed, also in suggested commands.
    ///
    /// - Parameter reference: the typed name. A port's path does not replace the id, because only `connect` accepts a
    ///   path.
    func calling(_ id: MeterID, _ reference: String) -> GatewayError {
        guard !reference.hasPrefix("/") else { return self }
        return GatewayError(
            code, message.replacing("\(id)", with: reference), next: next.replacing("\(id)", with: reference.shellWord))
    }

    package init(_ error: any Error, doing what: String) {
        switch error {
        case let known as GatewayError: self = known
        case let store as StoreError: self.init(.store, "\(what): \(store.message)", next: "nothing stored was lost")
        default: self.init(.internalError, "\(what): \(error)", next: "see the log of meterd")
        }
    }

    /// Converts the errors of `body` to `GatewayError`s that name the failed action.
    package static func doing<Value>(
        _ what: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws(GatewayError) -> Value {
        do { return try await body() } catch { throw GatewayError(error, doing: what) }
    }
}
