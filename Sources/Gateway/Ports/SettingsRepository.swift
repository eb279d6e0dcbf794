package import Domain
package import GatewayAPI

/// Settings of a host: records that merge with those of other hosts.
///
/// Each method is one durable transaction. A write takes a stamp from the host's persisted clock, merges, queues
/// changes in the outbox and moves overwritten values to the history.
package protocol SettingsRepository: Sendable {
    /// This host's id, created once and kept.
    func hostIdentity() async throws -> HostID
    /// - Returns: nil if missing; a tombstone if deleted.
    func record(_ key: RecordKey) async throws -> SyncRecord?
    /// Returns records sorted by name, including tombstones.
    func records(of type: RecordType) async throws -> [SyncRecord]
    /// Writes all properties or none, in the given order, each under its key's normal form.
    ///
    /// - Throws: `StoreError` for an invalid name or value (`SyncRecord.fault`), and if the file fails.
    func write(_ changes: [SettingChange], at moment: HostMoment) async throws -> MergeOutcome
    /// Deletes the record with exactly this name. A later write revives it. A missing record is no error.
    func delete(_ key: RecordKey, at moment: HostMoment) async throws -> MergeOutcome
    /// Returns overwritten values, most recently overwritten first.
    ///
    /// - Parameter property: nil for all properties.
    func history(of key: RecordKey, property: String?, limit: Int) async throws -> [HistoryEntry]

    // MARK: Rebuild (Docs/SettingsAndRebuild.md#rebuild)

    /// Returns the progress of the rebuild by `RebuildPlan.version`. Progress of another version counts as not begun.
    func rebuildProgress() async throws -> RebuildProgress
    /// Examines the next records, and merges each record under an older form of its name into the record under the
    /// current form. Stores the progress in the same transaction.
    ///
    /// - Parameter recordsMax: at least 1.
    func rebuildStep(recordsMax: Int, at now: WallTime) async throws -> (progress: RebuildProgress, merge: MergeOutcome)
    /// Returns the changes that a complete rebuild would make, without writing them.
    func rebuildReport() async throws -> RebuildReportBody
}

package struct SettingChange: Hashable, Sendable {
    package var key: RecordKey
    package var property: String
    /// Null resets to the default.
    package var value: SettingValue

    package init(key: RecordKey, property: String, value: SettingValue) {
        self.key = key
        self.property = property
        self.value = value
    }
}

/// Time of an event by this host's wall clock and boot-time clock.
///
/// The store corrects the wall clock by the cloud's (`SyncRepository.correct`). If the wall clock was wrong, the
/// boot-time clock gives the true age of an outbox entry.
package struct HostMoment: Hashable, Sendable {
    package var wall: WallTime
    package var sinceBoot: MonotonicTime

    package init(wall: WallTime, sinceBoot: MonotonicTime) {
        self.wall = wall
        self.sinceBoot = sinceBoot
    }
}

package struct HistoryEntry: Hashable, Sendable {
    package var overwritten: OverwrittenValue
    /// Wall-clock time at which this host received the replacement.
    package var at: WallTime

    package init(overwritten: OverwrittenValue, at: WallTime) {
        self.overwritten = overwritten
        self.at = at
    }
}
