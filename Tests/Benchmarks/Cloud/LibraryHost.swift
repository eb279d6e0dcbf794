import CloudClient
import Domain
import Gateway
import LinuxIO
import Logging
import MeterStore

/// A member of a cloud as `meterd` puts it together (`CloudMember`), without meters and without its control socket.
final class LibraryHost: Sendable {
    let store: MeterStore
    let settings: SettingsService
    let engine: SyncEngine
    let keeper: LeaseKeeper
    let loop: IOLoop
    /// What the event stream brought, after the lease keeper had it.
    let heard = Feed<CloudEvent>()
    private let client: CloudClient
    private let folder: TemporaryFolder

    init(joining server: MetercloudProcess, name: String) async throws {
        let logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        folder = try TemporaryFolder()
        store = try MeterStore.open(path: "\(folder.path)/host.sqlite")
        settings = SettingsService(
            repository: store, now: { HostMoment(wall: LinuxClock.wallNow, sinceBoot: LinuxClock.now) }, logger: logger)
        loop = try IOLoop(name: name)
        var rng = SystemRandomNumberGenerator()
        let membership = try await server.join(store.identity.host, name: name)
        client = try CloudClient(membership)
        let keeper = LeaseKeeper(
            identity: LeaseKeeper.Identity(
                host: store.identity.host, hostName: name, session: SessionID(using: &rng)),
            authority: client, zonePolicy: .keep, loop: loop, rng: rng, logger: logger)
        self.keeper = keeper
        engine = SyncEngine(
            zone: membership.zone, host: store.identity.host, bringsAll: false,
            dependencies: SyncEngine.Dependencies(
                link: client, repository: store, loop: loop, rng: rng,
                changed: { [settings] in await settings.merged($0) },
                heard: { [heard] event in
                    await keeper.handle(event)
                    heard.yield(event)
                }), logger: logger)
    }

    /// Runs it until `stop`, while `body` does something with it.
    func run<Value: Sendable>(_ body: @Sendable (LibraryHost) async throws -> Value) async throws -> Value {
        loop.start()
        let changes = settings.localChanges.subscribe(buffer: 1)
        async let keeping: Void = keeper.run()
        async let running: Void = engine.run()
        async let telling: Void = { for await _ in changes { engine.trigger(.localChange) } }()
        let value = await outcome(of: body)
        await keeper.shutdown()
        await engine.stop()
        settings.localChanges.finish()
        _ = await (keeping, running, telling)
        await client.shutdown()
        loop.shutdown()
        try store.close()
        return try value.get()
    }

    private func outcome<Value: Sendable>(
        of body: @Sendable (LibraryHost) async throws -> Value
    ) async -> Result<Value, any Error> {
        do { return .success(try await body(self)) } catch { return .failure(error) }
    }

    /// Waits until everything was told and read for the first time.
    func awaitComplete(_ results: Feed<SyncResult>.Subscription) async throws -> SyncResult {
        for await result in results where result.value.end == .complete { return result.value }
        throw BenchmarkError("the host stopped before it was in sync")
    }
}
