package import Domain

/// A node of ESPHome as a person configured it, a Bluetooth proxy or a meter: where it is, and what it is recognised by.
package struct NodeSettings: Hashable, Sendable {
    package static let defaultPort = 6053

    package var host: String
    package var port: Int
    /// The file with its key. Nil for plain text, which a person has to ask for.
    package var keyPath: String?
    /// Its name in ESPHome. Nil for any.
    package var name: String?
    /// The address of its network interface. Nil for any.
    package var mac: MACAddress?
    /// The table of the configuration that names it.
    package var table: String

    package init(
        host: String, port: Int = defaultPort, keyPath: String? = nil, name: String? = nil, mac: MACAddress? = nil,
        table: String = "[[bluetooth.proxy]]"
    ) {
        (self.host, self.port, self.keyPath) = (host, port, keyPath)
        (self.name, self.mac, self.table) = (name, mac, table)
    }

    /// The host for people, with its port where that is not the usual one.
    package var display: String { port == Self.defaultPort ? host : "\(host):\(port)" }

    /// Compares what a node says of itself, which is done twice: before it is trusted, and after.
    ///
    /// - Parameters:
    ///   - name: empty if it says none, as old firmware does.
    ///   - mac: the same.
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
