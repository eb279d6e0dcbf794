package import Cloud
import CloudStore
import CoreTestKit
package import Domain
package import MeterTestKit
import Synchronization

/// A cloud's store in a folder of its own, which fails when a test says so.
package final class TemporaryCloudEngine: ForwardingEngine {
    package let base: any CloudEngine
    private let store: SQLiteCloudEngine
    private let folder: TemporaryFolder
    private let failure = Mutex<CloudFailure?>(nil)
    private let calls = Atomic(0)

    /// The file of a new store: copying it is several times faster than laying it out.
    private static let newFile = Result {
        let folder = try TemporaryFolder()
        var rng = CountingRNG()
        try SQLiteCloudEngine.open(directory: folder.path, now: .origin, rng: &rng).close()
        return try folder.bytes(of: folder.path + "/cloud.db")
    }

    package convenience init() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.newFile.get(), to: folder.path + "/cloud.db")
        try self.init(folder, now: .origin)
    }

    private init(_ folder: TemporaryFolder, now: MonotonicTime) throws {
        self.folder = folder
        var rng = CountingRNG()
        store = try SQLiteCloudEngine.open(directory: folder.path, now: now, rng: &rng)
        base = store
    }

    /// A cloud that was restored, at `wallNow`, from a backup of this one.
    package func restored(at wallNow: WallTime, now: MonotonicTime) async throws -> TemporaryCloudEngine {
        let other = try TemporaryFolder()
        try await store.backup(to: other.path + "/backup.db", at: wallNow)
        var rng = CountingRNG(last: 1 << 32)
        _ = try CloudRestore.run(from: other.path + "/backup.db", into: other.path, at: wallNow, rng: &rng)
        return try TemporaryCloudEngine(other, now: now)
    }

    /// Makes every call throw `failure` from now on; nil ends that.
    package func fail(with failure: CloudFailure?) { self.failure.withLock { $0 = failure } }

    package func pass<Value: Sendable>(writes: Bool, _ call: () async throws -> Value) async throws -> Value {
        if let failure = failure.withLock({ $0 }) { throw failure }
        calls.add(1, ordering: .relaxed)
        defer { calls.subtract(1, ordering: .relaxed) }
        return try await call()
    }

    /// Lets other tasks run so many turns in a row while no call is under way. The store answers in real time: a test
    /// that moves a clock waits for it.
    package func settle(_ patience: Patience, turns: Int = 1) async throws {
        var quiet = 0
        while quiet < turns {
            try await patience.turn()
            quiet = calls.load(ordering: .relaxed) == 0 ? quiet + 1 : 0
        }
    }
}
