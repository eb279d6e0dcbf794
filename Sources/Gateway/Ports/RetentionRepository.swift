package import Domain

/// Keeps the date from which ages are counted (`BelievedDate`). Whatever deletes by age in the same store spares what
/// the saved doubts name.
package protocol RetentionRepository: Sendable {
    /// - Returns: the date, if one was ever saved.
    func believed() async throws -> BelievedDate?
    func save(_ believed: BelievedDate) async throws
    /// The latest date of a stored reading, an overwritten setting or a deletion, if there is any.
    func newestStored() async throws -> WallTime?
    /// The earliest such date after `time`, if there is any.
    func firstStored(after time: WallTime) async throws -> WallTime?
}
