import Domain
import MeterCodec

/// Reports of real meters (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs, tests), and reports built from the layout in
/// Docs/Protocols/WITRN.md.
enum WITRNSample {
    /// A K2 with nothing plugged in.
    static let k2 =
        Hex.decode(
            "FF5592ACB3B548231A34000050005C29A5409DE89A425A1F00009214000043A0223F"
                + "A09D0E3F0000C8410000C8C20000000000000000001E200880060020D53A") ?? []
    /// A C5 with nothing plugged in.
    static let c5 =
        Hex.decode(
            "FF5597F86DED3C691A3464005000C7DC2D3E27445440BC0000009702000000000000"
                + "000000000000C841000096C2D2F79F3BE0B4E43800B90008340700203416") ?? []
    /// The K2 while it answered another program, with one byte and with six.
    static let replies = [
        Hex.decode(
            "FF558777424713980A01500050005C29A5409DE89A425A1F0000870800003666223F"
                + "D97C0E3F0000C8410000C8C20000000000000000001F2008800600209D23") ?? [],
        Hex.decode(
            "FF5587795C4E59A20A0629FDC8C8F08EA5409DE89A425A1F000087080000D540223F"
                + "506B0E3F0000C8410000C8C20000000000000000001F2008800600209089") ?? [],
    ]

    /// What a report holds, and where.
    struct Fields {
        var seconds: UInt32 = 100
        var fraction = 0
        var command: UInt8 = 0x1A
        var length: UInt8 = 52
        var threshold: UInt16 = 80
        var ampereHours: Float = 0.5
        var wattHours: Float = 2.5
        var recorded: UInt32 = 60
        var dataPlus: Float = 0.6
        var dataMinus: Float = 0.5
        var inside: Float = 25
        var outside: Float = -75
        var volts: Float = 9
        var amperes: Float = -1.5
        var group: UInt8 = 0
        var cc: (UInt8, UInt8) = (0, 0)

        var bytes: [UInt8] {
            var bytes: [UInt8] = [0xFF, 0x55, UInt8(seconds & 0xFF), UInt8(fraction & 0xFF), 0, 0]
            bytes += [UInt8(fraction % 100), 0, command, length, 0, 0]
            bytes.appendLE(threshold)
            bytes.appendLE(ampereHours)
            bytes.appendLE(wattHours)
            bytes.appendLE(recorded)
            bytes.appendLE(seconds)
            for value in [dataPlus, dataMinus, inside, outside, volts, amperes] { bytes.appendLE(value) }
            bytes += [group, cc.0, cc.1, 0, 0, 0, 0, 0]
            return WITRNSample.sealed(bytes)
        }
    }

    /// 62 bytes with their two sums behind them.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [bytes[8...].reduce(0, &+), bytes.reduce(0, &+)]
    }

    /// A report about a message on the CC line, filled up with zeros.
    static func heard(_ message: [UInt8], orderedSet: UInt8 = 0xE0, length: Int? = nil) -> [UInt8] {
        let bytes = [0xFE, UInt8(length ?? message.count + 1), orderedSet] + message
        return bytes + [UInt8](repeating: 0, count: 64 - bytes.count)
    }

    /// 5 V with 3 A (KHWLGH/WITRN-RS crates/witrn-hid/src/device.rs, tests).
    static let offer: [UInt8] = [0xA1, 0x11, 0x2C, 0x91, 0x01, 0x08]
}
