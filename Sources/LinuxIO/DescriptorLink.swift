package import Domain

/// A transport's part of a link: opening, framing and texts. `DescriptorChannel` implements the rest.
package protocol DescriptorLink: Sendable {
    /// Name in messages: the device node, or the addresses of meter and adapter.
    var name: String { get }
    var framing: Framing { get }
    /// Whether a write waits for the device even on a non-blocking descriptor. Such writes run on a thread.
    var writesBlock: Bool { get }
    /// Pause after each blocking write, for slow devices.
    var writeGap: Duration { get }
    /// Advice for the user about a link that accepts no bytes, as a sentence.
    var remedy: String { get }

    /// Opens the link, or starts to open it. Called once, on its own thread, where it may block.
    func open() throws(ChannelFailure) -> OpenedLink
    /// Returns the failure of a connect. ETIMEDOUT may also mean that `limit` was exceeded.
    func failure(connecting reason: Errno) -> ChannelFailure
    /// Returns the failure that ended an open link.
    ///
    /// - Parameter reason: nil for an end without an error.
    func failure(losing reason: Errno?) -> ChannelFailure
}

extension DescriptorLink {
    package var writesBlock: Bool { false }
    package var writeGap: Duration { .zero }

    package func failure(connecting reason: Errno) -> ChannelFailure {
        ChannelFailure(.unreachable, "Cannot connect to \(name): \(reason).")
    }
}

package enum Framing: Sendable {
    /// A stream without boundaries: serial lines, RFCOMM.
    case stream
    /// Each write and each read is one packet: raw HID, L2CAP.
    case packets
}

/// Result of `DescriptorLink.open`. The descriptor is non-blocking.
package enum OpenedLink: Sendable {
    case open(any LinkEndpoint)
    /// A socket whose connect(2) returned EINPROGRESS. After `limit` the other end counts as unreachable.
    case connecting(any LinkEndpoint, limit: Duration)
}

package protocol LinkEndpoint: Sendable {
    var descriptor: FileDescriptor { get }
    /// Closes the end. Called once, on the loop, so it must not block.
    ///
    /// - Parameter discardingOutput: whether to drop unsent bytes instead of waiting.
    func close(discardingOutput: Bool)
}

extension FileDescriptor: LinkEndpoint {
    package var descriptor: FileDescriptor { self }
    package func close(discardingOutput: Bool) { close() }
}
