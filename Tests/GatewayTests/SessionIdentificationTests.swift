import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Synchronization
import Testing

/// Radios whose names do not tell the model, or tell a wrong one.
@Suite(.timeLimit(.minutes(10)))
struct SessionIdentificationTests {
    private let host = VirtualHost()
    private static let radio = RadioLink(
        address: MACAddress(bits: 0x0200_0000_250C), isRandom: false, adapter: MACAddress(bits: 0x00AA_0100_0001))
    private let ble = LinkAddress.ble(radio)

    /// A session that learns of a radio, which may belong to a meter of another model.
    private func heard(
        as model: ModelName?, being real: ModelName, _ discoveries: Discoveries = Discoveries()
    ) async throws -> DeviceSession {
        let session = DeviceSession(
            id: .um, model: nil, isWanted: true, settings: MeterSettings(), loop: host.loop, opener: host.links,
            track: host.recorder.track(for: .um), rng: SplitMix64(seed: 7), logger: host.log.logger,
            tell: { discoveries.add($0) })
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(real, over: .ble)), at: ble.simulatedPath)
        await session.appeared(Sighting(id: .um, model: model, name: "BT-04", link: ble))
        return session
    }

    @Test(arguments: [ModelName.um25c, .um34c, .tc66c, .atorchUSB])
    func radioWithoutAModel_isAsked_andReadOverTheSameLink(model: ModelName) async throws {
        let discoveries = Discoveries()
        let session = try await heard(as: nil, being: model, discoveries)
        host.loop.advance(by: .seconds(12))

        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.reading != nil)
        #expect(discoveries.models == [model])
        #expect(host.links.attempts == 1)
        #expect(await host.leave(session) == .none)
    }

    /// A FNIRSI meter with a name given by its owner is asked only if its characteristics rule out a UM meter, whose
    /// data the question would clear.
    @Test func fnirsiUnderAnotherName_isAsked_whereItsLinkIsNoUMs() async throws {
        let discoveries = Discoveries()
        host.links.setModule(.twoServices, at: ble.simulatedPath)
        let session = try await heard(as: nil, being: .fnb58, discoveries)
        host.loop.advance(by: .seconds(12))

        #expect(await session.state == "data-available")
        #expect(discoveries.models == [.fnb58])
        #expect(!host.links.writes(to: ble.simulatedPath).contains { $0.bytes == [0xF0] })
        #expect(await host.leave(session) == .none)
    }

    @Test func nameThatLies_isFoundOut_afterALinkThatBroughtNothing() async throws {
        let discoveries = Discoveries()
        let session = try await heard(as: .fnb58, being: .tc66c, discoveries)
        host.loop.advance(by: .seconds(14))
        #expect(await session.state == "communicating")

        host.loop.advance(by: .seconds(30))
        #expect(await session.state == "data-available")
        #expect(discoveries.models == [.tc66c])
        #expect(await host.leave(session) == .none)
    }

    @Test func meterThatIsSilent_isReadAsItsNameSays_everyOtherTime() async throws {
        let session = try await heard(as: .um25c, being: .um25c)
        host.links.setFaults(SimulatorFaults(.silence), at: ble.simulatedPath)
        host.loop.advance(by: .seconds(120))
        #expect(await session.state != "data-available")
        #expect(host.links.attempts > 3)

        host.links.setFaults(.none, at: ble.simulatedPath)
        host.loop.advance(by: .seconds(120))
        #expect(await session.state == "data-available")
        #expect(await host.leave(session) == .none)
    }

    @Test func meterThatTellsInSeveralFrames_isShownWhole() async throws {
        let session = try await heard(as: .fnb58, being: .fnb58)
        host.loop.advance(by: .seconds(5))
        // At any moment, whichever frame was the last.
        for _ in 0..<50 {
            host.loop.advance(by: .milliseconds(37))
            let reading = try #require(await session.status().reading?.reading)
            #expect([Quantity.voltage, .current, .power].allSatisfy { reading[$0] != nil })
        }
        #expect(await host.leave(session) == .none)
    }

    @Test func whileAMeterIsAsked_itTakesNoCommand() async throws {
        let session = try await heard(as: nil, being: .um25c)
        host.loop.advance(by: .seconds(1))

        await #expect(throws: GatewayError.self) { try await session.perform(MeterCommand(.nextScreen)) }
        #expect(await host.leave(session) == .none)
    }
}

/// What a session found out about its meter.
private final class Discoveries: Sendable {
    private let all = Mutex<[MeterDiscovery]>([])

    var models: [ModelName] {
        all.withLock { $0 }.compactMap { if case .model(let model, _) = $0 { model } else { nil } }
    }

    func add(_ discovery: MeterDiscovery) { all.withLock { $0.append(discovery) } }
}
