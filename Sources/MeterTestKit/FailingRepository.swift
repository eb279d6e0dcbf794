package import Domain
package import Gateway

/// A store that always fails, as with a full disk or a damaged file.
package struct FailingRepository: MeterRepository, SampleRepository {
    let error: StoreError

    package init(_ error: StoreError = StoreError(.diskFull, "no space is left in /var/lib/meterd")) {
        self.error = error
    }

    package func meters() throws -> [KnownMeter] { throw error }
    package func save(_ meter: KnownMeter) throws { throw error }
    package func forget(_ meter: MeterID) throws { throw error }
    package func formerIDs() throws -> [MeterID: MeterID] { throw error }
    package func deleteReadings(of meter: MeterID) throws -> Int { throw error }
    package func append(_ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]) throws { throw error }
    package func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) throws -> [StoredSample] {
        throw error
    }
    package func prune(before cutoff: WallTime, maxBytes: Int64) throws -> Int { throw error }
}
