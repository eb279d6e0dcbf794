/// Format of a file of readings. Users type the raw value.
package enum ImportFormat: String, CaseIterable, Sendable {
    /// Output of `meterctl export`, `meterctl record export` and the page: `time`, then keys of quantities.
    case csv
    /// JSON of the same programs, one object per line, or of `meterctl watch --json`.
    case json
    /// CSV export of rd-usb (kolinger/rd-usb, webapp/index.py and utils/formatting.py).
    case rdUSB = "rd-usb"
    /// Output of `fnirsi_logger.py` (baryluk/fnirsi-usb-power-data-logger).
    case logger = "fnirsi-logger"
    /// Output of `cfn2csv.py` for a record of the maker's own program (didim99/usbmeter-utils). Its times count from
    /// the record's start. That program's own CSV is documented nowhere, so it is not read (unverified).
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

/// The user's statements about a file.
package struct ImportOptions: Sendable {
    /// Nil: the first line tells the format.
    package var format: ImportFormat?
    /// Name of the meter to take from a file of several.
    package var meter: String?
    /// Milliseconds ahead of UTC at a moment, for times without a zone; nil if the user named none.
    package var zoneOffset: (@Sendable (_ moment: Int64) -> Int64)?
    /// For times that count from the file's start, in milliseconds since 1970.
    package var start: Int64?
    /// Columns that their names do not identify.
    package var columns: [ImportColumn] = []
    /// Decimal separator; nil if the table tells it.
    package var decimal: DecimalSign?
    /// Ranges that live decoding accepts from a meter of this format.
    package var ranges: @Sendable (ImportFormat) -> [Quantity: ClosedRange<Double>] = { _ in [:] }
    /// Latest possible reading, in milliseconds since 1970.
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

    /// Adds a statement about a column, or about all decimals: `voltage=Vbus:mV`, `decimal=comma`.
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
        /// A text with two readings that nothing in the file decides.
        case ambiguous
        /// Times that count from an unknown start.
        case needsStart
        case needsMeter
        case badValue
        case badTime
        case wentBack
        case cutOff
        /// A line longer than in any known file.
        case tooLong
        case empty
    }

    package var kind: Kind
    /// Counted from 1; nil for the whole file.
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

    /// Place and problem: `line 12, column voltage_V: "abc" is not a number`.
    package var message: String {
        let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap(\.self).joined(
            separator: ", ")
        return place.isEmpty ? problem : "\(place): \(problem)"
    }
}
