import Domain
import GatewayServer
import MeterCodec
import ProxyTransport
import ServerKit

/// The keys of a node, before they are checked against each other.
struct ProxyKeys: Sendable {
    var host: ProxyHost?
    var keyPath: String?
    var isPlaintext = false
    var name: String?
    var mac: MACAddress?
}

/// Where a proxy is.
struct ProxyHost: Hashable, Sendable {
    var host: String
    var port: Int
}

extension ConfigurationKeys {
    static let proxiesMax = 16

    static let proxy = ConfigurationTable(
        "bluetooth.proxy", heading: "[[bluetooth.proxy]]",
        "An ESP32 with ESPHome's Bluetooth proxy, which hears meters that no adapter of this machine does "
            + "(Docs/RadiosAndPlugs.md). As many as there are, each for meterd alone.",
        defaults: ProxyKeys(),
        keys: [
            .init(
                "host", optional: \.host, .nodeHost, example: #""garage.local""#,
                "Its name or address in the network, with a port unless that is 6053."),
            .init(
                "key-file", optional: \.keyPath, .file, example: #""/etc/meterd/garage-key""#,
                "Its key, in the first line: the key under api: encryption: of its ESPHome configuration. Nobody but its "
                    + "owner may write the file and nobody but owner and group may read it."),
            .init(
                "plaintext", \.isPlaintext, .flag,
                "true in place of key-file: it has no key, and everybody in the network may read and change what it says."
            ),
            .init(
                "name", optional: \.name, .nodeName, example: #""garage""#,
                "Its name in ESPHome: another node at this address is refused. Default: any."),
            .init(
                "mac", optional: \.mac, .macAddress, example: #""A0:B7:65:00:11:22""#,
                "The same for the address of its network interface. Default: any."),
        ])
}

extension ProxySettings {
    init(_ table: [String: DescriptionValue]) throws(ConfigurationError) {
        var keys = ProxyKeys()
        try ConfigurationKeys.proxy.read(table, prefix: "bluetooth.proxy.", into: &keys)
        try self.init(keys, in: "[[bluetooth.proxy]]")
    }

    /// - Parameter table: its heading.
    init(_ keys: ProxyKeys, in table: String) throws(ConfigurationError) {
        guard let host = keys.host else {
            throw ConfigurationError(
                "a \(table) has no host",
                next: "give it its name or address, for example host = \"garage.local\"")
        }
        guard (keys.keyPath == nil) == keys.isPlaintext else {
            throw keys.isPlaintext
                ? ConfigurationError(
                    "the \(table) \(host.host.visible) has both key-file and plaintext = true",
                    next: "keep key-file; plaintext is for a node without a key")
                : ConfigurationError(
                    "the \(table) \(host.host.visible) has no key",
                    next:
                        "put the key of its ESPHome configuration into a file and name that as key-file, or say plaintext ="
                        + " true if it has none")
        }
        self.init(
            host: host.host, port: host.port, keyPath: keys.keyPath, name: keys.name, mac: keys.mac, table: table)
    }
}

extension ConfigurationType<ProxyHost> {
    static var nodeHost: Self {
        .parsed("a name or an address, with or without a port, as \"garage.local\" or \"192.168.1.20:6053\"") { text in
            if let parts = IPAddress.hostAndPort(text) { return ProxyHost(host: parts.host, port: parts.port) }
            if IPAddress.bytes(of: text) != nil { return ProxyHost(host: text, port: ProxySettings.defaultPort) }
            let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
            guard pieces.count <= 2, let name = pieces.first, WebNames.isName(String(name)) else { return nil }
            let port = pieces.count == 2 ? UInt16(pieces[1]).map(Int.init) : ProxySettings.defaultPort
            return port.map { ProxyHost(host: String(name), port: $0) }
        }
    }
}

extension ConfigurationType<MACAddress> {
    static var macAddress: Self {
        .parsed("an address, as \"A0:B7:65:00:11:22\"") { text in MACAddress(text).flatMap { $0.isBlank ? nil : $0 } }
    }
}

extension ConfigurationType<String> {
    /// As ESPHome has it: small letters, digits and dashes (esphome `config_validation.py`, `hostname`).
    fileprivate static var nodeName: Self {
        .text("a node's name: up to 31 letters, digits, \"-\" and \"_\"") { text in
            (1...31).contains(text.utf8.count)
                && text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0.isLetterOrDigit }
        }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
