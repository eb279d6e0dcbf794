import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// How a session leaves its meter.
@Suite(.timeLimit(.minutes(10)))
struct SessionFarewellTests {
    private let host = VirtualHost()

    private func session(_ model: ModelName, over link: LinkAddress) async throws -> DeviceSession {
        host.links.plug(
            try #require(SimulatorCatalogue.standard.meter(model, over: link.transport)), at: link.simulatedPath)
        let session = host.session(model)
        await session.appeared(Sighting(id: .um, model: model, name: nil, link: link))
        host.loop.advance(by: .seconds(3))
        #expect(await session.status().state == "data-available")
        return session
    }

    /// It freezes if nobody reads what it still sends (Docs/Protocols/FNIRSI.md#commands).
    @Test func fnb58_isReadOn_forTheSecondThatItStillStreams() async throws {
        let session = try await session(.fnb58, over: .hid(path: "/dev/hidraw0"))
        #expect(await host.leave(session) == .none)
        #expect(host.links.lingers == [.milliseconds(1100)])
    }

    @Test func meterThatOnlyAnswers_isLeftAtOnce() async throws {
        let session = try await session(.um25c, over: .serial(path: "/dev/rfcomm0"))
        #expect(await host.leave(session) == .none)
        #expect(host.links.lingers == [.zero])
    }
}
