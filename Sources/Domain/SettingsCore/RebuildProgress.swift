/// Progress of the scan for records to fold (Docs/SettingsAndRebuild.md#rebuild), saved in the transaction of each
/// step.
package struct RebuildProgress: Hashable, Sendable {
    package var version: Int
    /// Last record examined, in the order of `RebuildPlan.types`, then of names.
    package var cursor: RecordKey?
    package var scanned = 0
    package var folded = 0
    /// Reset when the fold rules change, or when a record with an older form of its name is stored without `Ingest`.
    package var isComplete = false

    package init(version: Int) { self.version = version }
}
