import Domain
import Gateway
import GatewayAPI
import Logging
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Plugged-in meters with one serial number.
@Suite(.timeLimit(.minutes(10)))
struct MeterTwinTests {
    private static let bySerial = MeterID.usb(vendor: 0x28E9, product: 0x018A, serial: "S1")
    private static let byPort = MeterID.usbPort(vendor: 0x28E9, product: 0x018A, host: "pi", path: "1-2")
    private static let told = "meter identified by USB port: serial number not unique"
    private let store = MeterStore.temporary()
    private let bench: DirectoryBench

    init() { bench = DirectoryBench(store) }

    private func plugIn(_ id: MeterID, port: String, at path: String, on bench: DirectoryBench) async {
        let plug = USBPlug(port: port, serial: "S1")
        await bench.directory.handle(
            .appeared(Sighting(id: id, model: .tc66, name: nil, link: .serial(path: path), plug: plug)))
    }

    @Test func portsOfMeters_areRemembered_andAPersonIsTold() async throws {
        await plugIn(Self.bySerial, port: "1-1", at: "/dev/ttyACM0", on: bench)
        #expect(bench.host.log.entries(saying: Self.told).isEmpty)
        for _ in 0..<2 { await plugIn(Self.byPort, port: "1-2", at: "/dev/ttyACM1", on: bench) }
        #expect(bench.host.log.entries(saying: Self.told).map(\.level) == [.warning])
        #expect(await bench.leave() == .none)

        let next = DirectoryBench(store)
        try await next.directory.restore()
        #expect(
            next.sightings.remembered == [
                Self.bySerial: USBPlug(port: "1-1", serial: "S1"), Self.byPort: USBPlug(port: "1-2", serial: "S1"),
            ])
        await plugIn(Self.byPort, port: "1-2", at: "/dev/ttyACM1", on: next)
        #expect(next.host.log.entries(saying: Self.told).isEmpty)
        #expect(await next.leave() == .none)
    }

    /// A cable's id that stands for a radio's: its port is kept under the cable's.
    @Test func portOfAnAlias_isRemembered_underIt() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/radio")
        try await bench.settings.add(alias: Self.bySerial, of: .tc)

        await plugIn(Self.bySerial, port: "1-1", at: "/dev/ttyACM0", on: bench)

        let plugs = try await store.meters().reduce(into: [:]) { $0[$1.id] = $1.plug?.port }
        #expect(plugs == [Self.bySerial: "1-1"])
        #expect(await bench.leave() == .none)
    }

    @Test func unalias_hasAMeterKnownByItsPort() async throws {
        try await bench.directory.restore()
        await plugIn(Self.bySerial, port: "1-2", at: "/dev/ttyACM0", on: bench)
        _ = try await bench.directory.connect("\(Self.bySerial)", ConnectRequest())
        #expect(await bench.failure { try await $0.unalias("\(Self.bySerial)") }?.code == .refused)
        _ = try await bench.directory.disconnect("\(Self.bySerial)")

        let body = try await bench.directory.unalias("\(Self.bySerial)")

        #expect(body == MeterAliasBody(alias: "\(Self.byPort)", meter: "\(Self.bySerial)"))
        #expect(bench.sightings.anew == [Self.bySerial])
        #expect(try await store.meters().map(\.plug) == [nil])
        // As the watcher reports it then.
        await bench.directory.handle(.vanished(.of(.tc66, id: Self.bySerial, at: "/dev/ttyACM0")))
        await plugIn(Self.byPort, port: "1-2", at: "/dev/ttyACM0", on: bench)
        #expect(try await bench.status(of: Self.byPort).state == "not-connected")
        #expect(try await bench.status(of: Self.bySerial).state == "offline")
        for id in [Self.byPort, Self.bySerial] {
            #expect(await bench.failure { try await $0.unalias("\(id)") }?.code == .refused)
        }
        #expect(await bench.leave() == .none)
    }

    /// Two hosts of a zone, each with one of two meters.
    @Test func twinAtAnotherHost_isTold_andSoIsTheRemedy() async throws {
        let bench = LeaseBench(.keep)
        let (one, two) = (bench.host(1), bench.host(2))
        let first = try await one.pluggedIn(.tc66, id: Self.bySerial)
        await bench.advance(by: .seconds(3), one, two)
        #expect(await first.state == "data-available")
        let second = try await two.pluggedIn(.tc66, id: Self.bySerial)
        await bench.advance(by: .seconds(30), one, two)

        let error = await second.status().error
        #expect(error?.hasPrefix("it is plugged in here and at pi1: ") == true)
        #expect(error?.contains("meterctl unalias \(Self.bySerial)") == true)
        let told = two.host.log.entries(saying: "serial number used by two meters")
        #expect(told.map(\.level) == [.warning])
        _ = try await bench.leave(one, first)
        _ = try await bench.leave(two, second)
    }
}
