/// Format of an imported file. Users type the raw value, such as `rd-usb`.
package enum ImportFormat: String, CaseIterable, Sendable {
    /// Output of `meterctl export`, `meterctl record export` or the web page: `time`, then quantities.
    case csv
    /// JSON, one object per line, from the same commands and page or from `meterctl watch --json`.
    case json
    /// CSV export of rd-usb (kolinger/rd-usb, webapp/index.py and utils/formatting.py).
    case rdUSB = "rd-usb"
    /// Output of `fnirsi_logger.py` (baryluk/fnirsi-usb-power-data-logger).
    case logger = "fnirsi-logger"
    /// Output of `cfn2csv.py` for a recording of the manufacturer's program (didim99/usbmeter-utils), with times
    /// relative to its start. The CSV format of that program itself is undocumented and unsupported (unverified).
    case toolbox = "fnirsi-cfn"
    /// Any other table with column names in the first line.
    case table

    package var title: String {
        switch self {
        case .csv: "CSV of meterctl"
        case .json: "JSON of meterctl"
        case .rdUSB: "CSV of rd-usb"
        case .logger: "output of fnirsi_logger.py"
        case .toolbox: "CSV of cfn2csv.py"
        case .table: "table of another program"
        }
    }
}

package struct ImportOptions: Sendable {
    /// Nil to detect the format from the first line.
    package var format: ImportFormat?
    /// Meter to import; needed for a file of several meters.
    package var meter: String?
    /// Milliseconds ahead of UTC at a moment, for times without a zone; nil if the user named none.
    package var zoneOffset: (@Sendable (_ moment: Int64) -> Int64)?
    /// Start of the recording in milliseconds since 1970, for relative times.
    package var start: Int64?
    /// Meanings of columns whose names do not identify them.
    package var columns: [ImportColumn] = []
    /// Decimal sign; nil to derive it from the table.
    package var decimal: DecimalSign?
    /// Plausible ranges of a format's quantities, as in live decoding.
    package var ranges: @Sendable (ImportFormat) -> [Quantity: ClosedRange<Double>] = { _ in [:] }
    /// Latest acceptable time in milliseconds since 1970.
    package var latest: Int64

    package init(
        format: ImportFormat? = nil, meter: String? = nil, zoneOffset: (@Sendable (_ moment: Int64) -> Int64)? = nil,
        start: Int64? = nil, latest: Int64 = .max
    ) {
        self.format = format
        self.meter = meter
        self.zoneOffset = zoneOffset
        self.start = start
        self.latest = latest
    }

    /// Adds a typed option: `voltage=Vbus:mV`, `decimal=comma`.
    package mutating func add(column text: String) throws(ImportError) {
        let parts = text.lowercased().split(separator: "=", omittingEmptySubsequences: false).map { String($0).trimmed }
        guard parts.first == "decimal", parts.count == 2 else { return columns.append(try ImportColumn(text)) }
        decimal = DecimalSign(rawValue: parts[1])
        guard decimal != nil else {
            throw ImportError(
                .unknownLayout, "\"\(parts[1].visible)\" separates no decimals", remedy: "it takes comma or point")
        }
    }
}

package struct ImportError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case notText
        case unknownLayout
        /// A time has no zone, and the user named none.
        case needsZone
        /// A date or number has two meanings, and no other line decides.
        case ambiguous
        /// Times are relative to an unknown start.
        case needsStart
        case needsMeter
        case badValue
        case badTime
        case wentBack
        case cutOff
        case tooLong
        case empty
    }

    package var kind: Kind
    /// Line number from 1; nil for the whole file.
    package var line: Int?
    package var column: String?
    package var problem: String
    package var remedy: String

    package init(_ kind: Kind, line: Int? = nil, column: String? = nil, _ problem: String, remedy: String) {
        self.kind = kind
        self.line = line
        self.column = column
        self.problem = problem
        self.remedy = remedy
    }

    /// Message for users: `line 12, column voltage_V: "abc" is not a number`.
    package var message: String {
        let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap(\.self).joined(
            separator: ", ")
        return place.isEmpty ? problem : "\(place): \(problem)"
    }
}
