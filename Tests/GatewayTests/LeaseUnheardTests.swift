import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// `connect` on a host that does not hear the meter: another host is connected to it, so it does not advertise.
@Suite(.timeLimit(.minutes(10)))
struct LeaseUnheardTests {
    @Test func connect_namesTheHolderAtOnce_andAsksForNothing() async throws {
        let world = try await World()

        let failure = try await world.connect(ConnectRequest(wait_ms: 30_000))

        #expect(failure?.code == .held)
        #expect(failure?.message.hasPrefix("pi1 has \(MeterID.um)") == true)
        #expect(try await world.status().wanted == false)
        #expect(!world.two.link.requests.contains(.acquire(.um)))
        try await world.leave()
    }

    @Test func connect_remembersAMeterThatNobodyHas_andTakesNoLease() async throws {
        let world = try await World()
        await world.first.disconnect()
        await world.advance(by: .seconds(1))

        let failure = try await world.connect(.takingOver(wait_ms: 5000))

        #expect(failure?.code == .timedOut)
        #expect(try await world.status().wanted)
        #expect(!world.two.link.requests.contains(.acquire(.um)))
        try await world.leave()
    }

    @Test(arguments: LeasePolicy.allCases)
    func takeover_reachesTheCloud_andLooksForTheMeter(policy: LeasePolicy) async throws {
        let world = try await World(policy)
        let connecting = world.connecting(.takingOver())
        await world.advance(by: .seconds(20))

        let status = try await world.status()
        #expect(status.state == "offline" && status.lease?.state == .held)
        #expect((1...30_000).contains(try #require(status.searching_ms)))
        #expect(await world.first.state == "not-connected")
        try await world.hear()

        #expect(try await world.end(connecting) == nil)
        #expect(try await world.status().state == "data-available")
        #expect(world.bench.zone.record(of: .um)?.token.rawValue == 2, "the lease that it was looked for with")
        try await world.leave()
    }

    @Test func meterThatIsNotHeard_isGivenBack_andItsHolderHasItAgain() async throws {
        let world = try await World()

        let failure = try await world.connect(.takingOver())
        // Virtual time may run ahead of the release.
        for _ in 0..<60 where await world.first.state != "data-available" { await world.advance(by: .seconds(1)) }

        #expect(failure?.code == .timedOut)
        #expect(failure?.message.contains("not heard here within 30 s") == true)
        #expect(try await world.status().wanted == false)
        #expect(await world.first.state == "data-available")
        #expect(world.bench.zone.holder(of: .um) == "pi1")
        try await world.leave()
    }

    /// It still counts as heard, so it is not searched for: the first attempt at a link fails instead. That takes as long
    /// as the pause of whom it was taken from, who may thus get it only after the second.
    @Test func meterThatWentOutOfReachJustNow_isGivenBack_andTheTakerIsToldWhoHasIt() async throws {
        let world = try await World()
        try await world.hear()
        world.two.links.makeStuck(World.radio.simulatedPath)

        let failure = try await world.connect(.takingOver(wait_ms: 180_000))
        for _ in 0..<60 where await world.first.state != "data-available" { await world.advance(by: .seconds(1)) }

        #expect(failure?.code == .held)
        #expect(failure?.message.hasPrefix("pi1 has \(MeterID.um)") == true)
        #expect(try await world.status().wanted == false)
        #expect(await world.first.state == "data-available")
        try await world.leave()
    }

    @Test func nextTakeover_needsAPersonWhoIsSure_forTenMinutes() async throws {
        let world = try await World()
        _ = try await world.connect(.takingOver())
        await world.advance(by: .seconds(60), in: .seconds(1))

        #expect(try await world.connect(.takingOver())?.code == .refused)
        #expect(try await world.connect(.takingOver(yes: true))?.code == .timedOut)
        await world.advance(by: .seconds(601), in: .seconds(1))
        #expect(try await world.connect(.takingOver())?.code == .timedOut)
        try await world.leave()
    }

    @Test func pauseOfTheLoser_endsWithTheSearch() async throws {
        let world = try await World()
        let connecting = world.connecting(.takingOver())
        await world.advance(by: .seconds(10))
        #expect(world.bench.zone.holder(of: .um) == "pi2")

        try await world.disconnect()
        await world.advance(by: .seconds(3))

        #expect(try await world.end(connecting)?.code == .notConnected)
        #expect(world.bench.zone.holder(of: .um) == "pi1")
        try await world.leave()
    }

    @Test func loserWithoutAnEventStream_isGivenUntilItsHeartbeat() async throws {
        let world = try await World()
        world.bench.zone.setDeaf(true, world.one.keeper.identity.host)

        let failure = try await world.connect(.takingOver())

        #expect(failure?.message.contains("search continues") == true)
        await world.advance(by: .seconds(50))
        #expect(await world.first.state == "not-connected", "it heard of it at its heartbeat")
        try await world.hear()
        await world.advance(by: .seconds(3))
        #expect(try await world.status().state == "data-available")
        try await world.leave()
    }

    @Test func queue_reachesTheCloud() async throws {
        let world = try await World()
        var request = ConnectRequest(wait_ms: 30_000)
        request.queue_ms = 60_000
        let connecting = world.connecting(request)
        await world.advance(by: .seconds(20))
        #expect(world.bench.zone.waiting(for: .um) == ["pi2"])

        await world.first.disconnect()
        await world.advance(by: .seconds(2))
        #expect(world.bench.zone.holder(of: .um) == "pi2")
        try await world.hear()

        #expect(try await world.end(connecting) == nil)
        try await world.leave()
    }

    @Test func queue_isLeft_whenItTakesTooLong() async throws {
        let world = try await World()
        var request = ConnectRequest(wait_ms: 30_000)
        request.queue_ms = 20_000

        #expect(try await world.connect(request)?.code == .held)
        await world.advance(by: .seconds(1))

        #expect(world.bench.zone.waiting(for: .um).isEmpty)
        try await world.leave()
    }

    @Test func meterThatIsPluggedInElsewhere_isNotTakenOver() async throws {
        let world = try await World(over: .serial(path: .port))

        let failure = try await world.connect(.takingOver())

        #expect(failure?.code == .held)
        #expect(failure?.message.contains("plugged in at pi1") == true)
        #expect(world.bench.zone.holder(of: .um) == "pi1")
        try await world.leave()
    }

    @Test func meterThatOnlyTheZoneKnows_isFoundByItsName_andNeedsAPersonWhoIsSure() async throws {
        let world = try await World(isMet: false)
        try await world.directory.receive(["name": .string("bench")])

        let plain = try await world.connect(ConnectRequest(wait_ms: 30_000), to: "bench")
        #expect(plain?.code == .held)
        #expect(try await world.connect(.takingOver(), to: "bench")?.code == .refused)
        #expect(world.bench.zone.holder(of: .um) == "pi1")
        let connecting = world.connecting(.takingOver(yes: true), to: "bench")
        await world.advance(by: .seconds(3))
        try await world.hear()
        #expect(try await world.end(connecting) == nil)
        try await world.leave()
    }

    @Test func leaseOfAMeterWithoutSettings_isEnoughToNameIt() async throws {
        let world = try await World(isMet: false)

        #expect(try await world.connect(ConnectRequest(wait_ms: 1000), to: "02:00:00")?.code == .held)
        #expect(try await world.connect(ConnectRequest(wait_ms: 1000), to: "nothing")?.code == .noSuchMeter)
        try await world.leave()
    }

    @Test func wishOfAPerson_doesNotLieInWait_untilTheMeterIsHeard() async throws {
        let world = try await World()
        await world.first.disconnect()
        await world.advance(by: .seconds(1))
        _ = try await world.connect(.takingOver(wait_ms: 1000))
        await world.first.connect()
        await world.advance(by: .seconds(3))

        try await world.hear()
        await world.advance(by: .seconds(20))

        #expect(world.bench.zone.holder(of: .um) == "pi1")
        try await world.leave()
    }

    @Test func cloudThatDoesNotAnswer_isSaid_andNothingIsUsed() async throws {
        let world = try await World()
        world.two.link.set(.unreachable)

        let failure = try await world.connect(.takingOver())

        #expect(failure?.code == .timedOut)
        #expect(failure?.message.contains("the cloud does not answer") == true)
        world.two.link.heal()
        await world.advance(by: .seconds(60), in: .seconds(1))
        #expect(world.bench.zone.holder(of: .um) == "pi1")
        try await world.leave()
    }
}

extension ConnectRequest {
    fileprivate static func takingOver(wait_ms: Int64 = 30_000, yes: Bool = false) -> Self {
        var request = ConnectRequest(wait_ms: wait_ms)
        request.takeover = true
        request.yes = yes ? true : nil
        return request
    }
}

/// Two hosts. The first has a meter, by default over Bluetooth LE; the second does not hear it.
private struct World {
    let bench: LeaseBench
    let one: LeaseHost
    let two: LeaseHost
    let first: DeviceSession
    let directory: DirectoryBench

    static let radio = LinkAddress.ble(
        RadioLink(
            address: MACAddress(bits: 0x0200_0000_250C), isRandom: false, adapter: MACAddress(bits: 0x00AA_0100_0001)))

    init(_ policy: LeasePolicy = .keep, isMet: Bool = true, over link: LinkAddress = radio) async throws {
        bench = LeaseBench(policy)
        one = bench.host(1)
        two = bench.host(2)
        one.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: link.simulatedPath)
        first = one.host.session(.um25c, gate: one.keeper)
        await first.appeared(Sighting(id: .um, model: .um25c, name: "UM25C", link: link))
        let store = MeterStore.temporary()
        if isMet { try await store.save(KnownMeter(id: .um, model: .um25c)) }
        directory = DirectoryBench(store, on: two.host, gate: two.keeper)
        try await directory.directory.restore()
        await bench.advance(by: .seconds(3), one, two)
    }

    func advance(by duration: Duration, in step: Duration = .milliseconds(250)) async {
        await bench.advance(by: duration, in: step, one, two)
    }

    /// It advertises again, and the second host is near.
    func hear() async throws {
        two.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: Self.radio.simulatedPath)
        await directory.directory.handle(
            .appeared(Sighting(id: .um, model: .um25c, name: "UM25C", link: Self.radio, rssi: -60)))
    }

    func status() async throws -> MeterStatus { try await directory.status() }

    func connecting(_ request: ConnectRequest, to meter: String? = nil) -> Task<GatewayError?, any Error> {
        Task { await directory.failure { try await $0.connect(meter ?? "\(MeterID.um)", request) } }
    }

    func connect(_ request: ConnectRequest, to meter: String? = nil) async throws -> GatewayError? {
        try await end(connecting(request, to: meter))
    }

    func disconnect() async throws {
        let ending = Task { _ = try await directory.directory.disconnect("\(MeterID.um)") }
        try await bench.advance(until: ending, one, two)
    }

    func end(_ connecting: Task<GatewayError?, any Error>) async throws -> GatewayError? {
        try await bench.advance(until: connecting, one, two)
    }

    func leave() async throws {
        await directory.directory.shutdown()
        _ = try await bench.leave(two)
        #expect(try await bench.leave(one, first).channels == 0)
    }
}
