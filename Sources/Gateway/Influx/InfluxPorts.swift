package import Domain

package protocol PointSink: Sendable {
    /// - Parameter lines: line protocol with times in milliseconds.
    func send(_ lines: [UInt8]) async -> SendAnswer
}

/// Saves the time up to which each meter's readings were sent.
package protocol SendJournal: Sendable {
    /// Empty if nothing was saved.
    func load() throws -> [MeterID: WallTime]
    /// Saves all or nothing.
    func save(_ positions: [MeterID: WallTime]) throws
}

package protocol StoredMetersRepository: Sendable {
    /// Returns the meters measured by this host; no imports.
    func storedMeters() async throws -> [MeterID]
}
