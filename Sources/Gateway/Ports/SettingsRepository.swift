package import Domain
package import GatewayAPI

/// The settings as a host keeps them: records that merge with those of other hosts.
///
/// Each method is one durable transaction. A write stamps with the host's persisted clock, merges, puts what changed
/// into the outbox and what was overwritten into the history, all within it.
package protocol SettingsRepository: Sendable {
    /// This host's id, created once and kept.
    func hostIdentity() async throws -> HostID
    /// - Returns: the record, if there is one; a tombstone if it was deleted.
    func record(_ key: RecordKey) async throws -> SyncRecord?
    /// All records of a type by name, including tombstones.
    func records(of type: RecordType) async throws -> [SyncRecord]
    /// Writes properties, in the order given, each under its key's normal form. All are written, or none.
    ///
    /// - Throws: `StoreError` for a name or value that cannot be kept (`SyncRecord.fault`), and if the file fails.
    func write(_ changes: [SettingChange], at moment: HostMoment) async throws -> MergeOutcome
    /// Deletes the record with exactly this name, which a later write revives. Deleting a missing record changes
    /// nothing.
    func delete(_ key: RecordKey, at moment: HostMoment) async throws -> MergeOutcome
    /// Overwritten values, the latest loss first.
    ///
    /// - Parameter property: limits the result to this property.
    func history(of key: RecordKey, property: String?, limit: Int) async throws -> [HistoryEntry]

    // MARK: Rebuild (Docs/SettingsAndRebuild.md#rebuild)

    /// How far the rebuild by `RebuildPlan.version` has come. Progress stored by another version counts as not begun.
    func rebuildProgress() async throws -> RebuildProgress
    /// Examines the next records, folds those of an older form, and stores the progress with them.
    ///
    /// - Parameter recordsMax: number of records to examine, at least 1.
    /// - Returns: the progress afterwards, and what changed.
    func rebuildStep(recordsMax: Int, at now: WallTime) async throws -> (progress: RebuildProgress, merge: MergeOutcome)
    /// What a rebuild from the beginning would do. Writes nothing.
    func rebuildReport() async throws -> RebuildReportBody
}

/// A change of one property, made by a person or program here.
package struct SettingChange: Hashable, Sendable {
    package var key: RecordKey
    package var property: String
    /// The new value. A null resets to the default, which is a write like any other.
    package var value: SettingValue

    package init(key: RecordKey, property: String, value: SettingValue) {
        self.key = key
        self.property = property
        self.value = value
    }
}

/// The time of an action on this host, by both of its clocks.
///
/// The store corrects the calendar by what it last learned about the cloud's (`SyncRepository.correct`). The boot-time
/// clock later tells how old an entry of the outbox really is, if the calendar turns out to have been wrong.
package struct HostMoment: Hashable, Sendable {
    package var wall: WallTime
    package var sinceBoot: MonotonicTime

    package init(wall: WallTime, sinceBoot: MonotonicTime) {
        self.wall = wall
        self.sinceBoot = sinceBoot
    }
}

/// An overwritten value, and what became of it.
package struct HistoryEntry: Hashable, Sendable {
    package var overwritten: OverwrittenValue
    /// When this host learned of it, by its own calendar.
    package var at: WallTime

    package init(overwritten: OverwrittenValue, at: WallTime) {
        self.overwritten = overwritten
        self.at = at
    }
}
