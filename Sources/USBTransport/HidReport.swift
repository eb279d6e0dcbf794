/// How bytes travel to a meter over raw HID: reports of 64 bytes without a number (Docs/Protocols/FNIRSI.md#usb).
enum HidReport {
    static let length = 64

    /// What to write for some bytes: report by report, each behind the 0 that stands for the missing number
    /// (Documentation/hid/hidraw.rst, write), the last one filled up with zeros.
    static func writes(carrying bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: length).map { start in
            let report = bytes[start..<min(start + length, bytes.count)]
            return [0] + report + [UInt8](repeating: 0, count: length - report.count)
        }
    }
}
