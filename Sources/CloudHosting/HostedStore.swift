import Cloud
import CloudAPI
import CloudEtcd
import CloudServer
import CloudStore
import Domain
import Glibc
import LinuxIO
import ServerKit
import ServiceLifecycle

protocol HostedStore: BackedUpStore {
    var engine: any CloudEngine { get }
    func backup(to path: String, at now: WallTime) async throws(CloudFailure)
    func statistics() async throws -> CloudStatistics
    func turn() async
    /// Whether the cloud may have other replicas.
    var hasCopies: Bool { get }
    func follow(_ hear: @escaping @Sendable (CloudNews) async -> Void) async
    func close() throws
}

/// Exchanges change notices with the other replicas, for the hosts connected to this replica.
struct CloudFollower: Service {
    let store: any HostedStore
    let service: CloudService
    /// Stream that ends once other replicas can reach this one. Only then does the first heartbeat publish this
    /// replica's address.
    let isServed: AsyncStream<Void>

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await store.follow { await service.hear($0) } }
                group.addTask { await service.carryNews() }
                group.addTask {
                    for await _ in isServed {}
                    await service.liveAmongCopies()
                }
            }
        }
    }
}

struct FileStore: HostedStore {
    let sqlite: SQLiteCloudEngine

    var engine: any CloudEngine { sqlite }

    func backup(to path: String, at now: WallTime) async throws(CloudFailure) {
        do throws(CloudStoreError) {
            try await sqlite.backup(to: path, at: now)
        } catch {
            throw CloudFailure(.serviceUnavailable, error.message)
        }
    }

    func checkBackup(at path: String) async throws { try await aside { try SQLiteCloudEngine.checkBackup(at: path) } }

    var backupKind: BackupName.Kind { BackupName.Kind(prefix: "cloud-\(sqlite.epoch.prefix(8))", suffix: "sqlite") }

    func statistics() async throws -> CloudStatistics { try await sqlite.statistics() }

    func turn() async { try? await sqlite.turn() }

    var hasCopies: Bool { false }

    func follow(_ hear: @escaping @Sendable (CloudNews) async -> Void) async {}

    func close() throws { try sqlite.close() }
}

struct EtcdStore: HostedStore {
    let etcd: EtcdCloudEngine

    var engine: any CloudEngine { etcd }

    func backup(to path: String, at now: WallTime) async throws(CloudFailure) {
        do {
            let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            do {
                try await EtcdBackup.write(of: etcd, at: now) { try file.writeAll($0) }
                try Errno.check { fsync(file.raw) }
            } catch {
                unlink(path)
                throw error
            }
        } catch {
            throw CloudFailure(.serviceUnavailable, "\(path) cannot be written: \(error)")
        }
    }

    func checkBackup(at path: String) async throws { try await aside { _ = try EtcdBackup(path: path) } }

    var backupKind: BackupName.Kind { BackupName.Kind(prefix: "cloud-\(etcd.epoch.prefix(8))", suffix: "etcd") }

    func lastBackup(here: WallTime?) async throws -> WallTime? { try await etcd.lastBackup() }

    func takeBackup(every: Duration, at now: WallTime) async throws -> Bool {
        try await etcd.takeBackup(every: every, at: now)
    }

    func keepBackup(at date: WallTime) async throws { try await etcd.keepBackup(at: date) }

    func statistics() async throws -> CloudStatistics { try await etcd.statistics() }

    func turn() async { _ = try? await etcd.zones() }

    var hasCopies: Bool { true }

    func follow(_ hear: @escaping @Sendable (CloudNews) async -> Void) async { await etcd.run(hear) }

    func close() throws { try etcd.closeAtOnce() }
}

/// Runs `body` on its own thread, because it would block a thread that requests share.
private func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
    let result = await withCheckedContinuation { continuation in
        BackgroundThread.run { continuation.resume(returning: Result { try body() }) }
    }
    try result.get()
}
