/// Reports over raw HID: 64 bytes without a report number (Docs/Protocols/FNIRSI.md#usb).
enum HidReport {
    static let length = 64

    /// Returns one write for each report: a 0 in place of the missing report number (Documentation/hid/hidraw.rst,
    /// write), then 64 bytes, padded with zeros.
    static func writes(carrying bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: length).map { start in
            let report = bytes[start..<min(start + length, bytes.count)]
            return [0] + report + [UInt8](repeating: 0, count: length - report.count)
        }
    }
}
