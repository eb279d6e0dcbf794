/// One of two related protocols (Docs/Protocols/KM001.md).
package enum KM001Dialect: Hashable, Sendable, CaseIterable {
    /// Requests end in a CRC, samples have 37 bytes, and the meter answers a request with 200 samples.
    case km001Pro
    /// Requests end in EE FF, samples have 64 bytes, and the meter answers a request with one sample.
    case acd15p
}

/// A request: a HID report of 64 bytes (fqueze/usb-power-profiling usb-power-profiling.js). It contains 55, the length
/// of command and sum, the command, the sum of all previous bytes, two bytes that depend on the dialect, and zeros.
package enum KM001Request: Hashable, Sendable {
    case samples
    case rate(Rate)

    /// Interval of the samples. The raw value is the command's last byte.
    package enum Rate: UInt8, Hashable, Sendable, CaseIterable {
        case every100ms = 1
        case every20ms
        case every10ms
        case every2ms
    }

    package static let startMark: UInt8 = 0x55

    private var command: [UInt8] {
        switch self {
        case .samples: [0x22, 0x05, 0x0B, 0x00]
        case .rate(let rate): [0x31, 0x1A, 0xB1, 0x01, rate.rawValue]
        }
    }

    /// Returns the HID report without a report id. For a KM001 Pro, the CRC-16/MODBUS of all bytes before the sum
    /// follows the sum, low byte first.
    package func bytes(for dialect: KM001Dialect) -> [UInt8] {
        var bytes = [Self.startMark, UInt8(command.count + 1)] + command
        let check = Checksum.crc16Modbus(bytes)
        bytes.append(bytes.reduce(0, &+))
        switch dialect {
        case .km001Pro: bytes.appendLE(check)
        case .acd15p: bytes += [0xEE, 0xFF]
        }
        return bytes + [UInt8](repeating: 0, count: KM001Report.length - bytes.count)
    }
}
