import Domain

/// Limits for the values of a UM block (Docs/Protocols/UM.md#finding-the-block-again), with a margin. They detect a
/// block joined from parts of two blocks after lost bytes.
enum UMPlausibility {
    private struct Bound {
        var offset: Int
        /// Width in bytes: 2 or 4.
        var width: Int
        var max: UInt32
        /// How far below zero a 2-byte word, interpreted as signed, may be.
        var belowZero: UInt16 = 0

        func isKept(by block: UnsafeRawBufferPointer) -> Bool {
            guard width == 2 else { return block.u32BE(offset) <= max }
            return block.u16BE(offset).isPossible(upTo: UInt16(clamping: max), orBelowZeroBy: belowZero)
        }
    }

    /// Maximum voltage of D+ and D-, in hundredths of a volt.
    private static let dataLineMax: UInt32 = 3000
    /// Maximum voltage in volts; the models measure up to 24.
    static let voltageMax = 30
    /// Factor by which the displayed current may exceed the model's range.
    private static let currentMargin = 1.25

    private static let celsiusRange = -50...150

    private static let bounds = [
        // The selected data group.
        Bound(offset: 14, width: 2, max: 9),
        // D+ and D-, in hundredths of a volt.
        Bound(offset: 96, width: 2, max: dataLineMax, belowZero: 50),
        Bound(offset: 98, width: 2, max: dataLineMax, belowZero: 50),
        // The recorder's threshold in hundredths of an ampere; whether the recorder runs.
        Bound(offset: 110, width: 2, max: 30), Bound(offset: 116, width: 2, max: 1),
        // Recording time in seconds: up to half a year.
        Bound(offset: 112, width: 4, max: 0xFF_FFFF),
        // Screen timeout in minutes; brightness.
        Bound(offset: 118, width: 2, max: 15), Bound(offset: 120, width: 2, max: 5),
        // Resistance in tenths of an ohm: up to ten times `openCircuit`.
        Bound(offset: 122, width: 4, max: 999_999),
        // Number of the screen; the models have six or seven.
        Bound(offset: 126, width: 2, max: 9),
    ]

    static func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] {
        let currentMax = UMScales.of(model).currentMax * currentMargin
        let lineMax = Double(dataLineMax) / 100
        return [
            .voltage: 0...Double(voltageMax), .current: -currentMax...currentMax,
            .temperature: Double(celsiusRange.lowerBound)...Double(celsiusRange.upperBound), .dataPlus: 0...lineMax,
            .dataMinus: 0...lineMax,
        ]
    }

    static func error(_ block: UnsafeRawBufferPointer, model: ModelName) -> CodecError? {
        let scales = UMScales.of(model)
        let currentMax = scales.currentMax * currentMargin
        if Double(block.u16BE(2)) > Double(voltageMax) * scales.voltage { return .implausibleField(offset: 2) }
        if Double(block.u16BE(4)) > currentMax * scales.current { return .implausibleField(offset: 4) }
        if Double(block.u32BE(6)) > Double(voltageMax) * currentMax * 1000 { return .implausibleField(offset: 6) }
        if !temperaturesAgree(celsius: Int(block.u16BE(10)), fahrenheit: Int(block.u16BE(12))) {
            return .implausibleField(offset: 10)
        }
        return bounds.first { !$0.isKept(by: block) }.map { .implausibleField(offset: $0.offset) }
    }

    /// Returns whether both fields contain the same temperature, each rounded separately. The encoding below 0 °C is
    /// unknown, so negative numbers also pass, and 0 °C with a lower Fahrenheit value, for which `celsius` returns nil.
    private static func temperaturesAgree(celsius: Int, fahrenheit: Int) -> Bool {
        let (celsius, fahrenheit) = (signed(celsius), signed(fahrenheit))
        guard celsiusRange.contains(celsius) else { return false }
        if celsius == 0, (-60...32).contains(fahrenheit) { return true }
        return areOne(celsius, fahrenheit)
    }

    private static func areOne(_ celsius: Int, _ fahrenheit: Int) -> Bool {
        abs(5 * (fahrenheit - 32) - 9 * celsius) <= 5 * 3
    }

    static func signed(_ word: Int) -> Int { word < 0x8000 ? word : word - 0x10000 }

    /// Returns degrees Celsius; nil if the Fahrenheit word contradicts them.
    static func celsius(_ word: Int, beside fahrenheit: Int) -> Int? {
        areOne(signed(word), signed(fahrenheit)) ? signed(word) : nil
    }

    /// Returns the voltage of D+ or D- in volts; nil if negative, because that encoding is unknown.
    static func dataLine(_ word: Int) -> Double? { word <= dataLineMax ? Double(word) / 100 : nil }
}
