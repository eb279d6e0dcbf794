import Foundation
import LinuxIO

/// Lends a loop that runs, and ends it afterwards.
func withLoop<Result>(_ body: (IOLoop) async throws -> Result) async throws -> Result {
    let loop = try IOLoop(name: "test")
    loop.start()
    defer { loop.shutdown() }
    return try await body(loop)
}

/// A folder of a name of its own, gone with the value.
final class TemporaryFolder {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "meter-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        // A folder that cannot be removed is left to the system, which empties this place by itself.
        try? FileManager.default.removeItem(atPath: path)
    }
}

extension IOLoop {
    /// Runs `body` on the loop and waits for what it returns.
    func perform<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            execute { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
