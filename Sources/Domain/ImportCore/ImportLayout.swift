struct ImportLayout {
    enum Column: Hashable {
        /// Time as in RFC 3339, or a number relative to 1970 or to the recording's start. Nil if the number's unit is
        /// unknown.
        case time(ImportUnit?)
        /// The date, if the time of day has its own column.
        case date
        case value(Quantity, ImportUnit)
        case skipped
    }

    let format: ImportFormat
    let table: TableLine
    var columns: [Column]
    let names: [String]
    /// Whether the first line contains values instead of names.
    var isUnnamed = false
    var isSeparatedByComma: Bool { table.separator == UInt8(ascii: ",") }
    /// Whether numeric times are always relative to 1970.
    var isUnix: Bool { format == .rdUSB || format == .logger }
    var skipped: [String] { zip(names, columns).filter { $1 == .skipped && !$0.trimmed.isEmpty }.map(\.0) }

    static let separators = [",", ";", "\t", " "].map { UInt8(ascii: $0) }

    /// Fails if the line matches no known table.
    init?(_ line: ArraySlice<UInt8>, _ options: ImportOptions) throws(ImportError) {
        for separator in Self.separators {
            let table = TableLine(separator: separator)
            guard let fields = table.fields(line) else { continue }
            let names = fields.map { String(decoding: $0, as: UTF8.self) }
            if !options.columns.isEmpty {
                guard let layout = Self(names, fields, table, options) else { continue }
                self = layout
                return
            }
            guard let format = Self.format(of: names), options.format == nil || options.format == format else {
                continue
            }
            self.format = format
            self.table = table
            self.names = names
            columns = []
            columns = format == .csv ? try own(names, options.meter) : foreign(names)
            takeDateForTime()
            return
        }
        guard options.format == nil || options.format == .table, let layout = Self(unnamed: line) else { return nil }
        self = layout
    }

    /// - Parameter columns: nil to derive them from `names`.
    private init(_ format: ImportFormat, _ table: TableLine, _ names: [String], _ columns: [Column]? = nil) {
        (self.format, self.table, self.names, self.columns) = (format, table, names, [])
        self.columns = columns ?? foreign(names)
    }

    private static func format(of names: [String]) -> ImportFormat? {
        let set = Set(names)
        if names.first == "time", names.count > 1, names.dropFirst().allSatisfy({ quantity(of: $0) != nil }) {
            return .csv
        }
        if !set.isDisjoint(with: ["Time", "Unix time"]), !set.isDisjoint(with: ["Voltage (V)", "Current (A)"]) {
            return .rdUSB
        }
        let isLoggers = names.first == "timestamp" || set.contains("sample_in_packet")
        if isLoggers, !set.isDisjoint(with: ["voltage_V", "current_A"]) { return .logger }
        if names.first == "Time", !set.isDisjoint(with: ["Voltage", "Current"]) { return .toolbox }
        let columns = names.map { ColumnNames.column($0) }
        let hasTime = columns.contains { if case .time = $0 { true } else { $0 == .date } }
        let isMeters = columns.contains { column in
            if case .value(let quantity, _) = column { quantity == .voltage || quantity == .current } else { false }
        }
        return hasTime && isMeters ? .table : nil
    }

    // MARK: As a person says

    /// Combines the columns that the user named with those identified by name. Fails if the file lacks a column that
    /// the user named, or the user named one twice.
    private init?(_ names: [String], _ fields: [ArraySlice<UInt8>], _ table: TableLine, _ options: ImportOptions) {
        var places: [Int] = []
        for column in options.columns {
            let place = names.indices.first { column.means(names[$0], at: $0 + 1, of: names) }
            guard let place, !places.contains(place) else { return nil }
            places.append(place)
        }
        // If the first line has a number in a column that the user named for a quantity, it contains values.
        let isUnnamed = zip(options.columns, places).contains { column, place in
            column.quantity != nil && NumberText.value(fields[place].trimmed, comma: true) != nil
        }
        let told = Self.format(of: names) ?? .table
        self.init(told == .csv ? .table : told, table, names, isUnnamed ? names.map { _ in .skipped } : nil)
        self.isUnnamed = isUnnamed
        for index in columns.indices {
            let isReplaced = options.columns.contains { column in
                switch (columns[index], column.quantity) {
                case (.time, nil): !column.isDate
                case (.date, nil): true
                case (.value(let quantity, _), let wanted?): quantity == wanted
                default: false
                }
            }
            if isReplaced { columns[index] = .skipped }
        }
        for (column, place) in zip(options.columns, places) {
            let (word, unit) = ColumnNames.split(names[place])
            let ownUnit = ImportUnit(unit ?? word, of: column.quantity)
            columns[place] =
                column.quantity.map { .value($0, column.unit ?? ownUnit ?? .own) }
                ?? (column.isDate ? .date : .time(column.unit ?? ownUnit))
        }
        takeDateForTime()
        guard columns.contains(where: { if case .time = $0 { true } else { false } }) else { return nil }
    }

    /// Fails unless the line matches the only known table without names.
    private init?(unnamed line: ArraySlice<UInt8>) {
        let table = TableLine(separator: UInt8(ascii: ";"))
        guard let fields = table.fields(line), fields.count == ColumnNames.unnamed.count,
            fields.allSatisfy({ NumberText.value($0.trimmed, comma: true) != nil })
        else { return nil }
        self.init(
            .table, table, fields.indices.map { "\($0 + 1)" },
            ColumnNames.unnamed.map { $0.map { .value($0, .own) } ?? .time(nil) })
        isUnnamed = true
    }

    // MARK: Our own

    /// Parses `voltage_V`, or `charger.voltage_V` if the file has several meters.
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
        let columns = found.map { $0.meter == wanted ? Column.value($0.1, .own) : .skipped }
        let taken = columns.filter { $0 != .skipped }
        guard Set(taken).count == taken.count else {
            throw ImportError(
                .unknownLayout, line: 1, "a column is there twice: \(names.joined(separator: ", ").visible)",
                remedy: "take one of the two out")
        }
        return [.time(nil)] + columns
    }

    // MARK: Others'

    private mutating func takeDateForTime() {
        guard !columns.contains(where: { if case .time = $0 { true } else { false } }),
            let place = columns.firstIndex(of: .date)
        else { return }
        columns[place] = .time(nil)
    }

    /// `place` is the column's index. `isDay` is true if another column contains the time of day. `said` is the option
    /// that names the column.
    var dateColumn: (place: Int, isDay: Bool, said: String)? {
        let day = columns.firstIndex(of: .date)
        let time = columns.firstIndex { if case .time = $0 { true } else { false } }
        guard let place = day ?? time else { return nil }
        let name = isUnnamed ? "\(place + 1)" : names[place].trimmed
        return (place, day != nil, "\(day == nil ? "time" : "date")=\(name)")
    }

    private func foreign(_ names: [String]) -> [Column] {
        let hasUnixTime = names.contains("Unix time")
        var seen: Set<Quantity?> = []
        var hasDate = false
        return names.map { name in
            let isRepeated = name == "Time" && hasUnixTime
            let column =
                isRepeated ? .skipped : Self.known[format].map { $0[name] ?? .skipped } ?? ColumnNames.column(name)
            // Use only the first column of each quantity, the first with times and the first with dates.
            switch column {
            case .time: return seen.insert(nil).inserted ? column : .skipped
            case .value(let quantity, _): return seen.insert(quantity).inserted ? column : .skipped
            case .date:
                defer { hasDate = true }
                return hasDate ? .skipped : .date
            case .skipped: return .skipped
            }
        }
    }

    private static let known: [ImportFormat: [String: Column]] = [
        // kolinger/rd-usb utils/formatting.py, `field_names`.
        .rdUSB: [
            "Time": .time(nil), "Unix time": .time(nil),
            "Voltage (V)": .value(.voltage, .own),
            "Current (A)": .value(.current, .own),
            "Power (W)": .value(.power, .own),
            "Temperature (°C)": .value(.temperature, .own),
            "Data+ (V)": .value(.dataPlus, .own), "Data- (V)": .value(.dataMinus, .own),
            "Resistance (Ω)": .value(.resistance, .own),
            "Accumulated current (mAh)": .value(.charge, .own),
            "Accumulated power (mWh)": .value(.energy, ImportUnit(factor: 1e-3)),
            "Accumulated time (seconds)": .value(.duration, .own),
        ],
        // baryluk/fnirsi-usb-power-data-logger fnirsi_logger.py: seconds since 1970; its own sums of energy (watt
        // seconds) and charge (ampere seconds).
        .logger: [
            "timestamp": .time(nil), "voltage_V": .value(.voltage, .own),
            "current_A": .value(.current, .own), "dp_V": .value(.dataPlus, .own),
            "dn_V": .value(.dataMinus, .own), "temp_C_ema": .value(.temperature, .own),
            "energy_Ws": .value(.energy, ImportUnit(factor: 1 / 3600)),
            "capacity_As": .value(.charge, ImportUnit(factor: 1 / 3.6)),
            // fnb58_power_logger.py, which writes the same data as CSV.
            "host_time_s": .time(nil), "power_W": .value(.power, .own), "temp_C": .value(.temperature, .own),
            "energy_J": .value(.energy, ImportUnit(factor: 1 / 3600)),
            "capacity_C": .value(.charge, ImportUnit(factor: 1 / 3.6)),
        ],
        // didim99/usbmeter-utils cfn2csv.py, `channel_types`: seconds, volts, amperes, watts, Ah, Wh.
        .toolbox: [
            "Time": .time(nil), "Voltage": .value(.voltage, .own),
            "Current": .value(.current, .own), "Power": .value(.power, .own),
            "D+": .value(.dataPlus, .own), "D-": .value(.dataMinus, .own),
            "Capacity": .value(.charge, ImportUnit(factor: 1000)), "Energy": .value(.energy, .own),
        ],
    ]

    /// Columns ignored without mention: they repeat others, or count from an irrelevant moment.
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
