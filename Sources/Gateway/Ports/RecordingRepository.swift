package import Domain

/// Keeps running recordings, so that they continue after a restart, and battery tests that are over until somebody was
/// told. A finished one is a record like any other (`SettingsRepository`).
package protocol RecordingRepository: Sendable {
    /// What is kept, in the order of their ids.
    func runningRecordings() async throws -> [Recording]
    /// Inserts recordings, or replaces those with the same ids; all of them or none.
    func keep(_ recordings: [Recording]) async throws
    /// Deletes what is kept of a recording. Harmless if it is not there.
    func forget(_ recording: RecordingID) async throws
}
