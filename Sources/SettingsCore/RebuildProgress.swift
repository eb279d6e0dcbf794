/// How far the scan of stored records by the present rule has come (Docs/SettingsAndRebuild.md#rebuild).
///
/// Kept in the database whose records it speaks of, written in the transaction of the step that it counts.
package struct RebuildProgress: Hashable, Sendable {
    /// Of the rule by which the scan goes (`RebuildPlan.version`).
    package var version: Int
    /// The last record that was looked at; nil means none yet. The scan goes by type (`RebuildPlan.types`), then by
    /// name.
    package var cursor: RecordKey?
    /// Records looked at so far.
    package var scanned: Int
    /// Of them, those that were folded into another one.
    package var folded: Int
    /// The scan came to the end. Starts again from the beginning when a record of an older form arrives from outside
    /// the normalising ingest, or the rule changes.
    package var isComplete: Bool

    package init(
        version: Int, cursor: RecordKey? = nil, scanned: Int = 0, folded: Int = 0, isComplete: Bool = false
    ) {
        self.version = version
        self.cursor = cursor
        self.scanned = scanned
        self.folded = folded
        self.isComplete = isComplete
    }
}

/// What a rebuild would do, for `meterctl rebuild --dry-run`.
package struct RebuildReport: Hashable, Sendable {
    /// One record that would be folded into another.
    package struct Example: Hashable, Sendable {
        package var from: RecordKey
        package var into: RecordKey
        /// Properties whose value the canonical record takes over, in order of name.
        package var moved: [String]
        /// Properties of which it has a younger value already.
        package var kept: [String]

        package init(from: RecordKey, into: RecordKey, moved: [String], kept: [String]) {
            self.from = from
            self.into = into
            self.moved = moved
            self.kept = kept
        }
    }

    /// Records looked at.
    package var scanned = 0
    /// Records that would be folded.
    package var folded = 0
    /// The first few of them.
    package var examples: [Example] = []

    /// No report lists more than this many.
    package static let examplesMax = 20

    package init() {}
}
