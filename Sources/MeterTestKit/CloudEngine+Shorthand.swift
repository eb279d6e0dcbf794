package import Cloud
package import Domain

extension CloudEngine {
    /// Writes records that change no alias. Passes the origin of all clocks as `leaseTime`, so that no lease counts as
    /// expired.
    package func modify(_ records: [SyncRecord], in zone: String, now: WallTime) async throws -> [RecordOutcome] {
        try await modify(records, in: zone, now: now, leaseTime: .origin)
    }

    /// Deletes tombstones older than `time`, including those added since the last call.
    package func purgeTombstones(before time: WallTime) async throws -> Int {
        try await purgeTombstones(before: time, dating: time + .milliseconds(-1))
    }
}
