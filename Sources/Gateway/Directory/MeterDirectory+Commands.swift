import GatewayAPI
package import MeterModel

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
            try await session.perform(command)
        }
        return session
    }
}
