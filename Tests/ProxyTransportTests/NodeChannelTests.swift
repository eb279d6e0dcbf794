import Domain
import ESPHomeCore
import GatewayAPI
import LinuxIO
import Logging
import MeterCodec
import MeterSimulator
import MeterTestKit
import ProxyTransport
import SimulatedPort
import Testing

/// Boards with ESPHome over TCP, in front of a simulated one.
@Suite(.timeLimit(.minutes(10)))
struct NodeChannelTests {
    private static let mac = MACAddress(bits: 0x02_00_00_E5_32_01)
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private func withBoard(
        nodeKey: Bool = true, change: (inout SimulatedSensors) -> Void = { _ in },
        _ body: (_ loop: IOLoop, _ board: SimulatedProxyPort, _ settings: NodeSettings) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/key"
        try WholeFile.replace(path, with: Array(Self.key.utf8))
        try await withLoop { loop in
            var options = SimulatedProxy.Options()
            options.key = nodeKey ? (0..<32).map { UInt8($0) } : nil
            let meter = try #require(
                SimulatorCatalogue.standard.meter(.esphome, over: .network, refresh: .milliseconds(100)))
            var sensors = SimulatedSensors(meter)
            if var changed = sensors {
                change(&changed)
                sensors = changed
            }
            let radio = try #require(SimulatorCatalogue.standard.meter(.um25c, over: .ble))
            let board = SimulatedProxyPort(
                SimulatedProxy(
                    options, meters: [SimulatedRadioMeter(radio, address: MACAddress(bits: 0x02_00_00_00_E5_25))],
                    sensors: sensors), loop: loop)
            let port = try await board.serve(at: "127.0.0.1", port: 0)
            try await body(
                loop, board,
                NodeSettings(
                    host: "127.0.0.1", port: port, keyPath: path, mac: Self.mac, table: "[[esphome.meter]]"))
            await board.stop()
        }
    }

    private func open(
        _ settings: NodeSettings, sensors: [Quantity: String] = [:], link: LinkAddress? = nil, on loop: IOLoop
    ) async throws -> ChannelProbe {
        let opener = NodeChannelOpener(
            [NodeMeterSettings(settings, sensors: sensors)], on: loop, makeRNG: { SplitMix64(seed: 1) })
        let link = link ?? .network(host: settings.display)
        return try await ChannelProbe(on: loop) { opener.open(link, as: LineSettings(), handle: $0) }
    }

    /// The same node is a Bluetooth proxy meanwhile, over a connection of its own.
    @Test func board_isRead_whileItIsAProxy_untilItRestarts() async throws {
        try await withBoard { loop, board, settings in
            let proxies = Proxies(
                [settings], loop: loop, makeRNG: { SplitMix64(seed: 2) },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let running = Task { await proxies.run { _ in } }
            let probe = try await open(settings, on: loop)
            #expect(await probe.next()?.isOpened == true)
            var driver = try #require(MeterCatalogue.standard.driver(for: .esphome, over: .network))
            var readings: [Reading] = []
            while readings.count < 3 {
                driver.receive(try #require(await probe.next()?.bytes)) { event in
                    guard case .frame(let frame) = event else { return }
                    frame.forEachReading { readings.append($0) }
                }
            }
            #expect(readings.allSatisfy { $0[.voltage] != nil && $0[.energy] != nil })
            _ = try await found("the proxy hears") { await proxies.adapters().first { $0.heard == 1 } }

            await board.reboot()
            var last = await probe.next()
            while last?.bytes != nil { last = await probe.next() }
            #expect(last?.failure?.message == "\(settings.display) ended the connection. meterd connects again.")
            running.cancel()
            await running.value
        }
    }

    @Test func boardThatIsAnother_orLeavesAChoice_isRefusedInWords() async throws {
        try await withBoard(change: { $0.infos.append($0.infos[0]) }) { loop, _, settings in
            let display = settings.display
            var other = settings
            other.mac = MACAddress(bits: 1)
            var unkeyed = settings
            unkeyed.keyPath = nil
            let cases: [(NodeSettings, [Quantity: String], LinkAddress?, String)] = [
                (settings, [:], nil, "\(display) has 2 sensors of voltage: bus_voltage, bus_voltage. Name one in its"),
                (settings, [.voltage: "x"], nil, "\(display) has no sensor \"x\""),
                (other, [:], nil, "\(display) has the address"),
                (unkeyed, [:], nil, "\(display) encrypts, and its [[esphome.meter]] has no key-file"),
                (settings, [:], .network(host: "old.local"), "meterd.toml has no [[esphome.meter]] for old.local"),
            ]
            for (node, sensors, link, words) in cases {
                let probe = try await open(node, sensors: sensors, link: link, on: loop)
                let failure = await probe.next()?.failure
                #expect(failure?.code == .unsuitable)
                #expect(failure?.message.hasPrefix(words) == true, "\(failure?.message ?? "")")
            }
        }
    }

    @Test func boardThatIsNotThere_isUnreachable_andOneThatIsClosedSaysNothingMore() async throws {
        try await withBoard(nodeKey: false) { loop, board, settings in
            var plain = settings
            plain.keyPath = nil
            let probe = try await open(plain, on: loop)
            #expect(await probe.next()?.isOpened == true)
            try await probe.close()
            let count = probe.eventCount
            let another = try await open(plain, on: loop)
            for _ in 1...4 { _ = await another.next() }
            try await another.close()
            #expect(probe.eventCount == count)
            await board.stop()
            let failure = try await open(plain, on: loop).next()?.failure
            #expect(failure?.code == .unreachable)
            #expect(failure?.message.hasPrefix("\(plain.display) cannot be reached") == true)
        }
    }
}
