import Glibc
import IOPorts
import LinuxIO
import MeterModel

/// A meter's raw HID device as a link.
struct HidLink: DescriptorLink {
    let path: String
    let devices: DeviceTable
    /// A person said that a meter is behind this node.
    let isDeclared: Bool

    var name: String { path }
    var framing: Framing { .packets }
    var writesBlock: Bool { true }
    var remedy: String { "Unplug the meter and plug it in again." }

    /// Opens it, if it is still a meter: numbers of nodes are given anew, perhaps to a keyboard, and a report that a meter
    /// takes for a greeting may be an order to another device. Of a declared one a person has said so.
    func open() throws(ChannelFailure) -> OpenedLink {
        let node = try HidNode(opening: path)
        guard isDeclared || devices.lists(vendor: node.vendor, product: node.product, subsystem: .hidraw) else {
            node.close(discardingOutput: true)
            let ids = "\(node.vendor.fourHexDigits):\(node.product.fourHexDigits)"
            throw ChannelFailure(.unsuitable, "\(path) is not a meter that is known here, but \(ids).")
        }
        return .open(node)
    }

    func failure(losing reason: Errno?) -> ChannelFailure {
        // A report that the device did not take within the kernel's own limit.
        if reason == .timedOut { return ChannelFailure(.stalled, "\(path) takes no report. \(remedy)") }
        return .unplugged(path, reason)
    }
}
