/// Progress of the scan of stored records (Docs/SettingsAndRebuild.md#rebuild).
///
/// The store writes it to the records' database, in the transaction of each step.
package struct RebuildProgress: Hashable, Sendable {
    /// Version of the applied rules (`RebuildPlan.version`).
    package var version: Int
    /// The last record examined. The scan proceeds by type (`RebuildPlan.types`), then by name.
    package var cursor: RecordKey?
    package var scanned = 0
    /// Number of records folded into another one.
    package var folded = 0
    /// Whether the scan has reached the end. It restarts when the rules change, or when a record with an older form of
    /// its name enters the store without `Ingest`.
    package var isComplete = false

    package init(version: Int) { self.version = version }
}
