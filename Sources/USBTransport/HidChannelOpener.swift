package import Domain
package import LinuxIO

/// Opens raw HID devices as channels.
package struct HidChannelOpener: ChannelOpener {
    private let loop: IOLoop
    private let devices: DeviceTable
    private let isDeclared: @Sendable (_ path: String) -> Bool
    private let stallLimit: Duration

    /// - Parameters:
    ///   - loop: the loop on which channels are used and call back.
    ///   - devices: the ids of meters; nothing is written to other devices, except those of declared ports.
    ///   - isDeclared: whether a person declared that a meter is behind a node.
    ///   - stallLimit: how long a device may accept no report before it counts as stalled.
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

/// Puts bytes into reports. Each arriving packet is a whole report.
struct HidChannel: ByteChannel {
    private let channel: DescriptorChannel

    init(_ channel: DescriptorChannel) { self.channel = channel }

    func send(_ bytes: [UInt8]) {
        for report in HidReport.writes(carrying: bytes) { channel.send(report) }
    }

    func close() { channel.close() }
    func close(after pause: Duration) { channel.close(after: pause) }
}
