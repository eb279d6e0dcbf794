package import Domain

package protocol PointSink: Sendable {
    /// - Parameter lines: InfluxDB line protocol with times in milliseconds.
    func send(_ lines: [UInt8]) async -> SendAnswer
}

/// Saves, for each meter, the time up to which its readings were sent.
package protocol SendJournal: Sendable {
    /// Empty if nothing was saved.
    func load() throws -> [MeterID: WallTime]
    /// Saves all given times or none.
    func save(_ positions: [MeterID: WallTime]) throws
}

package protocol StoredMetersRepository: Sendable {
    /// Returns the meters with stored readings, except those with only imported ones.
    func storedMeters() async throws -> [MeterID]
}
