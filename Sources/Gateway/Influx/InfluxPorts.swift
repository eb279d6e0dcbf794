package import Domain

package protocol PointSink: Sendable {
    /// - Parameter lines: line protocol with times in milliseconds.
    func send(_ lines: [UInt8]) async -> SendAnswer
}

/// Saves the time up to which each meter's readings were sent.
package protocol SendJournal: Sendable {
    /// Returns the saved times; empty if nothing was saved.
    func load() throws -> [MeterID: WallTime]
    /// Saves the times of all given meters or none.
    func save(_ positions: [MeterID: WallTime]) throws
}

package protocol StoredMetersRepository: Sendable {
    /// Returns the meters whose readings this host measured, without imports.
    func storedMeters() async throws -> [MeterID]
}
