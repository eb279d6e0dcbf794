import MeterModel

/// How the columns of a table become readings, from its first line.
struct ImportLayout {
    enum Column: Hashable {
        /// RFC 3339, or the same without a zone.
        case time
        /// Seconds since 1970.
        case unixTime
        /// Seconds since the file's start.
        case elapsed
        /// - Parameter factor: from the file's unit to ours.
        case value(Quantity, factor: Double, none: Double?)
        case skipped
    }

    let format: ImportFormat
    let table: TableLine
    var columns: [Column]
    /// As the file calls them.
    let names: [String]
    /// What a column of a quantity holds at all, so that what is missing in one line is null.
    var isSeparatedByComma: Bool { table.separator == UInt8(ascii: ",") }
    /// The names of columns that are not taken, though something is in them.
    var skipped: [String] { zip(names, columns).filter { $1 == .skipped }.map(\.0) }

    /// What separates columns, in the order in which they are tried.
    static let separators = [",", ";", "\t", " "].map { UInt8(ascii: $0) }

    /// The layout that a first line tells.
    ///
    /// - Parameters:
    ///   - wanted: the only one that counts; nil for any.
    /// - Returns: nil if no known table begins with such a line.
    init?(_ line: ArraySlice<UInt8>, as wanted: ImportFormat?, meter: String?) throws(ImportError) {
        for separator in Self.separators {
            let table = TableLine(separator: separator)
            guard let fields = table.fields(line) else { continue }
            let names = fields.map { String(decoding: $0, as: UTF8.self) }
            guard let format = Self.format(of: names), wanted == nil || wanted == format else { continue }
            self.format = format
            self.table = table
            self.names = names
            columns = []
            columns = format == .csv ? try own(names, meter) : foreign(names)
            return
        }
        return nil
    }

    private static func format(of names: [String]) -> ImportFormat? {
        let set = Set(names)
        if names.first == "time", names.count > 1, names.dropFirst().allSatisfy({ quantity(of: $0) != nil }) {
            return .csv
        }
        if !set.isDisjoint(with: ["Time", "Unix time"]), !set.isDisjoint(with: ["Voltage (V)", "Current (A)"]) {
            return .rdUSB
        }
        if names.first == "timestamp", !set.isDisjoint(with: ["voltage_V", "current_A"]) { return .logger }
        if names.first == "Time", !set.isDisjoint(with: ["Voltage", "Current"]) { return .toolbox }
        return nil
    }

    // MARK: Our own

    /// `voltage_V`, or `charger.voltage_V` where there are several meters.
    private static func quantity(of name: String) -> (meter: String?, Quantity)? {
        let dot = name.lastIndex(of: ".")
        let key = dot.map { String(name[name.index(after: $0)...]) } ?? name
        guard let quantity = Quantity.allCases.first(where: { $0.key == key }) else { return nil }
        return (dot.map { String(name[..<$0]) }, quantity)
    }

    private func own(_ names: [String], _ meter: String?) throws(ImportError) -> [Column] {
        let found = names.dropFirst().compactMap { Self.quantity(of: $0) }
        var meters: [String] = []
        for name in found.compactMap(\.meter) where !meters.contains(name) { meters.append(name) }
        if let meter {
            guard meters.contains(meter) else { throw .noMeter(meter, among: meters) }
        } else if meters.count > 1 || (!meters.isEmpty && found.contains { $0.meter == nil }) {
            throw .severalMeters(meters)
        }
        let wanted = meter ?? meters.first
        let columns = found.map { $0.meter == wanted ? Column.value($0.1, factor: 1, none: nil) : .skipped }
        let taken = columns.filter { $0 != .skipped }
        guard Set(taken).count == taken.count else {
            throw ImportError(
                .unknownLayout, line: 1, "a column is there twice: \(names.joined(separator: ", ").visible)",
                remedy: "take one of the two out")
        }
        return [.time] + columns
    }

    // MARK: Others'

    private func foreign(_ names: [String]) -> [Column] {
        let known = Self.known[format] ?? [:]
        let hasUnixTime = names.contains("Unix time")
        var seen: Set<Column> = []
        return names.map { name in
            let column = name == "Time" && hasUnixTime ? .skipped : known[name] ?? .skipped
            // What is there twice is taken once.
            return column == .skipped || seen.insert(column).inserted ? column : .skipped
        }
    }

    private static let known: [ImportFormat: [String: Column]] = [
        // kolinger/rd-usb utils/formatting.py, `field_names`; the numbers are those of its table of measurements. Without a
        // load a UM meter says 9999.9 Ω, which its export has as that number (webapp/index.py).
        .rdUSB: [
            "Time": .time, "Unix time": .unixTime,
            "Voltage (V)": .value(.voltage, factor: 1, none: nil),
            "Current (A)": .value(.current, factor: 1, none: nil),
            "Power (W)": .value(.power, factor: 1, none: nil),
            "Temperature (°C)": .value(.temperature, factor: 1, none: nil),
            "Data+ (V)": .value(.dataPlus, factor: 1, none: nil), "Data- (V)": .value(.dataMinus, factor: 1, none: nil),
            "Resistance (Ω)": .value(.resistance, factor: 1, none: 9999.9),
            "Accumulated current (mAh)": .value(.charge, factor: 1, none: nil),
            "Accumulated power (mWh)": .value(.energy, factor: 1e-3, none: nil),
            "Accumulated time (seconds)": .value(.duration, factor: 1, none: nil),
        ],
        // baryluk/fnirsi-usb-power-data-logger fnirsi_logger.py: seconds since 1970; energy in watt seconds and charge in
        // ampere seconds, which that program adds up.
        .logger: [
            "timestamp": .unixTime, "voltage_V": .value(.voltage, factor: 1, none: nil),
            "current_A": .value(.current, factor: 1, none: nil), "dp_V": .value(.dataPlus, factor: 1, none: nil),
            "dn_V": .value(.dataMinus, factor: 1, none: nil), "temp_C_ema": .value(.temperature, factor: 1, none: nil),
            "energy_Ws": .value(.energy, factor: 1 / 3600, none: nil),
            "capacity_As": .value(.charge, factor: 1 / 3.6, none: nil),
        ],
        // didim99/usbmeter-utils cfn2csv.py, `channel_types` and the note above: seconds, volts, amperes, watts, Ah, Wh.
        .toolbox: [
            "Time": .elapsed, "Voltage": .value(.voltage, factor: 1, none: nil),
            "Current": .value(.current, factor: 1, none: nil), "Power": .value(.power, factor: 1, none: nil),
            "D+": .value(.dataPlus, factor: 1, none: nil), "D-": .value(.dataMinus, factor: 1, none: nil),
            "Capacity": .value(.charge, factor: 1000, none: nil), "Energy": .value(.energy, factor: 1, none: nil),
        ],
    ]

    /// Columns that say again what another one says, or that count from a moment that nobody needs.
    static let repeating: Set<String> = [
        "Time", "Run time", "Run time (seconds)", "Zerod accumulated current (mAh)", "Zerod accumulated power (mWh)",
        "Zerod accumulated time (seconds)", "sample_in_packet",
    ]
}

extension ImportError {
    static func severalMeters(_ meters: [String]) -> Self {
        ImportError(
            .needsMeter, "the file has several meters: \(meters.joined(separator: ", ").visible)",
            remedy: "say which one: --of NAME")
    }

    static func noMeter(_ meter: String, among meters: [String]) -> Self {
        ImportError(
            .needsMeter, "no meter in the file is called \"\(meter.visible)\"",
            remedy: meters.isEmpty
                ? "there is only one in it; leave --of out" : "there is \(meters.joined(separator: ", ").visible)")
    }
}
