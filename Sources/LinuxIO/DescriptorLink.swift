package import Domain

/// The transport-specific part of a `DescriptorChannel`: opening, framing and texts.
package protocol DescriptorLink: Sendable {
    /// Name in messages: device node, or addresses of meter and adapter.
    var name: String { get }
    var framing: Framing { get }
    /// Whether a write blocks even on a non-blocking descriptor, and so runs on a thread.
    var writesBlock: Bool { get }
    /// Pause after each blocking write, for slow devices.
    var writeGap: Duration { get }
    /// Advice for the user, as a sentence, about a link that accepts no bytes.
    var remedy: String { get }

    /// Opens the link, or starts to. Called once, on its own thread, where it may block.
    func open() throws(ChannelFailure) -> OpenedLink
    /// Returns the failure of a connect. ETIMEDOUT may also mean that it exceeded the limit in `OpenedLink.connecting`.
    func failure(connecting reason: Errno) -> ChannelFailure
    /// - Parameter reason: nil if the open link ended without an error.
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
    /// connect(2) returned EINPROGRESS. After `limit` the other end counts as unreachable.
    case connecting(any LinkEndpoint, limit: Duration)
}

package protocol LinkEndpoint: Sendable {
    var descriptor: FileDescriptor { get }
    /// Called once, on the loop, so it must not block.
    ///
    /// - Parameter discardingOutput: whether to drop unsent bytes instead of waiting.
    func close(discardingOutput: Bool)
}

extension FileDescriptor: LinkEndpoint {
    package var descriptor: FileDescriptor { self }
    package func close(discardingOutput: Bool) { close() }
}
