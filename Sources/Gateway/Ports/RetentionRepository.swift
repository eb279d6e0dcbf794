package import Domain

/// Stores the date (`BelievedDate`) from which the ages of stored data are counted. Deletion by age in the same store
/// skips data with doubtful dates.
package protocol RetentionRepository: Sendable {
    func believed() async throws -> BelievedDate?
    func save(_ believed: BelievedDate) async throws
    /// Returns the latest date of a stored reading, an overwritten setting or a deletion; nil if there is none.
    func newestStored() async throws -> WallTime?
    /// Returns the earliest date after `time` of a stored reading, an overwritten setting or a deletion; nil if there
    /// is none.
    func firstStored(after time: WallTime) async throws -> WallTime?
}
