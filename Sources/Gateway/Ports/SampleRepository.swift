package import Domain

package protocol SampleRepository: Sendable {
    /// Writes all chunks and energy counts in one transaction, or nothing.
    func append(_ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]) async throws
    /// Returns a meter's readings in a time span, oldest first, at most `limit`.
    func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) async throws -> [StoredSample]
    /// Deletes whole chunks that end before `cutoff`, then the oldest until the store has at most `maxBytes`. Returns
    /// the number of readings deleted.
    func prune(before cutoff: WallTime, maxBytes: Int64) async throws -> Int
    /// Deletes all readings of a meter, also aggregated ones. Returns the number of single readings deleted.
    func deleteReadings(of meter: MeterID) async throws -> Int
}

extension SampleRepository {
    package func append(_ chunks: [SampleChunk]) async throws { try await append(chunks, keeping: [:]) }
}
