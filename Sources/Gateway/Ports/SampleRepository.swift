package import Domain

/// Keeps readings.
package protocol SampleRepository: Sendable {
    /// Writes all chunks in one transaction, or none, and with them what was counted of meters.
    func append(_ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]) async throws
    /// The readings of a meter in a span of time, oldest first, at most `limit` of them.
    func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) async throws -> [StoredSample]
    /// Deletes whole chunks that end before `cutoff`, then the oldest ones until the store is at most `maxBytes` in
    /// size.
    ///
    /// - Returns: number of readings deleted.
    func prune(before cutoff: WallTime, maxBytes: Int64) async throws -> Int
    /// Deletes all readings of a meter, including aggregated ones.
    ///
    /// - Returns: number of single readings deleted.
    func deleteReadings(of meter: MeterID) async throws -> Int
}

extension SampleRepository {
    /// Writes chunks alone.
    package func append(_ chunks: [SampleChunk]) async throws { try await append(chunks, keeping: [:]) }
}
