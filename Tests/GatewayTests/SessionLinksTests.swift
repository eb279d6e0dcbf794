import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// A meter that can be reached over several links.
@Suite(.timeLimit(.minutes(10)))
struct SessionLinksTests {
    private let host = VirtualHost()
    private static let radio = RadioLink(
        address: MACAddress(bits: 0x0200_0000_250C), isRandom: false, adapter: MACAddress(bits: 0x00AA_0100_0001))
    private let ble = LinkAddress.ble(radio)
    private let spp = LinkAddress.spp(radio)

    /// A wanted UM25C that is heard over LE and Classic.
    private func dualMode() async throws -> DeviceSession {
        let session = host.session(.um25c)
        for link in [ble, spp] {
            host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: link.simulatedPath)
            await session.appeared(Sighting(id: .um, model: .um25c, name: "UM25C", link: link, rssi: -60))
        }
        return session
    }

    @Test func meterWithTwoRadios_isReadOverLE_andBothAreSeen() async throws {
        let session = try await dualMode()
        host.loop.advance(by: .seconds(3))

        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.transport == "ble")
        #expect(status.transports == ["ble", "spp"])
        #expect(status.rssi == -60)
        #expect(await session.scanEntry()?.adapter == "00:AA:01:00:00:01")
        #expect(await host.leave(session) == .none)
    }

    /// A board in the network has time to be found, is read, and shows what is wrong although it is.
    @Test func boardInTheNetwork_isRead_andItsRemarkIsShown() async throws {
        let link = LinkAddress.network(host: "shelf.local")
        let id = MeterID.mac(MACAddress(bits: 0xA0B7_6500_1123))
        host.links.plug(
            try #require(SimulatorCatalogue.standard.meter(.esphome, over: .network)), at: link.simulatedPath)
        host.links.makeStuck(link.simulatedPath)
        let session = host.session(.esphome, id: id)
        await session.appeared(Sighting(id: id, model: .esphome, name: "Shelf", link: link))
        host.loop.advance(by: .seconds(29))
        #expect(await session.state == "connecting")

        host.links.setRemark("load measures in \"VA\"", at: link.simulatedPath)
        host.links.makeStuck(link.simulatedPath, false)
        host.loop.advance(by: .seconds(10))
        let status = await session.status()
        #expect((status.state, status.transport, status.port) == ("data-available", "network", "shelf.local"))
        #expect(status.error == "load measures in \"VA\"")
        #expect(status.counters.skipped_bytes == 0)
        #expect(await host.leave(session) == .none)
        #expect(await session.status().error == nil)
    }

    @Test func linkThatFails_isFollowedByTheOther() async throws {
        host.links.refuse(ble.simulatedPath, with: ChannelFailure(.unreachable, "nobody answered"))
        let session = try await dualMode()
        host.loop.advance(by: .seconds(5))

        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.transport == "spp")
        #expect(status.transports.first == "spp")
        #expect(host.links.attemptTimes(at: ble.simulatedPath).count == 1)
        #expect(await host.leave(session) == .none)
    }

    /// Two adapters or proxies that hear the same radio.
    @Test func louderAdapter_isTaken_theOtherWhileItIsFull_andALouderOneOnlyAtTheNextLink() async throws {
        let other = RadioLink(address: Self.radio.address, isRandom: false, adapter: MACAddress(bits: 0x00AA_0100_0002))
        let far = LinkAddress.ble(other)
        host.links.refuse(ble.simulatedPath, with: ChannelFailure(.busy, "no free slot"))
        let session = host.session(.um25c)
        for (link, rssi) in [(ble, -50), (far, -80)] {
            host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: link.simulatedPath)
            await session.appeared(Sighting(id: .um, model: .um25c, name: "UM25C", link: link, rssi: rssi))
        }
        func attempts() -> [Int] { [ble, far].map { host.links.attemptTimes(at: $0.simulatedPath).count } }
        host.loop.advance(by: .seconds(5))
        #expect(await session.scanEntry()?.adapter == other.adapter.description)
        #expect(attempts() == [1, 1])

        host.links.refuse(ble.simulatedPath, with: nil)
        await session.heard(over: ble, rssi: -40)
        host.loop.advance(by: .seconds(60))
        #expect(attempts() == [1, 1])
        #expect(await session.state == "data-available")

        host.links.unplug(far.simulatedPath)
        host.loop.advance(by: .seconds(5))
        #expect(attempts() == [2, 1])
        #expect(await session.scanEntry()?.adapter == Self.radio.adapter.description)
        #expect(await session.state == "data-available")
        #expect(await host.leave(session) == .none)
    }

    @Test func linkInUse_thatVanishes_isFollowedByTheOther_andCountsAsOneLoss() async throws {
        let session = try await dualMode()
        host.loop.advance(by: .seconds(3))
        host.links.unplug(ble.simulatedPath)
        await session.vanished(from: ble)
        host.loop.advance(by: .seconds(5))

        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.transport == "spp")
        #expect(status.counters.disconnects == 1)
        #expect(await host.leave(session) == .none)
    }

    @Test func linkThatIsNotInUse_vanishesWithoutANotice() async throws {
        let session = try await dualMode()
        host.loop.advance(by: .seconds(3))
        await session.vanished(from: spp)

        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.transports == ["ble"])
        #expect(await host.leave(session) == .none)
    }

    @Test func otherKind_isTaken_whenAPersonAsksForIt() async throws {
        let session = try await dualMode()
        host.loop.advance(by: .seconds(3))
        await session.connect(ConnectOptions(link: .only(.spp)))
        host.loop.advance(by: .seconds(3))

        #expect(await session.status().transport == "spp")
        #expect(await session.state == "data-available")
        #expect(await host.leave(session) == .none)
    }

    @Test func kindAskedFor_isTakenAsSoonAsItIsThere() async throws {
        let session = try await dualMode()
        await session.connect(ConnectOptions(link: .only(.spp)))
        host.loop.advance(by: .seconds(3))
        await session.vanished(from: spp)
        host.loop.advance(by: .seconds(5))
        #expect(await session.status().transport == "ble")

        await session.appeared(Sighting(id: .um, model: .um25c, name: "UM25C", link: spp, rssi: -60))
        host.loop.advance(by: .seconds(5))
        #expect(await session.status().transport == "spp")
        #expect(await session.state == "data-available")

        // Connects again without naming the kind of link: it stays.
        await session.connect()
        host.loop.advance(by: .seconds(3))
        #expect(await session.status().transport == "spp")
        #expect(await host.leave(session) == .none)
    }

    @Test func linkAttemptOverARadio_mayTakeHalfAMinute() async throws {
        host.links.makeStuck(ble.simulatedPath)
        host.links.makeStuck(spp.simulatedPath)
        let session = try await dualMode()
        host.loop.advance(by: .seconds(29))
        #expect(await session.state == "connecting")

        host.loop.advance(by: .seconds(2))
        #expect(await session.status().error == "the link did not open within 30 s")
        #expect(await host.leave(session) == .none)
    }

    @Test func modelThatIsNotSpokenOverALink_saysSo() async throws {
        let session = host.session(.km003c)
        await session.appeared(Sighting(id: .um, model: .km003c, name: nil, link: ble))
        host.loop.advance(by: .seconds(1))

        #expect(await session.status().error == "a KM003C cannot be read over ble")
        #expect(host.links.attempts == 0)
        #expect(await host.leave(session) == .none)
    }
}
