import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// What the meters need from the radios, which the search follows.
struct RadioDemandTests {
    private let bench = DirectoryBench()
    private let adapter = MACAddress(bits: 0x001A_7DDA_7113)

    private func demand(_ bench: DirectoryBench? = nil) -> RadioDemand {
        let bench = bench ?? self.bench
        return bench.host.loop.result { [directory = bench.directory] in directory.radioDemand() }
    }

    private func link(over transport: LinkAddress.Transport) throws -> LinkAddress {
        guard case .mac(let address) = MeterID.um else { throw CancellationError() }
        let radio = RadioLink(address: address, isRandom: false, adapter: adapter)
        return transport == .spp ? .spp(radio) : .ble(radio)
    }

    @Test func hostWithoutMeters_needsNothing() async {
        #expect(demand() == RadioDemand())
        #expect(await bench.leave() == .none)
    }

    @Test(arguments: [LinkAddress.Transport.ble, .spp])
    func meterThatIsWanted_isMissing_onItsRadio_untilNobodyWantsIt(transport: LinkAddress.Transport) async throws {
        let link = try link(over: transport)
        await bench.directory.handle(.appeared(Sighting(id: .um, model: .um25c, name: nil, link: link)))
        #expect(demand() == RadioDemand())

        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        #expect(demand().missing == (transport == .spp ? [.ble: 1, .spp: 1] : [.ble: 1]))
        await bench.directory.handle(.vanished(Sighting(id: .um, model: .um25c, name: nil, link: link)))
        #expect(demand().missing == (transport == .spp ? [.ble: 1, .spp: 1] : [.ble: 1]))

        _ = try await bench.directory.disconnect("\(MeterID.um)")
        #expect(demand() == RadioDemand())
        #expect(await bench.leave() == .none)
    }

    @Test func meterOnACable_isNotLookedForOnTheAir() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(3))
        #expect(demand() == RadioDemand())
        #expect(await bench.leave() == .none)
    }

    /// Another host is connected to it, so it is not heard until that host lets go.
    @Test func meterThatAnotherHostHas_isDistant_andNotMissing() async throws {
        let distant = DirectoryBench(gate: ElsewhereGate())
        let link = try link(over: .ble)
        await distant.directory.handle(.appeared(Sighting(id: .um, model: .um25c, name: nil, link: link)))
        _ = try await distant.directory.connect("\(MeterID.um)", ConnectRequest())
        #expect(demand(distant) == RadioDemand(hasDistant: true))
        #expect(await distant.leave() == .none)
        #expect(await bench.leave() == .none)
    }

    /// Only the store knows over which radio it was reached.
    @Test func afterARestart_meterIsLookedFor_whereItWasSeenLast() async throws {
        let store = MeterStore.temporary()
        try await store.save(
            KnownMeter(id: .um, model: .um25c, link: try link(over: .ble), isWanted: true))
        let later = DirectoryBench(store)
        try await later.directory.restore()
        #expect(demand(later).missing == [.ble: 1])
        #expect(await later.leave() == .none)
        #expect(await bench.leave() == .none)
    }
}

/// A gate for which another host has every meter.
private struct ElsewhereGate: LinkGate {
    func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?) {}
    func ask(for meter: MeterID, _ wish: LeaseIntent, over transport: LeaseTransport, isUp: Bool) {}
    func linkUp(_ meter: MeterID) {}
    func channelClosed(_ meter: MeterID, _ end: ChannelEnd) {}
    func cancel(_ meter: MeterID) {}
    var role: HostRole { .full }
    func lease(of meter: MeterID) -> LeaseStatus { LeaseStatus(.elsewhere) }
    func searchTime(for meter: MeterID) -> Duration { .seconds(30) }
    func givenBack(_ meter: MeterID) async {}
    func look() async -> [MeterID: LeaseStatus] { [:] }
}
