package import Domain

package protocol SampleRepository: Sendable {
    /// Writes readings and counts in one transaction.
    func append(_ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]) async throws
    /// Returns single readings, oldest first, at most `limit`.
    func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) async throws -> [StoredSample]
    /// Deletes whole chunks that end before `cutoff`, then the oldest until the store has at most `maxBytes`. Returns
    /// the number of deleted readings.
    func prune(before cutoff: WallTime, maxBytes: Int64) async throws -> Int
    /// Deletes a meter's readings, single and aggregated. Returns the number of deleted single readings.
    func deleteReadings(of meter: MeterID) async throws -> Int
}

extension SampleRepository {
    package func append(_ chunks: [SampleChunk]) async throws { try await append(chunks, keeping: [:]) }
}
