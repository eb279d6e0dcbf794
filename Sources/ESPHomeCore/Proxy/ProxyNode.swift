package import Domain

/// Which node a person means, and what is known to recognise it by.
package struct ProxyNode: Hashable, Sendable {
    /// Its name for people: the configured host.
    package var display: String
    /// The table of the configuration that names it.
    package var table: String
    /// Its name in ESPHome. Nil for any.
    package var name: String?
    /// The address of its network interface. Nil for any.
    package var mac: MACAddress?

    package init(
        display: String, name: String? = nil, mac: MACAddress? = nil, table: String = "[[bluetooth.proxy]]"
    ) {
        self.display = display
        self.table = table
        self.name = name
        self.mac = mac
    }

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

/// What a proxy told about itself.
package struct ProxyInfo: Hashable, Sendable {
    package var name: String
    /// ESPHome's version.
    package var version: String
    package var model: String
    /// The address of its Bluetooth radio, which identifies it as an adapter.
    package var address: MACAddress
    package var features: ProxyFeatures

    /// - Throws: why meterd cannot use this node.
    init(_ message: ProtoMessage<DeviceInfoResponse>, of node: ProxyNode) throws(APIFault) {
        let features = ProxyFeatures(rawValue: message.features)
        let version = message.version.isEmpty ? "an unknown version" : message.version.visible
        guard !features.isEmpty else {
            throw .unsuitable(
                "\(node.display) runs ESPHome \(version) without a Bluetooth proxy. Add bluetooth_proxy: with active: true to"
                    + " its configuration.")
        }
        guard features.contains(.rawAdvertisements) else {
            throw .unsuitable(
                "\(node.display) runs ESPHome \(version), whose Bluetooth proxy is too old. Update it."
            )
        }
        let text = message.bluetoothMAC.isEmpty ? message.mac : message.bluetoothMAC
        guard let address = MACAddress(text) else {
            throw .unsuitable(
                "\(node.display) tells no address of its radio (\"\(text.visible)\"). Update its ESPHome.")
        }
        (name, self.version, model) = (message.name.visible, message.version.visible, message.model.visible)
        (self.address, self.features) = (address, features)
    }

    /// Whether it makes links. One that only listens does not.
    package var makesLinks: Bool { features.isSuperset(of: [.activeConnections, .remoteCaching]) }
}
