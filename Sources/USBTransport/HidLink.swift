import Domain
import Glibc
import LinuxIO
import MeterCodec

struct HidLink: DescriptorLink {
    let path: String
    let devices: DeviceTable
    let isDeclared: Bool
    let writeGap: Duration

    var name: String { path }
    var framing: Framing { .packets }
    var writesBlock: Bool { true }
    var remedy: String { "Unplug the meter and plug it in again." }

    /// Opens the node if it still belongs to a meter: node numbers are reused, and another device may execute a meter's
    /// request as a command. A declared node needs no check.
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
        if reason == .timedOut { return ChannelFailure(.stalled, "\(path) takes no report. \(remedy)") }
        return .unplugged(path, reason)
    }
}
