package import RecordingCore

/// Where recordings that go on are kept, so that they go on after a restart. What is over is a record like any other
/// (`SettingsRepository`).
package protocol RecordingRepository: Sendable {
    /// In the order of their ids.
    func runningRecordings() async throws -> [Recording]
    /// Inserts or replaces by id, all of them or none.
    func keep(_ recordings: [Recording]) async throws
    /// It goes on no more. Harmless for one that is not there.
    func forget(_ recording: RecordingID) async throws
}
