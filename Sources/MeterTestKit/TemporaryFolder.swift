import Foundation

/// A folder with a unique name, which is removed with the value. It lies in memory where there is room: each commit of a
/// store waits for its disk.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path = Self.parent + "/meter-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private static let parent: String = {
        let (memory, leastRoom) = ("/dev/shm", 1 << 30)
        let facts = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let hasRoom = (facts?[.systemFreeSize] as? NSNumber)?.intValue ?? 0 >= leastRoom
        return hasRoom && FileManager.default.isWritableFile(atPath: memory)
            ? memory : FileManager.default.temporaryDirectory.path
    }()

    package func bytes(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    package func size(of path: String) throws -> Int { try bytes(of: path).count }

    /// Creates the folder that the file is in, if missing.
    package func write(_ bytes: [UInt8], to path: String) throws {
        let file = URL(filePath: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    deinit {
        // A folder that cannot be removed is left to the system, which empties this place by itself.
        try? FileManager.default.removeItem(atPath: path)
    }
}
