import Domain
import GatewayAPI
import Testing

/// What an ESPHome node announces in the network.
struct ScanNodeTests {
    private func service(_ strings: [String], name: String = "garage", host: String = "garage.local", port: Int = 6053)
        -> FoundService
    {
        FoundService(
            name: name, host: host, port: port, text: strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) })
    }

    /// As esphome 2026.6.5 writes it (components/mdns/mdns_component.cpp), of a ready-made proxy.
    @Test func node_isWhatItAnnounces() throws {
        let node = try #require(
            ScanNode(
                service([
                    "friendly_name=Garage Proxy", "version=2026.6.5", "config_hash=0123abcd", "mac=a0b765001122",
                    "platform=ESP32", "board=esp32dev", "network=wifi",
                    "api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256", "project_name=esphome.bluetooth-proxy",
                ])))
        #expect((node.name, node.host, node.port) == ("garage", "garage.local", 6053))
        #expect((node.friendly_name, node.version) == ("Garage Proxy", "2026.6.5"))
        #expect(node.mac == "A0:B7:65:00:11:22" && node.encrypted && node.looks_like_proxy)
    }

    @Test func node_thatTellsLittle_isOneAllTheSame() throws {
        let node = try #require(
            ScanNode(
                service(["MAC=none", "version", "api_encryption_supported=Noise", "=x", "", "friendly_name=", "é=é"])))
        #expect(node.mac == nil && node.version == nil && node.friendly_name == nil)
        #expect(!node.encrypted && !node.looks_like_proxy)
    }

    /// Keys are found in any case, and the first of two counts (RFC 6763, section 6.4). A record that ends early is read as
    /// far as it goes, and bytes that are no text are none.
    @Test func record_isReadAsDNSHasIt() {
        #expect(service(["Version=1=2", "version=3"]).value(of: "version") == "1=2")
        let cut = FoundService(name: "a", host: "a", port: 1, text: [9] + Array("version=1".utf8) + [200, 0x61])
        #expect(cut.value(of: "version") == "1" && cut.value(of: "a") == "")
        #expect(
            FoundService(name: "a", host: "a", port: 1, text: [5, 0x61, 0x3D, 0xFF, 0xFE, 0]).value(of: "a") == nil)
    }

    /// What would have to be quoted, could hide, or cannot be connected to.
    @Test(arguments: [
        ("gar\"age", "a.local", 6053), ("", "a.local", 6053), ("garage", "", 6053), ("garage", "a.local", 0),
        ("garage", "a.local\n", 6053), ("\u{1B}[31m", "a.local", 6053), ("garage", "a local", 6053),
        ("garage", "a.local", 70_000), ("-garage", "a.local", 6053), ("garagé", "a.local", 6053),
        ("gar.age", "a.local", 6053), (String(repeating: "a", count: 32), "a.local", 6053),
        ("garage", String(repeating: "a", count: 254), 6053),
    ])
    func name_thatCannotStandInMeterdToml_isNone(name: String, host: String, port: Int) {
        #expect(ScanNode(service([], name: name, host: host, port: port)) == nil)
    }
}
