package import Domain
package import LinuxIO

package struct SerialChannelOpener: ChannelOpener {
    private let loop: IOLoop
    private let stallLimit: Duration

    /// - Parameter stallLimit: maximum duration for which a line may accept no byte of a backlog.
    package init(loop: IOLoop, stallLimit: Duration = .seconds(5)) {
        self.loop = loop
        self.stallLimit = stallLimit
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        guard case .serial(let path) = link else { preconditionFailure("\(link) is not a serial link") }
        return DescriptorChannel.open(
            SerialLink(path: path, baudRate: line.baudRate), on: loop, stallLimit: stallLimit, handle: handle)
    }
}
