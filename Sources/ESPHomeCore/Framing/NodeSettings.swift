package import Domain

/// Address and identity of an ESPHome node, which is a Bluetooth proxy or a meter.
package struct NodeSettings: Hashable, Sendable {
    package static let defaultPort = 6053

    package var host: String
    package var port: Int
    /// File with the key; nil for plain text.
    package var keyPath: String?
    /// Expected name in ESPHome; nil for any.
    package var name: String?
    /// Expected MAC address of the network interface; nil for any.
    package var mac: MACAddress?
    package var table: String

    package init(
        host: String, port: Int = defaultPort, keyPath: String? = nil, name: String? = nil, mac: MACAddress? = nil,
        table: String = "[[bluetooth.proxy]]"
    ) {
        (self.host, self.port, self.keyPath) = (host, port, keyPath)
        (self.name, self.mac, self.table) = (name, mac, table)
    }

    package var display: String { port == Self.defaultPort ? host : "\(host):\(port)" }

    /// Compares the reported name and MAC address with the configuration, before and again after the handshake proves
    /// them. Old firmware reports empty texts.
    func check(name claimed: String, mac claimedMAC: String) throws(APIFault) {
        if let name, !claimed.isEmpty, claimed != name {
            throw .unsuitable(
                "\(display) is called \"\(claimed.visible)\", and its \(table) names \"\(name)\". Correct name or"
                    + " host.")
        }
        if let mac, !claimedMAC.isEmpty, MACAddress(claimedMAC) != mac {
            throw .unsuitable(
                "\(display) has the address \(claimedMAC.visible), and its \(table) names \(mac). Correct mac or"
                    + " host.")
        }
    }
}
