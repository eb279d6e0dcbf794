import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Boards that people described, driven by sessions as any meter is: nothing between the catalogue and the driver knows of
/// descriptions.
@Suite(.timeLimit(.minutes(5)))
struct DescribedBoardsTests {
    private let loop = VirtualLoop()
    private let log = LogBook()

    private static func catalogue() throws -> MeterCatalogue {
        try MeterCatalogue.standard
            .adding(
                model: "ina226",
                described: [
                    "fields": .table([
                        "V": .text("voltage"), "mA": .table(["quantity": .text("current"), "factor": .number(0.001)]),
                    ])
                ]
            )
            .adding(
                model: "shelf",
                described: [
                    "format": .text("columns"), "fields": .list([.text("current"), .text("voltage")]),
                    "request": .text("?"), "interval": .text("500ms"), "checksum": .text("crc16"),
                ])
    }

    private func session(_ path: String, _ name: String, _ links: SimulatedLinks) async throws -> DeviceSession {
        let catalogue = try Self.catalogue()
        let model = try #require(catalogue.model(named: name))
        let family = try #require(catalogue[model.family] as? GenericFamily)
        let link = LinkAddress.serial(path: path)
        let greeting = Array("\u{1}\u{2}boot V=9;mA=9\r\nINA226 found\r\n".utf8)
        links.plug(
            SimulatedBoard(model: model, try #require(family.description(of: model)), greeting: greeting),
            at: link.simulatedPath)
        let recorder = SampleRecorder(
            meters: Meters(), repository: MeterStore.temporary(), loop: loop, logger: log.logger)
        let id = MeterID.mac(MACAddress(bits: name == "shelf" ? 0x0200_0000_0001 : 0x0200_0000_0002))
        let session = DeviceSession(
            id: id, model: model, isWanted: true, settings: MeterSettings(stored: [:]), catalogue: catalogue,
            loop: loop,
            opener: links, track: recorder.track(for: id), rng: SplitMix64(seed: 7), logger: log.logger)
        await session.appeared(Sighting(id: id, model: model, name: nil, link: link))
        return session
    }

    @Test func twoPorts_eachWithItsOwnDescription_areReadSideBySide() async throws {
        let links = SimulatedLinks(loop: loop)
        let first = try await session("/dev/ttyUSB0", "ina226", links)
        let second = try await session("/dev/ttyUSB1", "shelf", links)
        loop.advance(by: .seconds(10))

        for (session, model) in [(first, "INA226"), (second, "SHELF")] {
            let status = await session.status()
            #expect(status.state == "data-available")
            #expect(status.model == model)
            #expect(status.counters.readings >= 5)
            #expect(status.counters.timeouts == 0)
            let reading = try #require(status.reading).reading
            #expect(reading[.voltage].map { (4...6).contains($0) } == true)
            #expect(reading[.current].map { (0.5...2).contains($0) } == true)
        }
        #expect(links.written(to: "/dev/ttyUSB0").isEmpty)
        #expect(links.written(to: "/dev/ttyUSB1").allSatisfy { $0 == UInt8(ascii: "?") })
        await first.shutdown()
        await second.shutdown()
        #expect(Leftovers(on: loop, links) == .none)
    }
}
