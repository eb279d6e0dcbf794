import Domain
import ESPHomeCore
import Gateway
import GatewayAPI
import LinuxIO
import Logging
import MeterCodec
import MeterSimulator
import MeterTestKit
import ProxyTransport
import SimulatedPort
import Synchronization
import Testing

/// Proxies over TCP, in front of a simulated one.
@Suite(.timeLimit(.minutes(10)))
struct ProxiesTests {
    private static let meter = MACAddress(bits: 0x02_00_00_00_E5_25)
    private static let radio = MACAddress(bits: 0x02_00_00_E5_32_03)
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private struct Bench: Sendable {
        let loop: IOLoop
        let port: SimulatedProxyPort
        let proxies: Proxies
        let told: Told
        let running: Task<Void, Never>

        /// The link over which the meter is heard.
        let link = LinkAddress.ble(RadioLink(address: meter, isRandom: false, adapter: radio))

        func status(_ what: String, where condition: @escaping @Sendable (AdapterStatus) -> Bool) async throws
            -> AdapterStatus
        {
            try await found(what) { await proxies.adapters().first.flatMap { condition($0) ? $0 : nil } }
        }

        func open() async throws -> ChannelProbe {
            let opener = ProxyChannelOpener(proxies, else: nil, on: loop)
            let link = link
            return try await ChannelProbe(on: loop) { opener.open(link, as: LineSettings(), handle: $0) }
        }

        /// As a session does, it tries again: on a busy machine the proxy's times may be over.
        func opened() async throws -> ChannelProbe {
            for _ in 0..<4 {
                let probe = try await open()
                if await probe.next()?.isOpened == true { return probe }
            }
            let probe = try await open()
            #expect(await probe.next()?.isOpened == true)
            return probe
        }
    }

    private final class Told: Sendable {
        private let events = Mutex<[SightingEvent]>([])
        private let remedies = Mutex<[AdapterRemedy]>([])
        let changes = ChangeMarks()

        func add(_ event: SightingEvent) { events.withLock { $0.append(event) } }
        func add(_ remedy: AdapterRemedy) { remedies.withLock { $0.append(remedy) } }
        var all: [SightingEvent] { events.withLock { $0 } }
        var remedied: [AdapterRemedy] { remedies.withLock { $0 } }
    }

    /// - Parameters:
    ///   - fileKey: what the host's file has; nil for plain text.
    ///   - nodeKey: whether the node has the key.
    private func withProxy(
        fileKey: String? = key, nodeKey: Bool = true, faults: Set<SimulatedProxy.Fault> = [],
        _ body: (Bench) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/key"
        if let fileKey { try WholeFile.replace(path, with: Array(fileKey.utf8)) }
        try await withLoop { loop in
            var options = SimulatedProxy.Options()
            options.faults = faults
            options.key = nodeKey ? (0..<32).map { UInt8($0) } : nil
            let meter = try #require(SimulatorCatalogue.standard.meter(.um25c, over: .ble))
            let radio = SimulatedRadioMeter(meter, address: Self.meter, rssi: -61)
            let port = SimulatedProxyPort(SimulatedProxy(options, meters: [radio]), loop: loop)
            let number = try await port.serve(at: "127.0.0.1", port: 0)
            let settings = NodeSettings(
                host: "127.0.0.1", port: number, keyPath: fileKey == nil ? nil : path, name: "simulated-proxy")
            let proxies = Proxies(
                [settings], loop: loop, makeRNG: { SplitMix64(seed: 1) },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let told = Told()
            await proxies.follow({ RadioDemand() }, remedied: { told.add($0) }, changed: { told.changes.mark(.host) })
            let running = Task { await proxies.run { told.add($0) } }
            try await body(Bench(loop: loop, port: port, proxies: proxies, told: told, running: running))
            running.cancel()
            await running.value
            await port.stop()
        }
    }

    @Test(arguments: [true, false])
    func meterThatAProxyHears_isToldOf_andRead(isSealed: Bool) async throws {
        try await withProxy(fileKey: isSealed ? Self.key : nil, nodeKey: isSealed) { bench in
            let seen = try await found("the meter is heard") {
                bench.told.all.compactMap { event -> Sighting? in
                    if case .appeared(let sighting) = event { sighting } else { nil }
                }.first
            }
            #expect((seen.id, seen.model, seen.rssi) == (.mac(Self.meter), .um25c, -61))
            #expect(seen.link == bench.link)

            let probe = try await bench.opened()
            try await probe.send([0xF0])
            var block: [UInt8] = []
            while block.count < 130 { block += try #require(await probe.next()?.bytes) }
            #expect(block.starts(with: [0x09, 0xC9]))

            let status = try await bench.status("the slot is counted") { $0.links == 1 && $0.links_max == 3 }
            #expect((status.address, status.state, status.error) == (Self.radio.description, .searching, nil))
            #expect(
                status.proxy == ProxyStatus(name: "simulated-proxy", version: "2026.6.5", encrypted: isSealed))
            #expect(bench.told.changes.take(waking: nil) == .host)
            try await probe.close()
            _ = try await bench.status("the slot is free") { $0.links == 0 }
            #expect(!bench.told.changes.isEmpty)
        }
    }

    @Test func proxyThatRestarts_costsTheLink_andComesBack() async throws {
        try await withProxy { bench in
            _ = try await bench.status("it searches") { $0.state == .searching && $0.links_max == 3 }
            let probe = try await bench.opened()
            await bench.port.reboot()
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .lost)
            #expect(failure.message.contains("which bore it, is not connected"))
            // While it is away, nothing is sent to it.
            let refused = try await bench.open()
            #expect(await refused.next()?.failure?.code == .adapter)

            _ = try await bench.status("it is back") {
                $0.state == .searching && $0.recoveries == 1 && $0.links_max == 3
            }
            #expect(bench.told.remedied.map(\.words) == ["the proxy is connected to again"])
            _ = try await bench.opened()
        }
    }

    @Test(
        arguments: [
            ("EBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8=", true, "has another key"), (nil, true, "has no key-file"),
            (key, false, "has no key, and its"), ("zero", true, "has no key of an ESPHome node"),
        ] as [(String?, Bool, String)])
    func keysThatDoNotFit_areSaidWithTheirRemedy(fileKey: String?, nodeKey: Bool, words: String) async throws {
        try await withProxy(fileKey: fileKey, nodeKey: nodeKey) { bench in
            let status = try await bench.status("it fails") { $0.state == .failed }
            #expect(status.error?.contains(words) == true, "\(status.error ?? "")")
            let probe = try await bench.open()
            #expect(await probe.next()?.failure?.code == .adapter)
        }
    }

    /// The radios are told to end before the sessions, which then leave their meters clean.
    @Test func linkThatIsUp_carriesTheLastWord_afterTheRadiosHaveEnded() async throws {
        try await withProxy { bench in
            _ = try await bench.status("it searches") { $0.state == .searching && $0.links_max == 3 }
            let probe = try await bench.opened()
            bench.running.cancel()
            await bench.running.value
            try await probe.send([0xF0])
            #expect(await probe.next()?.bytes?.starts(with: [0x09, 0xC9]) == true)
            try await probe.close()
            _ = try await bench.status("it is left") { $0.links_max == 0 }
        }
    }

    @Test func twoKindsOfRadios_areOne() async throws {
        try await withProxy { bench in
            let both = try #require(RadioSources([bench.proxies, bench.proxies]))
            #expect(RadioSources([]) == nil)
            _ = try await bench.status("it searches") { $0.state == .searching }
            #expect(await both.adapters().count == 2)
            #expect(await both.support().adapters.isEmpty)
            await both.sought()
            #expect(await both.others().isEmpty)
        }
    }
}

/// What a body returns, once it is there.
func found<Result>(_ what: String, _ body: () async -> Result?) async throws -> Result {
    let patience = Patience(what)
    while true {
        if let result = await body() { return result }
        try await patience.turn()
    }
}
