package protocol ChannelOpener: Sendable {
    /// Starts opening a link. Called on the loop; does not block.
    ///
    /// The channel calls `handle` on the loop, never before `open` has returned: `.opened`, then `.received` as bytes
    /// arrive. At the end, or if opening fails, it sends one `.closed`. No call follows `close`.
    func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel
}

/// Settings that a meter needs on its line; the line ignores unsupported ones.
package struct LineSettings: Hashable, Sendable {
    /// In bits per second, for a real serial line.
    package var baudRate: Int
    /// Pause after each report has reached a HID device. A pause between calls of `send` is not enough: after a delayed
    /// report, the next would follow immediately.
    package var writeGap: Duration

    package init(baudRate: Int = 115_200, writeGap: Duration = .zero) {
        self.baudRate = baudRate
        self.writeGap = writeGap
    }
}

/// Open link to a meter. Use it only on the loop.
package protocol ByteChannel: Sendable {
    /// If the device is gone, or accepts no bytes for a long time, the channel ends with `.closed`.
    func send(_ bytes: [UInt8])
    /// Switches to the line's other output (such as a second writable Bluetooth characteristic), or back.
    ///
    /// - Returns: false if the line has only one output.
    func switchOutput() -> Bool
    /// Discards pending bytes and never calls `handle` again. Closing twice is harmless.
    func close()
    /// Closes the channel immediately, but discards received bytes for `pause`: some meters hang if the bytes that they
    /// still send are not read.
    func close(after pause: Duration)
    /// Radio module at the other end, once the channel is open; nil if unknown.
    var radioModule: RadioModule? { get }
    /// A problem that does not stop the link, and its remedy, once the channel is open.
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
    /// The last event: the link was lost, or could not be opened.
    case closed(ChannelFailure)
}

package struct ChannelFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The device node does not exist.
        case missing
        case permission
        /// Another program has opened the device exclusively.
        case busy
        /// The link was up and failed: unplugged, powered off, or closed at the other end.
        case lost
        case stalled
        /// No answer in time: out of range, switched off, or connected to something else.
        case unreachable
        /// The link works, but the device is not a known meter.
        case unsuitable
        /// The adapter cannot open a link now: off, blocked, missing, or at its maximum number of links.
        case adapter
        case system
    }

    package var code: Code
    /// Failure with the value that caused it, and advice.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
