import Domain
import Gateway
import Logging
import MeterStore
import SimulatedCloud

/// One life of the program on a host: the real keeper, engine, settings and store, put together as meterd does it
/// (`CloudMember`), with users before them.
final class HostRun: @unchecked Sendable {
    let life: Life
    let loop: MachineLoop
    let store: MeterStore
    private let host: HostMachine
    var name: String { host.name }
    private let cloud: CloudMachine
    private let scenario: ProgramScenario
    private let meters: [MeterID]
    private let bug: ProgramBug?
    private let timed: TimedStore
    private let session: SessionID
    /// nil until what runs before this one handed on was read.
    private(set) var engine: SyncEngine?
    private var keeper: LeaseKeeper?
    private(set) var isStopping = false
    private(set) var users: [MeterUser] = []
    private let settings: SettingsService

    init(
        life: Life, loop: MachineLoop, store: MeterStore, host: HostMachine, cloud: CloudMachine,
        scenario: ProgramScenario, meters: [MeterID], bug: ProgramBug?
    ) {
        self.life = life
        self.loop = loop
        self.store = store
        self.host = host
        self.cloud = cloud
        self.scenario = scenario
        self.meters = meters
        self.bug = bug
        timed = TimedStore(base: store, life: life, host: host.index, bug: bug)
        session = SessionID(using: &life.world.rng)
        settings = SettingsService(
            repository: timed, now: { HostMoment(wall: loop.wallNow, sinceBoot: loop.now) }, logger: .silent)
    }

    func begin() {
        life.spawn { [self] in
            do {
                for meter in meters { try await timed.save(KnownMeter(id: meter)) }
                let previous = try await timed.leaseSession()
                let tokens = try await timed.leaseTokens(in: CloudMachine.zone)
                await operate(after: previous, tokens)
            } catch {
                // Killed before it had begun.
            }
        }
    }

    private var rng: SimulationRNG { SimulationRNG(seed: life.world.rng.next()) }

    private func operate(after previous: SessionID?, _ tokens: [MeterID: FencingToken]) async {
        let link = NetworkLink(life, of: host, to: cloud)
        let keeper = LeaseKeeper(
            identity: LeaseKeeper.Identity(
                host: host.id, hostName: host.name, session: session, previousSession: previous),
            authority: link, zonePolicy: scenario.terms.policy, timeToLive: scenario.terms.timeToLive, tokens: tokens,
            loop: loop, rng: rng, logger: .silent)
        let calendar = RetentionCalendar(
            repository: timed,
            clocks: RetentionCalendar.Clocks(
                now: { [loop] in loop.now }, wallNow: { [loop] in loop.wallNow }, isConfirmed: { false }),
            logger: .silent)
        var dependencies = SyncEngine.Dependencies(
            link: link, repository: timed, loop: loop, rng: rng,
            changed: { [settings] in await settings.merged($0) },
            heard: { await keeper.handle($0) }, confirmedToday: { await calendar.confirmed() })
        dependencies.today = { try await calendar.today() }
        let engine = SyncEngine(
            zone: CloudMachine.zone, host: host.id, bringsAll: false, dependencies: dependencies, logger: .silent)
        (self.engine, self.keeper) = (engine, keeper)
        users = meters.map { MeterUser(of: $0, at: self, keeper: keeper, policy: scenario.terms.policy, bug: bug) }
        await run(engine, keeper)
    }

    /// As `CloudMember.operate` does.
    private func run(_ engine: SyncEngine, _ keeper: LeaseKeeper) async {
        let grants = keeper.grants.subscribe(buffer: 1)
        let tokens = keeper.tokens.subscribe(buffer: 1024)
        let recoveries = keeper.recoveries.subscribe(buffer: 1)
        let localChanges = settings.localChanges.subscribe(buffer: 1)
        await withDiscardingTaskGroup { group in
            group.addTask { await keeper.run() }
            group.addTask {
                for await _ in localChanges { engine.trigger(.localChange) }
            }
            group.addTask { [timed, session] in
                for await _ in grants {
                    try? await timed.keepLeaseSession(session)
                    return
                }
            }
            group.addTask { [timed] in
                for await meter in tokens {
                    guard let token = await keeper.greatestToken(of: meter.value) else { continue }
                    try? await timed.keepLeaseToken(token, of: meter.value, in: CloudMachine.zone)
                }
            }
            group.addTask {
                for await _ in recoveries { engine.trigger(.networkGained) }
            }
            await engine.run()
            group.cancelAll()
        }
    }

    /// As at the end of the program: every lease is given back, and the session ends.
    func stop() {
        isStopping = true
        for user in users { user.letGo() }
        life.spawn { [engine, keeper] in
            await keeper?.shutdown()
            await engine?.stop()
        }
    }

    /// Somebody sets something, or forgets it.
    func change(_ meter: MeterID, to value: Int, deletes: Bool) {
        let (world, name) = (life.world, host.name)
        life.spawn { [settings] in
            do {
                if deletes {
                    try await settings.delete(of: meter)
                } else {
                    _ = try await settings.set(["notes": "n\(value)"], of: meter, for: nil)
                }
                world.note("\(name): \(meter) has \(deletes ? "nothing" : "n\(value)")")
            } catch {
                world.note("\(name): \(meter) could not be changed")
            }
        }
    }
}
