package import GatewayAPI
package import IOPorts

/// A link over Bluetooth LE, which has asked what the other side offers. Only used on the loop.
package protocol GATTChannel: ByteChannel {
    /// The services found so far; nil where none are.
    var offered: [SupportService]? { get }
}

extension ByteChannel {
    /// What the other side offers over Bluetooth LE, as far as it was asked; nil for other kinds of link.
    package var gatt: [SupportService]? { (self as? any GATTChannel)?.offered }
}
