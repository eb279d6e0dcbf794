package import LeaseCore
package import MeterModel
package import SettingsCore

extension CloudEngine {
    /// The lease of a meter, by any of its ids. nil where there never was one.
    package func lease(of meter: String, in zone: String) async throws -> LeaseRecord? {
        try await standing(of: meter, in: zone).record
    }

    /// For records of which none changes an alias: no lease counts as over.
    package func modify(_ records: [Record], in zone: String, now: WallTime) async throws -> [RecordOutcome] {
        try await modify(records, in: zone, now: now, leaseTime: .origin)
    }
}
