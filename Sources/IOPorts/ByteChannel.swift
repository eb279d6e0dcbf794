package import MeterModel

/// Makes links of one kind.
package protocol ChannelOpener: Sendable {
    /// Starts to open a link. Called on the loop; does not block.
    ///
    /// `handle` is called on the loop, never before this call has returned: first `.opened` or `.closed`, then
    /// `.received` as bytes come, and once `.closed` at the end unless the caller closed the channel itself.
    func open(_ link: LinkAddress, baudRate: Int, handle: @escaping @Sendable (ChannelEvent) -> Void) -> any ByteChannel
}

/// A link that is open or opening. Only used on the loop.
package protocol ByteChannel: Sendable {
    /// Queues bytes. What cannot be written at once is written when the line takes it; a line that takes nothing for
    /// long, or is gone, ends with `.closed`.
    func send(_ bytes: [UInt8])
    /// Reads away what is pending, closes, and calls `handle` no more. Closing twice is harmless.
    func close()
    /// As `close`, but goes on taking what comes, and throwing it away, for so long: some meters hang when nobody takes
    /// what they still send. To the caller, who can neither send nor hear any more, it is closed at once.
    func close(after pause: Duration)
    /// Whose meters have such a link, as far as its open form tells: characteristics that only some have. nil means
    /// anybody's. Told once it is open.
    var families: Set<MeterFamily>? { get }
}

extension ByteChannel {
    package var families: Set<MeterFamily>? { nil }
    package func close(after pause: Duration) { close() }
}

package enum ChannelEvent: Sendable {
    case opened
    /// Never empty.
    case received([UInt8])
    /// The link is gone, or could not be opened. Nothing comes after it.
    case closed(ChannelFailure)
}

/// Why a link ended or never began.
package struct ChannelFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The device node is not there.
        case missing
        /// The user this program runs as may not open it.
        case permission
        /// Somebody else has it open for themselves.
        case busy
        /// It was there and went away: unplugged, powered off, closed at the other end.
        case lost
        /// It takes no more bytes.
        case stalled
        /// Nobody answered in time: out of range, switched off, or in somebody else's hands.
        case unreachable
        /// The link is there, but not of a kind that a meter known here has.
        case unsuitable
        /// The adapter cannot make a link just now: off, blocked, gone, or with as many links as it bears.
        case adapter
        /// Anything else the system said.
        case system
    }

    package var code: Code
    /// What failed, with which value, and what to do.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
