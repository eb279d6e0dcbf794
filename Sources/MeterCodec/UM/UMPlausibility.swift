import MeterModel

/// Which values a UM block can hold (Docs/Protocols/UM.md#finding-the-block-again), with a margin for a meter out of
/// its range. Bytes that belong to two blocks, because some between got lost, do not hold such values.
enum UMPlausibility {
    /// One field, and the highest value it is taken with.
    private struct Bound {
        var offset: Int
        /// 2 or 4.
        var width: Int
        var max: UInt32

        func isKept(by block: UnsafeRawBufferPointer) -> Bool {
            (width == 2 ? UInt32(block.u16BE(offset)) : block.u32BE(offset)) <= max
        }
    }

    /// Volts; the models measure up to 24.
    static let voltageMax = 30.0
    /// By how much a model may show more amperes than it measures.
    private static let currentMargin = 1.25

    /// What is the same for all models.
    private static let bounds = [
        // The selected group.
        Bound(offset: 14, width: 2, max: 9),
        // D+ and D-, in hundredths of a volt: a quick charger drives them with a few volts.
        Bound(offset: 96, width: 2, max: 3000), Bound(offset: 98, width: 2, max: 3000),
        // The recorder's threshold, in hundredths of an ampere, and whether it runs.
        Bound(offset: 110, width: 2, max: 30), Bound(offset: 116, width: 2, max: 1),
        // How long the recorder ran: half a year.
        Bound(offset: 112, width: 4, max: 0xFF_FFFF),
        // Screen timeout, brightness.
        Bound(offset: 118, width: 2, max: 15), Bound(offset: 120, width: 2, max: 5),
        // The resistance, in tenths of an ohm: ten times what stands for an open circuit.
        Bound(offset: 122, width: 4, max: 999_999),
        // The screen; the models have six or seven.
        Bound(offset: 126, width: 2, max: 9),
    ]

    /// What speaks against the 130 bytes at the start of `block`; nil when nothing does.
    static func error(_ block: UnsafeRawBufferPointer, model: ModelName) -> CodecError? {
        let scales = UMScales.of(model)
        let currentMax = scales.currentMax * currentMargin
        if Double(block.u16BE(2)) > voltageMax * scales.voltage { return .implausibleField(offset: 2) }
        if Double(block.u16BE(4)) > currentMax * scales.current { return .implausibleField(offset: 4) }
        if Double(block.u32BE(6)) > voltageMax * currentMax * 1000 { return .implausibleField(offset: 6) }
        if !temperaturesAgree(celsius: Int(block.u16BE(10)), fahrenheit: Int(block.u16BE(12))) {
            return .implausibleField(offset: 10)
        }
        return bounds.first { !$0.isKept(by: block) }.map { .implausibleField(offset: $0.offset) }
    }

    /// Both fields are one temperature, each rounded by itself. What a meter sends below 0 °C is not known, so that both
    /// ways are taken: signed numbers, and Celsius that stay at 0 while Fahrenheit fall.
    private static func temperaturesAgree(celsius: Int, fahrenheit: Int) -> Bool {
        func signed(_ word: Int) -> Int { word < 0x8000 ? word : word - 0x10000 }
        let (celsius, fahrenheit) = (signed(celsius), signed(fahrenheit))
        guard (-50...150).contains(celsius) else { return false }
        if celsius == 0, (-60...32).contains(fahrenheit) { return true }
        return abs(5 * (fahrenheit - 32) - 9 * celsius) <= 5 * 3
    }
}
