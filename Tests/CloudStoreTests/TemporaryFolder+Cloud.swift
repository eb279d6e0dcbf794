import CloudStore
import CoreTestKit
import Domain
import Foundation
import MeterTestKit
import StoreTestKit

extension TemporaryFolder {
    /// Where the test's cloud lies.
    var cloud: String { path + "/cloud" }
    /// Its file.
    var store: String { cloud + "/cloud.db" }
    var file: StoreFile { StoreFile(store) }

    /// Opens the test's cloud.
    func openCloud(
        _ directory: String? = nil, now: MonotonicTime = .origin, options: SQLiteCloudEngine.Options = .init()
    ) throws(CloudStoreError) -> SQLiteCloudEngine {
        var rng = CountingRNG()
        return try SQLiteCloudEngine.open(
            directory: directory ?? cloud, now: now, rng: &rng, options: options)
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: name) }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    /// Copies the cloud's file and its log, as they are at this moment, into a data directory of this name.
    func copyCloud(as name: String) throws -> String {
        let copy = path + "/" + name
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for suffix in ["", "-wal"] where exists(store + suffix) {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: copy + "/cloud.db" + suffix)
        }
        return copy
    }
}
