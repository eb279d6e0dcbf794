import Domain
import ESPHomeCore
import GatewayServer
import ServerKit

/// An ESPHome node, before its keys are checked against each other.
struct NodeKeys: Sendable {
    /// The settings read so far. The host is empty until its key is read.
    var node: NodeSettings
    var isPlaintext = false

    init(in table: String) { node = NodeSettings(host: "", table: table) }

    var address: Configuration.Cloud.Listen? {
        get { node.host.isEmpty ? nil : .init(host: node.host, port: node.port) }
        set { (node.host, node.port) = (newValue?.host ?? "", newValue?.port ?? NodeSettings.defaultPort) }
    }

    func checked() throws(ConfigurationError) -> NodeSettings {
        guard !node.host.isEmpty else {
            throw ConfigurationError(
                "a \(node.table) has no host",
                next: "give it its name or address, for example host = \"garage.local\"")
        }
        guard (node.keyPath == nil) == isPlaintext else {
            throw isPlaintext
                ? ConfigurationError(
                    "the \(node.table) \(node.host.visible) has both key-file and plaintext = true",
                    next: "keep key-file; plaintext is for a node without a key")
                : ConfigurationError(
                    "the \(node.table) \(node.host.visible) has no key",
                    next:
                        "put the key of its ESPHome configuration into a file and name that as key-file, or say plaintext ="
                        + " true if it has none")
        }
        return node
    }
}

extension ConfigurationKeys {
    static let proxiesMax = 16

    static let proxy = ConfigurationTable(
        "bluetooth.proxy", heading: "[[bluetooth.proxy]]",
        "An ESP32 with ESPHome's Bluetooth proxy, for meters out of this machine's reach (Docs/RadiosAndPlugs.md). "
            + "Repeatable; each serves meterd alone.",
        defaults: NodeKeys(in: "[[bluetooth.proxy]]"),
        keys: [
            .init(
                "host", optional: \.address, .nodeHost, example: #""garage.local""#,
                "Its name or address, with a port unless that is 6053."),
            .init(
                "key-file", optional: \.node.keyPath, .file, example: #""/etc/meterd/garage-key""#,
                "File with the key of its ESPHome configuration (api: encryption:) in the first line. Only the owner "
                    + "may write it, only owner and group may read it."),
            .init(
                "plaintext", \.isPlaintext, .flag,
                "true in place of key-file: no key; everybody in the network may read and change what it says."),
            .init(
                "name", optional: \.node.name, .nodeName, example: #""garage""#,
                "Its name in ESPHome; refuse another node at this address. Default: any."),
            .init(
                "mac", optional: \.node.mac, .macAddress, example: #""A0:B7:65:00:11:22""#,
                "The same for its network interface's address. Default: any."),
        ])
}

extension ConfigurationType<Configuration.Cloud.Listen> {
    static var nodeHost: Self {
        .parsed("a name or an address, with or without a port, as \"garage.local\" or \"192.168.1.20:6053\"") { text in
            if let parts = IPAddress.hostAndPort(text) { return Value(host: parts.host, port: parts.port) }
            if IPAddress.bytes(of: text) != nil { return Value(host: text, port: NodeSettings.defaultPort) }
            let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
            guard pieces.count <= 2, let name = pieces.first, WebNames.isName(String(name)) else { return nil }
            let port = pieces.count == 2 ? UInt16(pieces[1]).map(Int.init) : NodeSettings.defaultPort
            return port.map { Value(host: String(name), port: $0) }
        }
    }
}

extension ConfigurationType<MACAddress> {
    static var macAddress: Self {
        .parsed("an address, as \"A0:B7:65:00:11:22\"") { text in MACAddress(text).flatMap { $0.isBlank ? nil : $0 } }
    }
}

extension ConfigurationType<String> {
    /// ESPHome's rule: small letters, digits and dashes (esphome `config_validation.py`, `hostname`).
    fileprivate static var nodeName: Self {
        .text("a node's name: up to 31 letters, digits, \"-\" and \"_\"") { $0.isPlainName(max: 31) }
    }
}
