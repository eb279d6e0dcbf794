import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Every model that has a cable, from its simulator through a real session: links, times and rhythm are those of the program.
@Suite(.timeLimit(.minutes(10)))
struct EveryModelSessionTests {
    private static let id = MeterID.mac(MACAddress(bits: 0x0200_0000_00F1))

    /// Each cable that a model has.
    static let cables = MeterCatalogue.standard.models.flatMap { model in
        MeterCatalogue.standard.transports(of: model).filter { [.serial, .hid].contains($0) }.map { (model, $0) }
    }

    private let loop = VirtualLoop()
    private let log = LogBook()

    private func link(_ transport: LinkAddress.Transport) -> LinkAddress {
        transport == .hid ? .hid(path: "/dev/hidraw9") : .serial(path: "/dev/ttyUSB9")
    }

    private func session(_ model: ModelName, over link: LinkAddress) async throws -> (DeviceSession, SimulatedLinks) {
        let links = SimulatedLinks(loop: loop)
        links.plug(
            try #require(SimulatorCatalogue.standard.meter(model, over: link.transport)), at: link.simulatedPath)
        let recorder = SampleRecorder(
            meters: Meters(), repository: MeterStore.temporary(), loop: loop, logger: log.logger)
        let session = DeviceSession(
            id: Self.id, model: model, isWanted: true, settings: MeterSettings(stored: [:]), catalogue: .standard,
            loop: loop, opener: links, track: recorder.track(for: Self.id), rng: SplitMix64(seed: 7),
            logger: log.logger)
        await session.appeared(Sighting(id: Self.id, model: model, name: nil, link: link))
        return (session, links)
    }

    @Test(arguments: Self.cables)
    func model_isReadByASession(model: ModelName, transport: LinkAddress.Transport) async throws {
        let (session, links) = try await session(model, over: link(transport))
        loop.advance(by: .seconds(10))

        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.counters.readings >= 5)
        #expect(status.counters.skipped_bytes == 0)
        // A simulated load loses an answer now and then, as real ones do.
        #expect(status.counters.timeouts <= 1)
        #expect(status.reading != nil)
        await session.shutdown()
        #expect(Leftovers(on: loop, links) == .none)
    }
}
