import Foundation
import Synchronization

/// A folder with a unique name, deleted together with this object. It is in memory if there is room, because a store on
/// a disk makes each commit wait.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path = Self.parent + "/meter-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        _ = Self.removalAtExit
        Self.inUse.withLock { _ = $0.insert(path) }
    }

    private static let inUse = Mutex<Set<String>>([])
    /// Removes folders still in use at exit, which would fill the memory file system.
    private static let removalAtExit = atexit {
        for path in TemporaryFolder.inUse.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
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

    package func write(_ bytes: [UInt8], to path: String) throws {
        let file = URL(filePath: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Self.inUse.withLock { _ = $0.remove(path) }
    }
}
