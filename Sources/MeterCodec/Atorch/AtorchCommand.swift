package import Domain

/// A command to an Atorch meter: 10 bytes, `FF 55 11 <type> <code> <u32 value> <check>`
/// (Docs/Protocols/Atorch.md#commands-and-replies).
package struct AtorchCommand: Hashable, Sendable {
    package static let length = 10

    package var type: AtorchReportType
    package var code: Code
    /// Argument in seconds for `backlight`, in hundredths for `price`, otherwise 0.
    package var value: UInt32

    /// Codes 0x11 and 0x12 mean plus and minus on AC meters, 0x33 and 0x34 usually on others. A DL24M ignores 0x11 and
    /// 0x12 without a reply (syssi/esphome-atorch-dl24, issue 76).
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
        /// Switches the load of a DL24 and similar models on or off (tshaddack/dl24).
        case enter = 0x32
        case plusUSB = 0x33
        case minusUSB = 0x34
    }

    /// Codes for plus and minus: 0x11 and 0x12, or 0x33 and 0x34.
    package enum Keys: Sendable {
        case first, second
    }

    package init(_ code: Code, type: AtorchReportType, value: UInt32 = 0) {
        self.type = type
        self.code = code
        self.value = value
    }

    /// Nil if no Atorch meter of the type supports the command.
    ///
    /// - Parameter keys: nil for the usual codes of the type.
    package init?(_ command: MeterCommand, type: AtorchReportType, keys: Keys? = nil) {
        let keys = keys ?? (type == .ac ? .first : .second)
        let code: Code? =
            switch command.kind {
            case .clearEnergy: .clearEnergy
            case .clearCharge: .clearCharge
            case .clearTime: .clearTime
            case .clearAll: .clearAll
            case .plus: keys == .first ? .plus : .plusUSB
            case .minus: keys == .first ? .minus : .minusUSB
            case .setup: .setup
            case .enter: type == .dc ? nil : .enter
            case .screenTimeout: .backlight
            case .price: .price
            default: nil
            }
        guard let code else { return nil }
        self.init(code, type: type, value: UInt32(clamping: command.number ?? 0))
    }

    /// Parses exactly one command; nil if its check byte, type or code is wrong.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes[0] == 0xFF, bytes[1] == 0x55, bytes[2] == 0x11,
            let type = AtorchReportType(rawValue: bytes[3]), let code = Code(rawValue: bytes[4]),
            bytes.withUnsafeBytes(AtorchCheck.byte(ofMessage:)) == bytes[9]
        else { return nil }
        self.init(code, type: type, value: bytes.withUnsafeBytes { $0.u32BE(5) })
    }

    package var bytes: [UInt8] {
        var body: [UInt8] = [0x11, type.rawValue, code.rawValue]
        body.appendBE(value)
        return [0xFF, 0x55] + body + [AtorchCheck.byte(over: body)]
    }
}

extension AtorchCommand.Keys? {
    var other: AtorchCommand.Keys? { self == .first ? .second : .first }
}
