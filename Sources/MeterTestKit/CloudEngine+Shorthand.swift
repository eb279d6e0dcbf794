package import Cloud
package import Domain

extension CloudEngine {
    /// Writes records that change no alias. Passes the origin of the monotonic clock as `leaseTime`, at which no lease
    /// has expired.
    package func modify(_ records: [SyncRecord], in zone: String, now: WallTime) async throws -> [RecordOutcome] {
        try await modify(records, in: zone, now: now, leaseTime: .origin)
    }

    /// Deletes tombstones older than `time`, even those added since the preceding purge.
    package func purgeTombstones(before time: WallTime) async throws -> Int {
        try await purgeTombstones(before: time, dating: time + .milliseconds(-1))
    }
}
