package import Domain

package struct ProxyInfo: Hashable, Sendable {
    package var name: String
    package var version: String
    package var model: String
    /// Address of the Bluetooth radio; identifies the proxy as an adapter.
    package var address: MACAddress
    package var features: ProxyFeatures

    init(_ message: ProtoMessage<DeviceInfoResponse>, of node: NodeSettings) throws(APIFault) {
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

    /// False if the proxy only receives advertisements.
    package var makesLinks: Bool { features.isSuperset(of: [.activeConnections, .remoteCaching]) }
}
