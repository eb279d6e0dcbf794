import Domain
import ESPHomeCore
import GatewayAPI
import MeterTestKit
import ProxyTransport
import Synchronization
import Testing

/// Which ESPHome nodes of the network a person is offered.
struct ProxyOffersTests {
    /// Answers once it is told to.
    private final class Scripted: Discovery {
        let answer: Result<FoundServices, DiscoveryFault>
        let asked = Mutex(0)
        let gate = AsyncStream<Void>.makeStream()

        init(_ answer: Result<FoundServices, DiscoveryFault>) { self.answer = answer }

        func services(of type: String) async throws(DiscoveryFault) -> FoundServices {
            asked.withLock { $0 += type == "_esphomelib._tcp" ? 1 : 0 }
            for await _ in gate.stream { break }
            return try answer.get()
        }
    }

    private func service(_ name: String, _ texts: String..., port: Int = 6053) -> FoundService {
        FoundService(
            name: name, host: "\(name).local", port: port,
            text: texts.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) })
    }

    private let settings = [
        NodeSettings(host: "Byhost.local", keyPath: nil),
        NodeSettings(host: "192.168.1.2", keyPath: nil, name: "byname"),
        NodeSettings(host: "192.168.1.3", keyPath: nil, mac: MACAddress(bits: 0xA0B7_6500_1122)),
    ]

    @Test func nodes_areOffered_andThoseOfMeterdTomlAreMarked() async throws {
        let discovery = Scripted(
            .success(
                FoundServices(
                    [
                        service("byhost"), service("byname"), service("bymac", "mac=a0b765001122"),
                        service("shed", "friendly_name=Shed"), service("byhost2"), service("not a node"),
                        service("proxy", "project_name=esphome.bluetooth-proxy", "api_encryption=Noise"),
                    ], isCut: true)))
        let offers = ProxyOffers(discovery, configured: settings, proxies: nil)
        let answers = try await withThrowingTaskGroup(of: ScanNodes.self) { group in
            for _ in 0..<50 { group.addTask { await offers.nodes() } }
            try await eventually("the network is asked") { discovery.asked.withLock { $0 > 0 } }
            discovery.gate.continuation.finish()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Whoever asks meanwhile waits for the same answer.
        #expect(discovery.asked.withLock { $0 } < 50 && Set(answers).count == 1)
        let nodes = try #require(answers.first)
        #expect(nodes.browses && nodes.more && nodes.error == nil)
        #expect(nodes.nodes.map(\.name) == ["proxy", "byhost", "byhost2", "bymac", "byname", "shed"])
        #expect(nodes.nodes.map(\.configured) == [false, true, false, true, true, false])
        #expect(nodes.nodes.map(\.looks_like_proxy) == [true, false, false, false, false, false])
        #expect(nodes.nodes.first?.encrypted == true && nodes.nodes.last?.friendly_name == "Shed")
    }

    @Test func searchThatIsOff_orFails_isSaid() async {
        #expect(await ProxyOffers(nil, configured: [], proxies: nil).nodes().browses == false)
        let discovery = Scripted(.failure(DiscoveryFault("Avahi does not run here", next: "start it")))
        discovery.gate.continuation.finish()
        let nodes = await ProxyOffers(discovery, configured: [], proxies: nil).nodes()
        #expect(nodes.browses && (nodes.error, nodes.next) == ("Avahi does not run here", "start it"))
    }
}
