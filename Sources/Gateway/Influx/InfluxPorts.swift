package import Domain

/// Where points go.
package protocol PointSink: Sendable {
    /// - Parameter lines: in the line protocol, with times in milliseconds.
    func send(_ lines: [UInt8]) async -> SendAnswer
}

/// Where it is written down up to when readings were sent.
package protocol SendJournal: Sendable {
    /// Empty where nothing was written down.
    func load() throws -> [MeterID: WallTime]
    /// All of it, or nothing.
    func save(_ positions: [MeterID: WallTime]) throws
}

/// Tells of which meters readings are stored.
package protocol StoredMetersRepository: Sendable {
    /// Those that this host measured; not what files brought.
    func storedMeters() async throws -> [MeterID]
}
