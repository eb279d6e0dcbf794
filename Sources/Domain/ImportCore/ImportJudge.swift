/// Rejects values that the meter cannot have measured, as live decoding does.
struct ImportJudge: Sendable {
    private let format: ImportFormat
    /// Plausible ranges, indexed by the raw values of quantities.
    private let ranges: [ClosedRange<Double>?]
    /// Whether the FNIRSI logger's sums include a negative current that it read as unsigned.
    private var isWrapped = false
    /// Whether rd-usb measured a temperature or the data lines, so that zeros there are real.
    private var hasSensors = false
    private var found: [Remark] = []
    private(set) var leftOut = 0
    private(set) var firstLeftOut: (line: Int, problem: String)?

    private struct Remark {
        var key: String
        var text: String
        var more = 0
    }

    /// 2^32 in units of 0.00001. The logger reads signed numbers as unsigned, so values of at least half of this are
    /// negative.
    private static let wrap = 42_949.67296
    private static let vital = QuantitySet(.voltage, .current, .power)
    private static let sensors: [Quantity] = [.temperature, .dataPlus, .dataMinus]
    private static let calculated: [Quantity] = [.power, .resistance, .energy, .charge]
    /// Resistance that UM meters send without a load, and that loggers write as a number (kolinger/rd-usb
    /// webapp/index.py, sebastianha/um34c README).
    private static let noLoad = 9999.9
    /// Least product of voltage and current, in watts, that contradicts a power of 0 despite rounding.
    private static let powerMin = 0.1

    init(_ format: ImportFormat, _ ranges: [Quantity: ClosedRange<Double>]) {
        self.format = format
        self.ranges = Quantity.allCases.map { ranges[$0] }
    }

    var remarks: [String] {
        found.map { $0.more > 0 ? "\($0.text); \($0.more) more such line\($0.more > 1 ? "s" : "")" : $0.text }
    }

    func allows(_ quantity: Quantity, _ value: Double) -> Bool {
        ranges[Int(quantity.rawValue)]?.contains(value) ?? true
    }

    /// Handles a restart of the FNIRSI logger, which resets its sums.
    mutating func beginRun() { isWrapped = false }

    mutating func remark(_ key: String, _ text: @autoclosure () -> String) {
        if let index = found.firstIndex(where: { $0.key == key }) {
            found[index].more += 1
        } else {
            found.append(Remark(key: key, text: text()))
        }
    }

    /// Returns the plausible values; nil if the line is rejected.
    mutating func judge(_ reading: Reading, line: Int) -> Reading? {
        var reading = reading
        if format == .logger { restoreSign(&reading, line) }
        if format == .rdUSB { dropPlaceholders(&reading, line) }
        if format != .csv, format != .json { dropContradictions(&reading, line) }
        var (bad, isVital) = (Quantity?.none, false)
        reading.known.forEach { quantity in
            guard let range = ranges[Int(quantity.rawValue)], let value = reading[quantity], !range.contains(value)
            else {
                return
            }
            guard !Self.vital.contains(quantity) else {
                if !isVital { (bad, isVital) = (quantity, true) }
                return
            }
            remark(quantity.key, "line \(line): \(Self.said(quantity, value, range)), so it is unknown")
            reading[quantity] = nil
        }
        guard let bad, let value = reading[bad], let range = ranges[Int(bad.rawValue)] else { return reading }
        let problem = Self.said(bad, value, range)
        remark("line \(bad.key)", "line \(line) is left out: \(problem)")
        leftOut += 1
        if firstLeftOut == nil { firstLeftOut = (line, problem) }
        return nil
    }

    private static func said(_ quantity: Quantity, _ value: Double, _ range: ClosedRange<Double>) -> String {
        "\(quantity.word) is \(value.plainText) \(quantity.unit), but this meter's values lie within "
            + "\(range.lowerBound.plainText) to \(range.upperBound.plainText) \(quantity.unit)"
    }

    /// Restores the sign of the current, which fnirsi_logger.py prints as unsigned (Docs/Protocols/FNIRSI.md#packet).
    private mutating func restoreSign(_ reading: inout Reading, _ line: Int) {
        if let current = reading[.current], current > Self.wrap / 2, current < Self.wrap {
            let signed = ((current - Self.wrap) * 1e5).rounded() / 1e5
            remark(
                "sign",
                "line \(line): current \(current.plainText) A lost its sign, and is read as \(signed.plainText) A"
            )
            reading[.current] = signed
            if reading.supported.contains(.power) { reading[.power] = nil }
            if !isWrapped, reading[.energy] != nil || reading[.charge] != nil {
                remark(
                    "sums",
                    "line \(line): from here on energy and charge are unknown, as the logger added that current up")
            }
            isWrapped = true
        }
        guard isWrapped else { return }
        for quantity in [Quantity.energy, .charge] where reading.supported.contains(quantity) {
            reading[quantity] = nil
        }
    }

    /// Removes zeros that stand for unmeasured values. rd-usb stores only voltage and current of a TC66C recording, and
    /// 0 for the rest, unless it calculated power, resistance and sums (webapp/index.py, `do_tc66c_import`).
    private mutating func dropPlaceholders(_ reading: inout Reading, _ line: Int) {
        guard !hasSensors, Self.sensors.allSatisfy({ reading.supported.contains($0) }) else { return }
        guard Self.sensors.allSatisfy({ reading[$0] == 0 }) else {
            hasSensors = true
            return
        }
        let isCalculated = reading[.power] != 0 || reading[.resistance].map { $0 != 0 } ?? true
        let unknown = Self.sensors + [.duration] + (isCalculated ? [] : Self.calculated)
        let dropped = unknown.filter { reading[$0] == 0 }
        guard !dropped.isEmpty else { return }
        for quantity in dropped { reading[quantity] = nil }
        let words = dropped.map(\.word).joined(separator: ", ")
        remark(
            "placeholders", "line \(line): \(words) are unknown, as rd-usb writes 0 for what a TC66C does not record")
    }

    private mutating func dropContradictions(_ reading: inout Reading, _ line: Int) {
        if reading[.resistance] == Self.noLoad { reading[.resistance] = nil }
        // With a power factor, a power of 0 is plausible.
        guard reading[.power] == 0, !reading.supported.contains(.powerFactor), let voltage = reading[.voltage],
            let current = reading[.current], abs(voltage * current) >= Self.powerMin
        else { return }
        reading[.power] = nil
        remark(
            "power",
            "line \(line): power is 0 W beside \(voltage.plainText) V and \(current.plainText) A, so it is unknown"
        )
    }
}
