import Cloud
import CloudAPI
import CloudStore
import Domain
import LeaseWitness
import Logging
import SimulatedCloud

/// The machine on which the cloud runs: the real service over SQLite, killed and started again.
final class CloudMachine: @unchecked Sendable {
    /// One run of the program.
    private struct Run {
        var life: Life
        var engine: SQLiteCloudEngine
        var service: CloudService
    }

    static let zone = "home"

    private let world: World
    private let directory: String
    private let bug: ProgramBug?
    private let machine: MachineClocks
    private var run: Run?

    init(_ world: World, directory: String, scenario: ProgramScenario, bug: ProgramBug?) {
        self.world = world
        self.directory = directory
        self.bug = bug
        machine = MachineClocks(clock: SimulatedClock(rate: scenario.cloudRate, wallError: 0, wallTick: 1))
    }

    var life: Life? { run?.life }

    func start() throws {
        guard run == nil else { return }
        world.note("cloud: starts")
        var rng = SimulationRNG(seed: world.rng.next())
        let life = Life(world)
        let engine = try SQLiteCloudEngine.open(directory: directory, now: machine.clock.now(at: world.now), rng: &rng)
        let service = CloudService(
            engine: TimedEngine(FaultyEngine(engine, fault: bug?.inEngine), in: life), clock: clock(in: life),
            rng: rng, logger: .silent)
        run = Run(life: life, engine: engine, service: service)
        life.spawn { await service.run() }
        life.spawn { await service.liveAmongCopies() }
    }

    private func clock(in life: Life) -> CloudClock {
        CloudClock(
            now: { [machine, world] in machine.clock.now(at: world.now) },
            wallNow: { [machine, world] in machine.clock.wall(at: world.now) },
            sleep: { [machine] time in try await life.sleep(until: machine.clock.trueTime(of: time)) })
    }

    /// The process is killed, and the machine boots where `reboots` says so.
    func crash(reboots: Bool) throws {
        guard let run else { return }
        world.note("cloud: \(reboots ? "reboots" : "crashes")")
        self.run = nil
        run.life.end()
        try run.engine.close()
        if reboots { machine.clock.reboot(wallError: 0, at: world.now) }
    }

    // MARK: Hosts

    /// The zone, and a credential for each host, as an administrator makes them.
    func enrol(_ hosts: [HostMachine], terms: LeaseTerms) throws {
        guard let run else { return }
        let engine = run.engine
        let wall = machine.clock.wall(at: world.now)
        let credentials = hosts.map { host in
            var credential = Credential(
                id: host.name, hash: host.secret, zone: Self.zone, kind: .host, label: host.name, createdAt: wall)
            credential.binding = Credential.Binding(host: host.id, hostName: host.name, machine: host.name)
            return credential
        }
        let thread = world.thread
        try world.errand {
            try await thread.foreign {
                _ = try await engine.createZone(Self.zone, terms: terms)
                for credential in credentials { try await engine.add(credential) }
            }
        }?.get()
    }

    /// A request arrives.
    ///
    /// - Parameters:
    ///   - body: is carried out by the service, for the host with this secret.
    ///   - answer: is called when the answer leaves, or at once where nobody listens. Not at all where the cloud is killed
    ///     meanwhile.
    func serve<Value: Sendable>(
        _ secret: [UInt8],
        _ body: @escaping @Sendable (CloudService, Principal) async throws(CloudFailure) -> Value,
        answer: @escaping @Sendable (Result<Value, CallTrouble>) -> Void
    ) {
        guard let run else { return answer(.failure(.broken("the connection was refused"))) }
        let (life, service) = (run.life, run.service)
        life.at(world.now) {
            life.spawn {
                let result: Result<Value, CallTrouble>
                do throws(CloudFailure) {
                    result = .success(try await body(service, try await service.authenticate(hash: secret)))
                } catch {
                    result = .failure(.refused(error.content))
                }
                if !life.isOver { answer(result) }
            }
        }
    }

    /// A host opens its event stream.
    ///
    /// - Parameter push: takes each event; returns false once nobody takes them any more.
    func listen(
        _ secret: [UInt8], to stream: NetworkStream, _ push: @escaping @Sendable (EventBody) -> Void
    ) {
        guard let run else { return stream.breaks("the connection was refused") }
        let (life, service, machine, world) = (run.life, run.service, machine, world)
        life.at(world.now) {
            life.spawn {
                do throws(CloudFailure) {
                    let principal = try await service.authenticate(hash: secret)
                    let subscription = try await service.events(in: Self.zone, by: principal)
                    push(EventBody(serverTime: machine.clock.wall(at: world.now).millisecondsSince1970))
                    await stream.serve { for await event in subscription { push(event) } }
                } catch {
                    // Whoever cannot listen hears it as a broken stream.
                }
                stream.breaks("the cloud ended the event stream")
            }
        }
    }

    /// An administrator takes a meter from its holder.
    func revoke(_ meter: MeterID) {
        guard let run else { return }
        world.note("cloud: \(meter) is revoked")
        // Nobody waits for its answer.
        world.judge.record(
            LeaseOperation(
                meter: meter.description, request: .revoke, outcome: .unknown, calledAt: world.moment,
                returnedAt: world.moment))
        run.life.spawn { [service = run.service] in
            _ = try? await service.revokeLease(meter: meter.description, in: Self.zone)
        }
    }

    // MARK: The end

    /// All that the zone has.
    func records() throws -> [RecordKey: SyncRecord] {
        guard let engine = run?.engine else { return [:] }
        let thread = world.thread
        let records = try world.errand {
            try await thread.foreign { try await engine.records(in: Self.zone, type: nil) }
        }?.get()
        return Dictionary((records ?? []).map { ($0.key, $0) }) { $1 }
    }
}

extension Logger {
    /// Nobody reads it.
    static var silent: Logger { Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() } }
}
