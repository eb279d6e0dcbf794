import Domain
import GRDB
import Gateway
import MeterStore
import SimulatedCloud

/// The machine of one host: its clock, its file and its way to the cloud, over all lives of the program on it.
final class HostMachine: @unchecked Sendable {
    let index: Int
    let id: HostID
    /// Stands for the hash of its token.
    let secret: [UInt8]
    var link: SimulatedLink
    private let world: World
    private let path: String
    private let scenario: ProgramScenario
    private let bug: ProgramBug?
    private let cloud: CloudMachine
    private let meters: [MeterID]
    private let machine: MachineClocks
    private(set) var run: HostRun?

    var name: String { "host\(index)" }

    init(
        _ index: Int, in world: World, folder: String, scenario: ProgramScenario, bug: ProgramBug?, meters: [MeterID],
        cloud: CloudMachine
    ) {
        self.index = index
        self.world = world
        self.scenario = scenario
        self.bug = bug
        self.meters = meters
        self.cloud = cloud
        path = "\(folder)/host\(index).sqlite"
        id = HostID(using: &world.rng)
        secret = (0..<32).map { _ in UInt8(truncatingIfNeeded: world.rng.next()) }
        machine = MachineClocks(
            clock: SimulatedClock(
                rate: scenario.hostRates[index], wallError: scenario.wallErrors[index], wallTick: 1))
        link = SimulatedLink(
            lossPermille: scenario.lossPermille, doublePermille: scenario.doublePermille,
            slowPermille: scenario.slowPermille, slowest: 8 * .second)
        if scenario.isCalm { link.oneLossPer = scenario.terms.heartbeat.nanoseconds / 1000 }
    }

    /// When so much time has passed by its own clock.
    func trueTime(after time: Duration) -> TrueTime {
        machine.clock.trueTime(of: machine.clock.now(at: world.now) + time)
    }

    // MARK: Lives

    /// Makes the file, with the id that the seed says: SQLite draws one otherwise.
    func install() throws {
        try MeterStore.open(path: path).close()
        let file = try DatabaseQueue(path: path)
        try file.write { [id] db in try db.execute(sql: "UPDATE host SET id = ?", arguments: [id.description]) }
        try file.close()
    }

    func start() throws {
        guard run == nil else { return }
        world.note("\(name): starts")
        let life = Life(world)
        let loop = MachineLoop(life, on: machine)
        let options = MeterStore.Options(
            machine: Machine(digest: name, boot: "\(machine.clock.boot)"), calendar: { loop.wallNow })
        let store = try MeterStore.open(path: path, options: options)
        let run = HostRun(
            life: life, loop: loop, store: store, host: self, cloud: cloud, scenario: scenario, meters: meters, bug: bug
        )
        self.run = run
        run.begin()
    }

    /// The process is killed, and the machine boots where `reboots` says so.
    func crash(reboots: Bool) throws {
        guard let run else { return }
        world.note("\(name): \(reboots ? "reboots" : "crashes")")
        self.run = nil
        run.life.end()
        try run.store.close()
        if reboots { machine.clock.reboot(wallError: scenario.wallErrors[index], at: world.now) }
    }

    // MARK: What befalls it

    func stepWall(by milliseconds: Int64) { machine.clock.stepWall(by: milliseconds) }

    func setWall() { machine.clock.setWall(at: world.now) }

    func changeRate(to rate: Int64) { machine.clock.changeRate(to: rate, at: world.now) }

    // MARK: What is asked at the end

    /// All that it has.
    func records() throws -> [RecordKey: SyncRecord] {
        guard let store = run?.store else { return [:] }
        let thread = world.thread
        let records = try world.errand {
            try await thread.foreign {
                var records: [SyncRecord] = []
                for type in RecordType.known { records += try await store.records(of: type) }
                return records
            }
        }?.get()
        return Dictionary((records ?? []).map { ($0.key, $0) }) { $1 }
    }

    /// How much it has to tell.
    func pending() throws -> Int {
        guard let store = run?.store else { return 0 }
        let thread = world.thread
        return try world.errand { try await thread.foreign { try await store.progress().pending } }?.get() ?? 0
    }
}
