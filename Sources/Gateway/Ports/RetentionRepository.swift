package import MeterModel

/// Where the date is kept from which ages count (`BelievedDate`). What deletes by age in the same store spares what the
/// saved doubts name.
package protocol RetentionRepository: Sendable {
    /// - Returns: nil where none was saved yet.
    func believed() async throws -> BelievedDate?
    func save(_ believed: BelievedDate) async throws
    /// The latest date of a stored reading; nil where there is none.
    func newestStored() async throws -> WallTime?
    /// The earliest date of a stored reading after `time`; nil where there is none.
    func firstStored(after time: WallTime) async throws -> WallTime?
}
