package import Domain
package import GatewayAPI

/// Bluetooth LE link that discovers the device's services. Use only on the session loop.
package protocol GATTChannel: ByteChannel {
    var offered: [SupportService]? { get }
}

extension ByteChannel {
    /// Services discovered over a Bluetooth LE link; nil for other links.
    package var gatt: [SupportService]? { (self as? any GATTChannel)?.offered }
}
