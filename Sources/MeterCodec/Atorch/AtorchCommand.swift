package import MeterModel

/// What a host tells an Atorch meter: 10 bytes, `FF 55 11 <type> <code> <u32 value> <check>` (protocols.md 6.3).
package struct AtorchCommand: Hashable, Sendable {
    package static let length = 10

    package var type: AtorchReportType
    package var code: Code
    /// Seconds for `backlight`, hundredths for `price`, else 0.
    package var value: UInt32

    /// The commands, by their byte. USB meters have their own plus and minus.
    package enum Code: UInt8, CaseIterable, Sendable {
        case clearEnergy = 0x01
        case clearCharge = 0x02
        case clearTime = 0x03
        case clearAll = 0x05
        case plus = 0x11
        case minus = 0x12
        case backlight = 0x21
        case price = 0x22
        case setup = 0x31
        case enter = 0x32
        case plusUSB = 0x33
        case minusUSB = 0x34
    }

    package init(_ code: Code, type: AtorchReportType, value: UInt32 = 0) {
        self.type = type
        self.code = code
        self.value = value
    }

    /// - Returns: nil for a command that no Atorch has.
    package init?(_ command: MeterCommand, type: AtorchReportType) {
        let code: Code? =
            switch command.kind {
            case .clearEnergy: .clearEnergy
            case .clearCharge: .clearCharge
            case .clearTime: .clearTime
            case .clearAll: .clearAll
            case .plus: type == .usb ? .plusUSB : .plus
            case .minus: type == .usb ? .minusUSB : .minus
            case .setup: .setup
            case .enter: .enter
            case .screenTimeout: .backlight
            case .price: .price
            default: nil
            }
        guard let code else { return nil }
        self.init(code, type: type, value: UInt32(clamping: command.number ?? 0))
    }

    /// Reads a command as a meter would.
    ///
    /// - Returns: nil when the bytes are not exactly one command with a right check byte and a known type and code.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes[0] == 0xFF, bytes[1] == 0x55, bytes[2] == 0x11,
            let type = AtorchReportType(rawValue: bytes[3]), let code = Code(rawValue: bytes[4]),
            bytes.withUnsafeBytes(AtorchCheck.byte(ofMessage:)) == bytes[9]
        else { return nil }
        self.init(code, type: type, value: bytes.withUnsafeBytes { $0.u32BE(5) })
    }

    /// The command as it goes over the line.
    package var bytes: [UInt8] {
        var body: [UInt8] = [0x11, type.rawValue, code.rawValue]
        body.appendBE(value)
        return [0xFF, 0x55] + body + [AtorchCheck.byte(over: body)]
    }
}
