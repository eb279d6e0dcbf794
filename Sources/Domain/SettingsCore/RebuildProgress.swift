/// How far the scan of stored records under the present rule has come (Docs/SettingsAndRebuild.md#rebuild).
///
/// Kept in the database of the records that it is about, and written in the transaction of the step that it counts.
package struct RebuildProgress: Hashable, Sendable {
    /// Version of the rule that the scan applies (`RebuildPlan.version`).
    package var version: Int
    /// The last record examined, if any. The scan goes by type (`RebuildPlan.types`), then by name.
    package var cursor: RecordKey?
    /// Number of records examined so far.
    package var scanned = 0
    /// Number of those that were folded into another record.
    package var folded = 0
    /// Whether the scan has reached the end. It starts again from the beginning when a record of an older form arrives
    /// from outside the normalising ingest, or the rule changes.
    package var isComplete = false

    /// At its beginning.
    package init(version: Int) { self.version = version }
}
