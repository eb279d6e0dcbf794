package import Domain
import GatewayAPI
package import MeterCodec

extension ConnectRequest {
    /// Equivalent command of meterctl.
    var words: String {
        var words = "connect"
        if takeover == true { words += " --takeover" }
        if queue_ms != nil { words += " --queue" }
        if no_lease == true { words += " --no-lease" }
        if let over { words += " --over \(over)" }
        return words
    }
}

extension MeterDirectory {
    /// Returns the profile of the meter's current driver; without one, the profile of the model's driver.
    ///
    /// - Parameter model: name that users see; nil if unknown.
    package func profile(of id: MeterID?, model: String?) async -> MeterProfile? {
        if let id, let profile = await session(of: id)?.profile { return profile }
        let catalogue = dependencies.catalogue
        return catalogue.models.first { $0.displayName == model }.flatMap { catalogue.driver(for: $0)?.profile }
    }

    /// Sends a command, records it in the meter's log, and returns the session.
    ///
    /// - Throws: `noSuchMeter`, `ambiguousMeter`, and the errors of `DeviceSession.perform`.
    @discardableResult
    package func command(
        _ command: MeterCommand, _ reference: String, by author: LogAuthor
    ) async throws(GatewayError) -> DeviceSession {
        let session = try await session(reference)
        try await logging("\(command)", of: session.id, called: reference, by: author) { () throws(GatewayError) in
            try await session.perform(command)
        }
        return session
    }
}
