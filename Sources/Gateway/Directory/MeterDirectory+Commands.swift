package import Domain
import GatewayAPI
package import MeterCodec

extension ConnectRequest {
    /// As people type it.
    var words: String {
        var words = "connect"
        if takeover == true { words += " --takeover" }
        if queue_ms != nil { words += " --queue" }
        if no_lease == true { words += " --no-lease" }
        if let over { words += " --over \(over)" }
        return words
    }
}

/// What people and programs have this host's meters do.
extension MeterDirectory {
    /// What a meter can do: what its own driver says, or that of its model where it is not here.
    ///
    /// - Parameter model: as people see it; nil if unknown.
    package func profile(of id: MeterID?, model: String?) async -> MeterProfile? {
        if let id, let profile = await session(of: id)?.profile { return profile }
        let catalogue = dependencies.catalogue
        return catalogue.models.first { $0.displayName == model }.flatMap { catalogue.driver(for: $0)?.profile }
    }

    /// Sends a command to a meter, and puts it into the meter's log.
    ///
    /// - Returns: the meter's session.
    /// - Throws: `noSuchMeter`, `ambiguousMeter`, and what `DeviceSession.perform` does.
    @discardableResult
    package func command(
        _ command: MeterCommand, _ reference: String, by author: LogAuthor
    ) async throws(GatewayError) -> DeviceSession {
        let session = try await session(reference)
        try await log.logging("\(command)", of: session.id, by: author) { () throws(GatewayError) in
            do throws(GatewayError) {
                try await session.perform(command)
            } catch {
                throw error.calling(session.id, reference)
            }
        }
        return session
    }
}
