package import Domain

/// Stores marks of this host only. Shared marks are records (`SettingsRepository`).
package protocol MarkRepository: Sendable {
    func localMarks() async throws -> [Mark]
    /// Inserts or replaces a mark. Keeps the `countMax` marks of each meter with the latest starts.
    func keepLocal(_ mark: Mark, countMax: Int) async throws
    /// Deletes marks, all or none; ignores missing ones.
    func deleteLocal(_ marks: [RecordingID]) async throws
}
