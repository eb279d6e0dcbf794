package import Domain
import Glibc
package import LinuxIO
import MeterCodec

package struct BulkChannelOpener: ChannelOpener {
    private let loop: IOLoop
    private let devices: DeviceTable

    /// - Parameter devices: ids of meters. Other devices are never opened.
    package init(loop: IOLoop, devices: DeviceTable = .builtIn) {
        self.loop = loop
        self.devices = devices
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        guard case .bulk(let path) = link else { preconditionFailure("\(link) is not a bulk link") }
        return BulkChannel.open(path, on: loop, handle: handle) { [devices] () throws(ChannelFailure) in
            try Self.port(at: path, devices)
        }
    }

    /// Opens the node if it still belongs to a meter, because node numbers are reused. Never detaches a driver, which
    /// another program may be using.
    static func port(at path: String, _ devices: DeviceTable) throws(ChannelFailure) -> any BulkPort {
        let node = try USBNode(opening: path)
        do {
            return try claimInterface(of: node, at: path, devices)
        } catch {
            node.descriptor.closeElsewhere()
            throw error
        }
    }

    private static func claimInterface(
        of node: USBNode, at path: String, _ devices: DeviceTable
    ) throws(ChannelFailure) -> BulkNode {
        let descriptors = (try? node.descriptors()) ?? []
        guard let interface = BulkInterface(descriptors: descriptors),
            devices.lists(vendor: interface.vendor, product: interface.product, subsystem: .usb)
        else { throw ChannelFailure(.unsuitable, "\(path) is not a meter with an interface of its maker's.") }
        // Retry while a program holds the interface. It may be this program, which is about to release it.
        for _ in 0..<10 {
            let (port, holder) = try claim(interface, of: node, at: path)
            if let port { return port }
            guard holder == program else {
                throw ChannelFailure(
                    .busy,
                    "The kernel's driver \(holder) has the meter's own interface at \(path), and keeps it. The serial port"
                        + " needs none of it; to have it here: sudo modprobe -r \(holder)")
            }
            usleep(50_000)
        }
        throw ChannelFailure(.busy, "Another program has \(path) for itself. See which with: fuser -v \(path)")
    }

    private static let program = "usbfs"

    private static func claim(
        _ interface: BulkInterface, of node: USBNode, at path: String
    ) throws(ChannelFailure) -> (port: BulkNode?, holder: String) {
        do {
            if let driver = try node.driver(ofInterface: interface.number) { return (nil, driver) }
            try node.claim(interface: interface.number)
            return (try BulkNode(node, interface), "")
        } catch {
            if error.code == EBUSY { return (nil, program) }
            throw ChannelFailure(
                error.code == ENODEV ? .missing : .system, "Cannot use \(path): \(error). Plug the meter in anew.")
        }
    }
}
