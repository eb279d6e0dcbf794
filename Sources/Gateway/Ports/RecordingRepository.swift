package import Domain

/// Stores running recordings over a restart, and finished battery tests until a user was told. A finished recording is
/// a record (`SettingsRepository`).
package protocol RecordingRepository: Sendable {
    func runningRecordings() async throws -> [Recording]
    /// Inserts or replaces recordings, all or none.
    func keep(_ recordings: [Recording]) async throws
    func forget(_ recording: RecordingID) async throws
}
