import Cloud
import CloudAPI
import CloudEtcd
import CloudServer
import CloudStore
import Domain
import ServiceLifecycle

/// What a hosted cloud needs from its store beyond what the service needs.
protocol HostedStore: Sendable {
    var engine: any CloudEngine { get }
    /// Writes a copy of everything to a new file.
    func backup(to path: String, at now: WallTime) async throws(CloudFailure)
    func statistics() async throws -> CloudStatistics
    /// Returns once the store has done something. A failing one is not stuck: its callers are told.
    func turn() async
    /// Whether the cloud may have other copies, which `follow` reports on.
    var hasCopies: Bool { get }
    /// Reports what other copies of the cloud did, until its task is cancelled.
    func follow(_ hear: @escaping @Sendable (CloudNews) async -> Void) async
    func close() throws
}

/// Tells this copy's hosts what the other copies did, and those what there is to tell.
struct CloudFollower: Service {
    let store: any HostedStore
    let service: CloudService
    /// Ends once others can reach this copy: it says so with its first heartbeat.
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

/// One file in the folder.
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

    func statistics() async throws -> CloudStatistics { try await sqlite.statistics() }

    func turn() async { try? await sqlite.turn() }

    var hasCopies: Bool { false }

    func follow(_ hear: @escaping @Sendable (CloudNews) async -> Void) async {}

    func close() throws { try sqlite.close() }
}

/// An etcd, shared with other copies.
struct EtcdStore: HostedStore {
    let etcd: EtcdCloudEngine

    var engine: any CloudEngine { etcd }

    func backup(to path: String, at now: WallTime) async throws(CloudFailure) {
        throw CloudFailure(
            .badRequest,
            "this cloud is in etcd, which makes its own backups; etcdctl snapshot save FILE, see Docs/Scale.md")
    }

    func statistics() async throws -> CloudStatistics { try await etcd.statistics() }

    func turn() async { _ = try? await etcd.zones() }

    var hasCopies: Bool { true }

    func follow(_ hear: @escaping @Sendable (CloudNews) async -> Void) async { await etcd.run(hear) }

    func close() throws { try etcd.closeAtOnce() }
}
