package import Domain

/// Stores the date (`BelievedDate`) from which the ages of stored data are counted. Deletion by age skips data with
/// doubtful dates.
package protocol RetentionRepository: Sendable {
    func believed() async throws -> BelievedDate?
    func save(_ believed: BelievedDate) async throws
    /// Latest date of a stored reading, overwritten setting or deletion; nil if there is none.
    func newestStored() async throws -> WallTime?
    /// Earliest date after `time` of a stored reading, overwritten setting or deletion; nil if there is none.
    func firstStored(after time: WallTime) async throws -> WallTime?
}
