package import Domain

/// Keeps marks that stay on this host. Those that all hosts see are records (`SettingsRepository`).
package protocol MarkRepository: Sendable {
    /// All of them, in no particular order.
    func localMarks() async throws -> [Mark]
    /// Inserts a mark, or replaces the one with its id. Of each meter the `countMax` that begin last are kept.
    func keepLocal(_ mark: Mark, countMax: Int) async throws
    /// Deletes marks; all of them or none. Harmless for those that are not there.
    func deleteLocal(_ marks: [RecordingID]) async throws
}
