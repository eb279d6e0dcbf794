import Foundation

/// A folder with a unique name, which is removed with the value.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("meter-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // A folder that cannot be removed is left to the system, which empties this place by itself.
        try? FileManager.default.removeItem(atPath: path)
    }
}
