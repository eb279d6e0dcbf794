import Foundation

/// The names in a cloud's data directory.
struct DataDirectory: Sendable {
    let path: String

    init(_ path: String) { self.path = path }

    var store: String { path + "/cloud.db" }
    /// A restored store before it takes its place.
    var restored: String { path + "/cloud.db.restoring" }

    /// What SQLite keeps beside a database.
    static let companions = ["-wal", "-shm"]

    /// Refuses to make an empty store where a full one is expected.
    func checkUsable() throws(CloudStoreError) {
        let files = FileManager.default
        guard !files.fileExists(atPath: store) else { return }
        if files.fileExists(atPath: restored) {
            throw CloudStoreError(.damaged, "a restore into \(path) was interrupted; run it again")
        }
        if files.fileExists(atPath: store + "-wal") {
            throw CloudStoreError(
                .damaged, "\(path) has the log of a store, but not the store itself; restore it from a backup")
        }
    }
}
