package import MeterModel
package import SettingsCore
package import SyncCore

/// The settings as a host keeps them: records that merge with those of other hosts.
///
/// Each method is one durable transaction. A write stamps with the host's persisted clock, merges, puts what changed
/// into the outbox and what was overwritten into the history, all within it.
package protocol SettingsRepository: Sendable {
    /// This host's id, made once and kept.
    func hostIdentity() async throws -> HostID
    /// - Returns: nil where there is none; a tombstone where it was deleted.
    func record(_ key: RecordKey) async throws -> Record?
    /// By name, tombstones too.
    func records(of type: RecordType) async throws -> [Record]
    /// Writes properties, in the order given, each under its key's normal form. Either all are written or none.
    ///
    /// - Throws: `StoreError` for a name or value that cannot be kept (`Record.fault`), and where the file fails.
    func write(_ changes: [SettingChange], at moment: HostMoment) async throws -> MergeOutcome
    /// Deletes the record by exactly this name, which a later write revives. Deleting one that is not there changes
    /// nothing.
    func delete(_ key: RecordKey, at moment: HostMoment) async throws -> MergeOutcome
    /// What was overwritten, the latest loss first.
    ///
    /// - Parameter property: of this one only; nil means of all.
    func history(of key: RecordKey, property: String?, limit: Int) async throws -> [HistoryEntry]

    // MARK: Rebuild (Docs/SettingsAndRebuild.md#rebuild)

    /// How far the rebuild by `RebuildPlan.version` has come. A stored one of another version counts as not begun.
    func rebuildProgress() async throws -> RebuildProgress
    /// Looks at the next records, folds those of an older form, and stores the progress with them.
    ///
    /// - Parameter recordsMax: how many to look at, at least 1.
    /// - Returns: the progress after it, and the records that are not what they were.
    func rebuildStep(recordsMax: Int, at now: WallTime) async throws -> (
        progress: RebuildProgress, changed: [RecordKey]
    )
    /// What a rebuild from the beginning would do. Writes nothing.
    func rebuildReport() async throws -> RebuildReport
}

/// One property that a person or program here sets.
package struct SettingChange: Hashable, Sendable {
    package var key: RecordKey
    package var property: String
    /// null: back to the default, which is a write like any other.
    package var value: SettingValue

    package init(key: RecordKey, property: String, value: SettingValue) {
        self.key = key
        self.property = property
        self.value = value
    }
}

/// When something is done here, by both of the host's clocks.
///
/// The store corrects the calendar by what it last learned of the cloud's (`SyncRepository.correct`). The boot-time
/// clock tells later how old an entry of the outbox really is, where the calendar turns out to have been wrong.
package struct HostMoment: Hashable, Sendable {
    package var wall: WallTime
    package var sinceBoot: MonotonicTime

    package init(wall: WallTime, sinceBoot: MonotonicTime) {
        self.wall = wall
        self.sinceBoot = sinceBoot
    }
}

/// A value that is no more, and what became of it.
package struct HistoryEntry: Hashable, Sendable {
    package var overwritten: OverwrittenValue
    /// When this host learned of it, by its own calendar.
    package var at: WallTime

    package init(overwritten: OverwrittenValue, at: WallTime) {
        self.overwritten = overwritten
        self.at = at
    }
}
