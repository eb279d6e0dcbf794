package import IOPorts

/// One link as its transport knows it: how it is opened, how it carries bytes, and what people are told of it.
/// `DescriptorChannel` does the rest.
package protocol DescriptorLink: Sendable {
    /// What messages call it: the device node, or the meter's address and the adapter's.
    var name: String { get }
    var framing: Framing { get }
    /// A write waits for the device, on a non-blocking descriptor too. Such writes happen on a thread of their own.
    var writesBlock: Bool { get }
    /// What a person can do about a link that takes no bytes: a sentence.
    var remedy: String { get }

    /// Opens the link, or begins to. Called once, on a thread of its own, where it may take its time; what it gives is
    /// closed at once when nobody wants it any more.
    func open() throws(ChannelFailure) -> OpenedLink
    /// What to say of a connect that was begun and came to nothing. ETIMEDOUT: it took longer than its limit, too.
    func failure(connecting reason: Errno) -> ChannelFailure
    /// What to say of a link that was open and is no more.
    ///
    /// - Parameter reason: nil where it just ended.
    func failure(losing reason: Errno?) -> ChannelFailure
}

extension DescriptorLink {
    package var writesBlock: Bool { false }

    package func failure(connecting reason: Errno) -> ChannelFailure {
        ChannelFailure(.unreachable, "Cannot connect to \(name): \(reason).")
    }
}

/// How a descriptor carries bytes.
package enum Framing: Sendable {
    /// As they come: writes and reads mean nothing. Serial lines, RFCOMM.
    case stream
    /// What is sent at once is one write, and each read is one packet. Raw HID, L2CAP.
    case packets
}

/// What `DescriptorLink.open` gives. The descriptor does not block.
package enum OpenedLink: Sendable {
    case open(any LinkEnd)
    /// A socket whose connect(2) answered EINPROGRESS. It counts as out of reach when it is not connected within
    /// `limit`.
    case connecting(any LinkEnd, limit: Duration)
}

/// This host's end of a link that is open or about to be.
package protocol LinkEnd: Sendable {
    var descriptor: FileDescriptor { get }
    /// Closes it. Called once, on the loop, which it must not hold up.
    ///
    /// - Parameter discardingOutput: bytes are left that the link did not take; do not wait for it to take them.
    func close(discardingOutput: Bool)
}

extension FileDescriptor: LinkEnd {
    package var descriptor: FileDescriptor { self }
    package func close(discardingOutput: Bool) { close() }
}
