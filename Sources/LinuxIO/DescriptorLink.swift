package import Domain

/// What a transport knows about one link: how to open it, how it carries bytes, and what to tell people.
/// `DescriptorChannel` does the rest.
package protocol DescriptorLink: Sendable {
    /// Its name in messages: the device node, or the addresses of meter and adapter.
    var name: String { get }
    var framing: Framing { get }
    /// Whether a write waits for the device, even on a non-blocking descriptor. Such writes happen on a thread of their
    /// own.
    var writesBlock: Bool { get }
    /// How long the device is left alone after each write has ended; only where writes wait for the device, which is when
    /// it is known that it has them.
    var writeGap: Duration { get }
    /// What a person can do about a link that accepts no bytes, as a sentence.
    var remedy: String { get }

    /// Opens the link, or starts to. Called once, on a thread of its own, where it may take its time; the result is
    /// closed at once if nobody wants it any more.
    func open() throws(ChannelFailure) -> OpenedLink
    /// The failure to report for a connect that was started and failed. ETIMEDOUT also means that it exceeded its
    /// limit.
    func failure(connecting reason: Errno) -> ChannelFailure
    /// The failure to report for a link that was open and is lost.
    ///
    /// - Parameter reason: nil if it simply ended.
    func failure(losing reason: Errno?) -> ChannelFailure
}

extension DescriptorLink {
    package var writesBlock: Bool { false }
    package var writeGap: Duration { .zero }

    package func failure(connecting reason: Errno) -> ChannelFailure {
        ChannelFailure(.unreachable, "Cannot connect to \(name): \(reason).")
    }
}

/// How a descriptor carries bytes.
package enum Framing: Sendable {
    /// As a stream: boundaries of writes and reads have no meaning. Serial lines, RFCOMM.
    case stream
    /// Each packet is one write, and each read is one packet. Raw HID, L2CAP.
    case packets
}

/// The result of `DescriptorLink.open`. The descriptor is non-blocking.
package enum OpenedLink: Sendable {
    case open(any LinkEndpoint)
    /// A socket whose connect(2) returned EINPROGRESS. It counts as out of reach if it is not connected within `limit`.
    case connecting(any LinkEndpoint, limit: Duration)
}

/// This host's end of a link that is open or about to be.
package protocol LinkEndpoint: Sendable {
    var descriptor: FileDescriptor { get }
    /// Closes the end. Called once, on the loop, which it must not delay.
    ///
    /// - Parameter discardingOutput: there are bytes that the link has not accepted; do not wait until it does.
    func close(discardingOutput: Bool)
}

extension FileDescriptor: LinkEndpoint {
    package var descriptor: FileDescriptor { self }
    package func close(discardingOutput: Bool) { close() }
}
