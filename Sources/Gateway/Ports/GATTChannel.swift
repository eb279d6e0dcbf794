package import Domain
package import GatewayAPI

/// A link over Bluetooth LE that has discovered the other side's services. To be used only on the loop.
package protocol GATTChannel: ByteChannel {
    /// The services found so far, if any.
    var offered: [SupportService]? { get }
}

extension ByteChannel {
    /// The services of the other side of a Bluetooth LE link, as far as discovered. Nil for other kinds of link.
    package var gatt: [SupportService]? { (self as? any GATTChannel)?.offered }
}
