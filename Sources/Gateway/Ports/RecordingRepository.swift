package import Domain

/// Stores running recordings across restarts, and finished battery tests until their result is announced. A finished
/// recording is a record (`SettingsRepository`).
package protocol RecordingRepository: Sendable {
    func runningRecordings() async throws -> [Recording]
    /// Inserts or replaces recordings, all or none.
    func keep(_ recordings: [Recording]) async throws
    func forget(_ recording: RecordingID) async throws
}
