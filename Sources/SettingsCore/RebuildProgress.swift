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

/// What a rebuild would do, for `meterctl rebuild --dry-run`.
package struct RebuildReport: Hashable, Sendable {
    /// One record that would be folded into another.
    package struct Example: Hashable, Sendable {
        package var from: RecordKey
        package var into: RecordKey
        /// Properties whose value the canonical record takes over, sorted by name.
        package var moved: [String]
        /// Properties of which the canonical record already has a younger value, sorted by name.
        package var kept: [String]

        package init(from: RecordKey, into: RecordKey, moved: [String], kept: [String]) {
            self.from = from
            self.into = into
            self.moved = moved
            self.kept = kept
        }
    }

    /// Number of records examined.
    package var scanned = 0
    /// Number of records that would be folded.
    package var folded = 0
    /// The first few of those.
    package var examples: [Example] = []

    /// The most examples that a report lists.
    package static let examplesMax = 20

    package init() {}
}
