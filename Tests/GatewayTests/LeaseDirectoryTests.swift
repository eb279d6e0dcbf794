import Domain
import Gateway
import GatewayAPI
import Logging
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// `connect` in a zone: what it waits for, and what it reports.
@Suite(.timeLimit(.minutes(10)))
struct LeaseDirectoryTests {
    @Test func connect_namesTheHolder_andChangesNothing_whenAnotherHostHasIt() async throws {
        let world = try await World(.keep)

        let failure = try await world.connect(ConnectRequest(wait_ms: 30_000))

        #expect(failure?.code == .held)
        #expect(failure?.message.contains("pi1 has \(MeterID.um)") == true)
        #expect(failure?.next.contains("--takeover") == true)
        #expect(try await world.status().wanted == false)
        await world.first.disconnect()
        await world.advance(by: .seconds(60))
        #expect(try await world.status().state == "not-connected")
        try await world.leave()
    }

    @Test func connect_leavesAWantedMeterWanted_whenAnotherHostHasIt() async throws {
        let world = try await World(.keep)
        _ = try await world.connect(ConnectRequest())

        let failure = try await world.connect(ConnectRequest(wait_ms: 30_000))

        #expect(failure?.code == .held)
        #expect(try await world.status().wanted == true)
        try await world.leave()
    }

    @Test(arguments: LeasePolicy.allCases)
    func connectWithTakeover_returnsWithData(policy: LeasePolicy) async throws {
        let world = try await World(policy)
        var request = ConnectRequest(wait_ms: 30_000)
        request.takeover = true

        let failure = try await world.connect(request)

        #expect(failure == nil)
        #expect(try await world.status().state == "data-available")
        #expect(await world.first.state == "not-connected")
        try await world.leave()
    }

    @Test func connectWithQueue_returnsWithData_whenTheHolderLetsGo() async throws {
        let world = try await World(.keep)
        var request = ConnectRequest(wait_ms: 30_000)
        request.queue_ms = 60_000
        let connecting = world.connecting(request)
        try await eventually("the request has begun") { try await world.status().wanted == true }
        await world.advance(by: .seconds(20))
        #expect(world.bench.zone.waiting(for: .um) == ["pi2"])

        await world.first.disconnect()

        #expect(try await world.end(connecting) == nil)
        #expect(try await world.status().state == "data-available")
        try await world.leave()
    }

    /// Who has the lease need not wait for it.
    @Test func connectWithQueue_returnsAtOnce_whereThisHostHasTheLease() async throws {
        let world = try await World(.keep)
        try await world.directory.plugIn(.tc66c, id: .tc, at: "/dev/ttyUSB1")
        #expect(try await world.connect(ConnectRequest(wait_ms: 30_000), to: .tc) == nil)
        let begun = world.bench.loop.now
        var request = ConnectRequest(wait_ms: 30_000)
        request.queue_ms = 60_000

        #expect(try await world.connect(request, to: .tc) == nil)

        #expect(world.bench.loop.now - begun < .seconds(1))
        try await world.leave()
    }

    @Test func connectWithQueue_leavesTheLine_whenItTakesTooLong() async throws {
        let world = try await World(.keep)
        var request = ConnectRequest(wait_ms: 30_000)
        request.queue_ms = 20_000

        let failure = try await world.connect(request)
        await world.advance(by: .seconds(1))

        #expect(failure?.code == .held)
        #expect(world.bench.zone.waiting(for: .um).isEmpty)
        #expect(try await world.status().wanted == false)
        try await world.leave()
    }

    @Test func connectWithTimeout_leavesTheLineThen_howeverLongTheQueue() async throws {
        let world = try await World(.keep)
        var request = ConnectRequest(wait_ms: 30_000)
        (request.queue_ms, request.timeout_ms) = (60_000, 5000)
        let connecting = world.connecting(request)
        try await eventually("the request has begun") { try await world.status().wanted == true }
        await world.advance(by: .seconds(4))
        #expect(world.bench.zone.waiting(for: .um) == ["pi2"])

        await world.advance(by: .seconds(2))

        let failure = try await world.end(connecting)
        #expect(failure?.code == .held)
        #expect(failure?.message.hasSuffix("still after 5s") == true)
        #expect(world.bench.zone.waiting(for: .um).isEmpty)
        try await world.leave()
    }

    @Test func connectWithoutLease_asksNobody() async throws {
        let world = try await World(.strict)
        var request = ConnectRequest(wait_ms: 30_000)
        request.no_lease = true

        #expect(try await world.connect(request) == nil)
        #expect(world.bench.zone.holder(of: .um) == "pi1")
        try await world.leave()
    }

    @Test func joiningAndLeaving_reachEverySession() async throws {
        let world = try await World(.keep)
        await world.directory.directory.use(nil)
        #expect(try await world.connect(ConnectRequest(wait_ms: 30_000)) == nil)
        #expect(try await world.status().lease == LeaseStatus(.none))

        await world.directory.directory.use(world.two.keeper)
        let words = world.two.host.log.entries(saying: "meter used without lease")
        #expect(words.allSatisfy { $0.level < .warning })
        await world.advance(by: .seconds(2))

        // The link was up before the host joined, and another host has the lease.
        let lease = try await world.status().lease
        #expect(lease?.state == .unleased && lease?.holder == "pi1")
        try await world.leave()
    }

    @Test func disconnect_returnsOnceTheLeaseIsFreeForOthers() async throws {
        let world = try await World(.keep)
        try await world.directory.plugIn(.tc66c, id: .tc, at: "/dev/ttyUSB1")
        _ = try await world.connect(ConnectRequest(wait_ms: 30_000), to: .tc)
        #expect(world.bench.zone.holder(of: .tc) == "pi2")

        try await world.disconnect(.tc)

        #expect(world.bench.zone.holder(of: .tc) == nil)
        try await world.leave()
    }

    /// The release waits for the renewal's answer (Docs/Leases.md#rule-6), and the caller waits for both.
    @Test func disconnect_returnsOnceTheLeaseIsFree_whileARenewalIsUnderWay() async throws {
        let world = try await World(.keep)
        try await world.directory.plugIn(.tc66c, id: .tc, at: "/dev/ttyUSB1")
        _ = try await world.connect(ConnectRequest(wait_ms: 30_000), to: .tc)
        // The next heartbeat is due within the minute; no step from here on is as long as one takes.
        await world.advance(by: .seconds(50))
        try await eventually("a heartbeat is under way") {
            world.bench.loop.advance(by: .milliseconds(10))
            return await world.two.keeper.callsUnderWay > 0
        }

        try await world.disconnect(.tc)

        #expect(world.bench.zone.holder(of: .tc) == nil)
        try await world.leave()
    }

    @Test(arguments: [SimulatedLeaseLink.Fault.silent, .unreachable])
    func disconnect_returnsSoon_whenTheCloudDoesNotAnswer(fault: SimulatedLeaseLink.Fault) async throws {
        let world = try await World(.keep)
        try await world.directory.plugIn(.tc66c, id: .tc, at: "/dev/ttyUSB1")
        _ = try await world.connect(ConnectRequest(wait_ms: 30_000), to: .tc)
        world.two.link.set(fault)
        let begun = world.bench.loop.now

        try await world.disconnect(.tc)

        #expect(world.bench.loop.now - begun <= .seconds(3) + .milliseconds(50))
        #expect(try await world.status(of: .tc).state == "not-connected")
        world.two.link.heal()
        try await world.leave()
    }

    /// A person waits for a list no longer than for the end of a lease.
    @Test func look_isOver_afterThreeSeconds_whenTheCloudDoesNotAnswer() async throws {
        let world = try await World(.keep)
        world.two.link.set(.silent)
        let begun = world.bench.loop.now
        let looking: Task<Void, any Error> = Task { _ = await world.two.keeper.look() }

        try await world.bench.advance(until: looking, world.one, world.two)

        #expect(world.bench.loop.now - begun <= .seconds(3) + .milliseconds(50))
        world.two.link.heal()
        try await world.leave()
    }

    @Test func who_listsTheLeasesOfAllHosts() async throws {
        let world = try await World(.keep)
        try await world.directory.plugIn(.tc66c, id: .tc, at: "/dev/ttyUSB1")
        _ = try await world.connect(ConnectRequest(wait_ms: 30_000), to: .tc)

        let seen = (await world.one.keeper.who(), await world.two.keeper.who())

        #expect(seen.0.map(\.meter) == ["\(MeterID.um)", "\(MeterID.tc)"])
        #expect(seen.0.map(\.holder) == ["pi1", "pi2"])
        #expect(seen.0.map(\.state) == ["held", "held"])
        #expect(seen.0.map(\.mine) == [true, false])
        #expect(seen.1.map(\.mine) == [false, true])
        #expect(seen.1.allSatisfy { $0.remaining_ms.map { $0 > 0 } == true && $0.transport == "usb" })
        try await world.leave()
    }
}

/// Two hosts that can both reach one meter; the first one has it.
private struct World {
    let bench: LeaseBench
    let one: LeaseHost
    let two: LeaseHost
    let first: DeviceSession
    let directory: DirectoryBench

    init(_ policy: LeasePolicy) async throws {
        bench = LeaseBench(policy)
        one = bench.host(1)
        two = bench.host(2)
        first = try await one.pluggedIn()
        directory = DirectoryBench(on: two.host, gate: two.keeper)
        await bench.advance(by: .seconds(2), one, two)
        try await directory.plugIn(.um25c)
    }

    func advance(by duration: Duration) async { await bench.advance(by: duration, one, two) }

    func status(of meter: MeterID = .um) async throws -> MeterStatus { try await directory.status(of: meter) }

    func disconnect(_ meter: MeterID) async throws {
        let ending = Task { _ = try await directory.directory.disconnect("\(meter)") }
        try await bench.advance(until: ending, one, two)
    }

    func connecting(_ request: ConnectRequest, to meter: MeterID = .um) -> Task<GatewayError?, any Error> {
        Task { await directory.failure { try await $0.connect("\(meter)", request) } }
    }

    /// The error that a request ends with, if any.
    func connect(_ request: ConnectRequest, to meter: MeterID = .um) async throws -> GatewayError? {
        try await end(connecting(request, to: meter))
    }

    func end(_ connecting: Task<GatewayError?, any Error>) async throws -> GatewayError? {
        try await bench.advance(until: connecting, one, two)
    }

    func leave() async throws {
        await directory.directory.shutdown()
        _ = try await bench.leave(two)
        #expect(try await bench.leave(one, first) == .none)
    }
}
