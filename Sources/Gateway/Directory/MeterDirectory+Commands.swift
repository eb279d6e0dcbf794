package import Domain
import GatewayAPI
package import MeterCodec

extension ConnectRequest {
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
    /// Profile of the meter's current driver; without one, that of the model's driver.
    ///
    /// - Parameter model: as shown to users; nil if unknown.
    package func profile(of id: MeterID?, model: String?) async -> MeterProfile? {
        if let id, let profile = await session(of: id)?.profile { return profile }
        let catalogue = dependencies.catalogue
        return catalogue.models.first { $0.displayName == model }.flatMap { catalogue.driver(for: $0)?.profile }
    }

    /// Returns what an alert's condition was understood as, and whether it is met now (`AlertPattern.verdict`).
    package func verdict(on rule: AlertRule) async -> String {
        let session = self.session(of: rule.meter)
        let reading = await session?.lastReading
        return rule.pattern.verdict(on: reading, await session?.machine.state)
    }

    /// Sends a command and records it in the meter's log.
    ///
    /// - Throws: `noSuchMeter`, `ambiguousMeter`, and the errors of `DeviceSession.perform`.
    @discardableResult
    package func command(
        _ command: MeterCommand, _ reference: String, by author: LogAuthor
    ) async throws(GatewayError) -> DeviceSession {
        let session = try await session(reference)
        try await logging("\(command)", of: session.id, called: reference, by: author, sending: command) {
            () throws(GatewayError) in
            try await session.perform(command)
        }
        return session
    }
}
