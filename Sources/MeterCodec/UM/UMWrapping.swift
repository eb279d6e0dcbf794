/// Wraps a UM meter's one-byte commands for an A3-B over LE. The byte replaces the button code in the Atorch command
/// `FF 55 11 03 F0 00 00 00 00 40` (moormaster/python3-um24c-ble).
package enum UMWrapping {
    package static let length = 10
    private static let head: [UInt8] = [0xFF, 0x55, 0x11, 0x03]

    package static func frame(around byte: UInt8) -> [UInt8] {
        let body = head + [byte, 0, 0, 0, 0]
        return body + [AtorchCheck.byte(over: body.dropFirst(2))]
    }

    /// Returns the command byte; nil if `frame` is not exactly one frame.
    package static func byte(in frame: [UInt8]) -> UInt8? {
        guard frame.count == length, frame.starts(with: head) else { return nil }
        return self.frame(around: frame[4]) == frame ? frame[4] : nil
    }
}
