import Domain
import MeterCodec

/// The blocks of real meters that are public and unedited, byte for byte.
enum UMRealBlocks {
    struct Block: Sendable {
        let source: String
        let model: ModelName
        let hex: String
        /// Volts, amperes, watts, ohms: printed with the block by its source, or decoded from its bytes by hand.
        let voltage, current, power, resistance: Double
        let charge_mAh, energy_Wh: Double
    }

    /// An Atorch A3-B, which sends the block of a UM24C: the line `RECV end` that rdserialtool printed, with the values
    /// it printed below it.
    static let a3b = Block(
        source: "https://dernasherbrezon.com/en/posts/smart-usb-meter-a3-b/",
        model: .um24c,
        hex: "096301f60032000000fb0018004b0000" + "00000193000007e0" + String(repeating: "00", count: 72)
            + "01320000" + "0000" + "00000193000007e0" + "0003000033b80001" + "00030005" + "000003ec" + "0000fff1",
        voltage: 5.02, current: 0.05, power: 0.251, resistance: 100.4, charge_mAh: 403, energy_Wh: 2.016
    )

    /// A UM34C: the comment that labels the fields gives no numbers.
    static let um34c = Block(
        source: "https://github.com/sebastianha/um34c app.js",
        model: .um34c,
        hex: "0d4c01f5008e000002c7001b00510001" + "0000000000000000" + "0000000700000027"
            + String(repeating: "00", count: 64) + "00020001" + "0007" + "0000000700000025" + "0013000000460000"
            + "00010004" + "00000160" + "00008068",
        voltage: 5.01, current: 0.142, power: 0.711, resistance: 35.2, charge_mAh: 7, energy_Wh: 0.039
    )

    static let all = [a3b, um34c]
}
