package import Domain
package import LinuxIO

package struct HidChannelOpener: ChannelOpener {
    private let loop: IOLoop
    private let devices: DeviceTable
    private let isDeclared: @Sendable (_ path: String) -> Bool
    private let stallLimit: Duration

    /// - Parameters:
    ///   - devices: ids of meters. Only these devices and declared ports receive reports.
    ///   - isDeclared: whether the configuration or a user declared a meter at a node.
    ///   - stallLimit: maximum duration for which a device may accept no report.
    package init(
        loop: IOLoop, devices: DeviceTable = .builtIn,
        isDeclared: @escaping @Sendable (_ path: String) -> Bool = { _ in false }, stallLimit: Duration = .seconds(5)
    ) {
        self.loop = loop
        self.devices = devices
        self.isDeclared = isDeclared
        self.stallLimit = stallLimit
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        guard case .hid(let path) = link else { preconditionFailure("\(link) is not a HID link") }
        let link = HidLink(path: path, devices: devices, isDeclared: isDeclared(path), writeGap: line.writeGap)
        return HidChannel(DescriptorChannel.open(link, on: loop, stallLimit: stallLimit, handle: handle))
    }
}

/// Splits sent bytes into HID reports. Each received packet is one whole report.
struct HidChannel: ByteChannel {
    private let channel: DescriptorChannel

    init(_ channel: DescriptorChannel) { self.channel = channel }

    func send(_ bytes: [UInt8]) {
        for report in HidReport.writes(carrying: bytes) { channel.send(report) }
    }

    func close() { channel.close() }
    func close(after pause: Duration) { channel.close(after: pause) }
}
