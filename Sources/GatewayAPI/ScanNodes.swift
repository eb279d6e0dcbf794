package import Domain

/// `GET /v1/scan/nodes`: ESPHome nodes that announce themselves in the network. meterd connects only to those in
/// `[[bluetooth.proxy]]`.
package struct ScanNodes: Codable, Hashable, Sendable {
    /// The value of `[discovery] browse`.
    package var browses = true
    /// Likely Bluetooth proxies first.
    package var nodes: [ScanNode] = []
    /// Whether more nodes answered than are listed.
    package var more = false
    @NullCodable package var error: String?
    @NullCodable package var next: String?

    package init() {}
}

/// An ESPHome node's mDNS announcement, which anybody can forge (esphome 2026.6.5, components/mdns/mdns_component.cpp,
/// `MDNSComponent::compile_records_`). It does not list the node's components.
package struct ScanNode: Codable, Hashable, Sendable {
    /// Name in ESPHome.
    package var name: String
    @NullCodable package var friendly_name: String?
    /// Name in the local network, such as `garage.local`.
    package var host: String
    package var port: Int
    @NullCodable package var version: String?
    @NullCodable package var mac: String?
    package var encrypted = false
    /// Whether the node announces the ready-made Bluetooth proxy firmware. Other nodes may be proxies, too.
    package var looks_like_proxy = false
    /// Whether `[[bluetooth.proxy]]` names the node.
    package var configured = false

    package init(name: String, host: String, port: Int) { (self.name, self.host, self.port) = (name, host, port) }

    /// Nil for a name that meterd.toml cannot contain unchanged.
    package init?(_ service: FoundService) {
        // A node's name has up to 31 characters (esphome/core/config.py, `validate_hostname`).
        guard service.name.isPlainName(max: 31), service.name.first != "-", service.hasAddress else { return nil }
        // Swift 6.2.3 crashes if wrapped properties are set after `self.init`.
        var node = Self(name: service.name, host: service.host, port: service.port)
        func told(_ key: String) -> String? {
            service.value(of: key).flatMap { $0.isEmpty ? nil : String($0.prefix(120)) }
        }
        (node.friendly_name, node.version) = (told("friendly_name"), told("version"))
        node.mac = told("mac").flatMap { MACAddress($0) }?.description
        // A node without an encryption key announces `api_encryption_supported` instead.
        node.encrypted = told("api_encryption") != nil
        // Project name of the ready-made firmware (Home Assistant core, components/esphome/const.py, `PROJECT_URLS`).
        node.looks_like_proxy = told("project_name") == "esphome.bluetooth-proxy"
        self = node
    }
}
