package import Cloud
package import MeterModel
package import SettingsCore

/// What tests ask in few words.
extension CloudEngine {
    /// For records of which none changes an alias: no lease counts as over.
    package func modify(_ records: [SyncRecord], in zone: String, now: WallTime) async throws -> [RecordOutcome] {
        try await modify(records, in: zone, now: now, leaseTime: .origin)
    }

    /// Deletes tombstones that came before `time`, those that came since the last call too.
    package func purgeTombstones(before time: WallTime) async throws -> Int {
        try await purgeTombstones(before: time, dating: time + .milliseconds(-1))
    }
}
