package import Domain

/// `GET /v1/scan/nodes`: ESPHome nodes that announce themselves in meterd's network. meterd connects to none of them unless
/// `[[bluetooth.proxy]]` names it. Unknown is null.
package struct ScanNodes: Codable, Hashable, Sendable {
    /// False if `[discovery] browse` is.
    package var browses = true
    /// Those that may be Bluetooth proxies first.
    package var nodes: [ScanNode] = []
    /// Whether more answered than are listed.
    package var more = false
    /// Why nothing could be looked for.
    @NullCodable package var error: String?
    /// What to do about that.
    @NullCodable package var next: String?

    package init() {}
}

/// What an ESPHome node announces, or a stranger who pretends to be one (esphome 2026.6.5,
/// components/mdns/mdns_component.cpp, `MDNSComponent::compile_records_`). Which components it has is not announced.
package struct ScanNode: Codable, Hashable, Sendable {
    /// Its name in ESPHome.
    package var name: String
    @NullCodable package var friendly_name: String?
    /// Its name in the network, such as `garage.local`.
    package var host: String
    package var port: Int
    /// ESPHome's version.
    @NullCodable package var version: String?
    /// The address of its network interface.
    @NullCodable package var mac: String?
    /// Whether its API has a key.
    package var encrypted = false
    /// Whether it says that it was made as a Bluetooth proxy. Others may be one without saying so.
    package var looks_like_proxy = false
    /// Whether `[[bluetooth.proxy]]` names it.
    package var configured = false

    package init(name: String, host: String, port: Int) { (self.name, self.host, self.port) = (name, host, port) }

    /// Only names that can stand in meterd.toml as they are make a node.
    package init?(_ service: FoundService) {
        // A node's name has up to 31 characters (esphome/core/config.py, `validate_hostname`).
        guard service.name.isPlainName(max: 31), service.name.first != "-", service.hasAddress else { return nil }
        // Swift 6.2.3 crashes over wrapped properties that are set after `self.init`.
        var node = Self(name: service.name, host: service.host, port: service.port)
        func told(_ key: String) -> String? {
            service.value(of: key).flatMap { $0.isEmpty ? nil : String($0.prefix(120)) }
        }
        (node.friendly_name, node.version) = (told("friendly_name"), told("version"))
        node.mac = told("mac").flatMap { MACAddress($0) }?.description
        // One that only supports a key announces `api_encryption_supported`.
        node.encrypted = told("api_encryption") != nil
        // The ready-made firmware (Home Assistant core, components/esphome/const.py, `PROJECT_URLS`).
        node.looks_like_proxy = told("project_name") == "esphome.bluetooth-proxy"
        self = node
    }
}
