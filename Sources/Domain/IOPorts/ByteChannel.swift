/// Makes links of one kind.
package protocol ChannelOpener: Sendable {
    /// Starts opening a link. Called on the loop; does not block.
    ///
    /// `handle` is called on the loop, never before this call has returned: first `.opened` or `.closed`, then
    /// `.received` as bytes come, and one `.closed` at the end, unless the caller closed the channel itself.
    func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel
}

/// What a meter asks of its line. A line ignores what it cannot do.
package struct LineSettings: Hashable, Sendable {
    /// Bits a second, for a real serial line.
    package var baudRate: Int
    /// How long a device of reports is left alone after each has reached it. Two calls of `send` lie apart, and still the
    /// device gets them upon each other where the first had to wait.
    package var writeGap: Duration

    package init(baudRate: Int = 115_200, writeGap: Duration = .zero) {
        self.baudRate = baudRate
        self.writeGap = writeGap
    }
}

/// A link that is open or opening. To be used only on the loop.
package protocol ByteChannel: Sendable {
    /// Queues bytes. What cannot be written at once is written when the line takes it; a line that takes nothing for
    /// long, or is gone, ends with `.closed`.
    func send(_ bytes: [UInt8])
    /// Sends by the other way to the meter's line from now on; calling it again switches back.
    ///
    /// - Returns: false if there is only one way.
    func switchOutput() -> Bool
    /// Reads and discards what is pending, closes, and never calls `handle` again. Closing twice is harmless.
    func close()
    /// As `close`, but goes on receiving and discarding bytes for this long: some meters hang if nobody takes what they
    /// still send. To the caller, who can neither send nor receive any more, the channel is closed at once.
    func close(after pause: Duration)
    /// The module at the other end, where only some meters have such a one; nil means any. Told once it is open.
    var radioModule: RadioModule? { get }
    /// A problem that does not stop the link, and its remedy. The channel knows it once it is open.
    var remark: String? { get }
}

extension ByteChannel {
    package var radioModule: RadioModule? { nil }
    package var remark: String? { nil }
    package func switchOutput() -> Bool { false }
    package func close(after pause: Duration) { close() }
}

package enum ChannelEvent: Sendable {
    case opened
    /// Never empty.
    case received([UInt8])
    /// The link is gone, or could not be opened. This is the last event.
    case closed(ChannelFailure)
}

/// Why a link ended or could not be opened.
package struct ChannelFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The device node does not exist.
        case missing
        /// The user of this program may not open it.
        case permission
        /// Somebody else has it open exclusively.
        case busy
        /// The link was up and broke: unplugged, powered off, or closed at the other end.
        case lost
        /// The link takes no more bytes.
        case stalled
        /// No answer in time: out of range, switched off, or connected to something else.
        case unreachable
        /// The link works, but nothing about it is a known meter's.
        case unsuitable
        /// The adapter cannot make a link now: off, blocked, gone, or at its maximum number of links.
        case adapter
        /// Any other error from the system.
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
