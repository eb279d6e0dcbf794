package import Cloud
package import Domain

/// Short forms of what tests often ask.
extension CloudEngine {
    /// Writes records none of which changes an alias; no lease counts as over.
    package func modify(_ records: [SyncRecord], in zone: String, now: WallTime) async throws -> [RecordOutcome] {
        try await modify(records, in: zone, now: now, leaseTime: .origin)
    }

    /// Deletes tombstones that came before `time`, including those that came since the last call.
    package func purgeTombstones(before time: WallTime) async throws -> Int {
        try await purgeTombstones(before: time, dating: time + .milliseconds(-1))
    }
}
