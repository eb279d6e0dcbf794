/// A form of text that readings are taken from. The raw value is what a person types.
package enum ImportFormat: String, CaseIterable, Sendable {
    /// What `meterctl export`, `meterctl record export` and the page write: `time`, then keys of quantities.
    case csv
    /// The same programs' JSON, one object a line; also `meterctl watch --json`.
    case json
    /// The CSV export of rd-usb (kolinger/rd-usb, webapp/index.py and utils/formatting.py).
    case rdUSB = "rd-usb"
    /// The output of `fnirsi_logger.py` (baryluk/fnirsi-usb-power-data-logger).
    case logger = "fnirsi-logger"
    /// What `cfn2csv.py` makes of a record of the maker's own program (didim99/usbmeter-utils). Its times count from the
    /// record's start. That program's own CSV is described nowhere, so it is not read (unverified).
    case toolbox = "fnirsi-cfn"
    /// Any other table whose first line names columns, such as loggers and spreadsheets write.
    case table

    /// As a person is told of it.
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

/// What a person says of a file besides its text.
package struct ImportOptions: Sendable {
    /// Nil: it is recognised by its first line.
    package var format: ImportFormat?
    /// Which of several meters in one file, by the name that it has there.
    package var meter: String?
    /// How far the zone of times without one is ahead of UTC at a moment; nil where nobody said so.
    package var zoneOffset: (@Sendable (_ moment: Int64) -> Int64)?
    /// When the file begins, in milliseconds since 1970, where its times count from there.
    package var start: Int64?
    /// Which column holds what, where its name does not say so.
    package var columns: [ImportColumn] = []
    /// What separates the decimals of numbers; nil where the table tells it.
    package var decimal: DecimalSign?
    /// What the meter measures at all, in a file of this format: the ranges that its live decoding accepts.
    package var ranges: @Sendable (ImportFormat) -> [Quantity: ClosedRange<Double>] = { _ in [:] }
    /// No reading can be later, in milliseconds since 1970.
    package var latest: Int64

    /// - Parameters:
    ///   - zoneOffset: both in milliseconds.
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

    /// Takes what a person says of one column, or of the decimals in all: `voltage=Vbus:mV`, `decimal=comma`.
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

/// Why a file cannot be taken, where it says so, and what helps.
package struct ImportError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Bytes that are no text.
        case notText
        /// The first line is not a known one.
        case unknownLayout
        /// A time without a zone, and nobody said which.
        case needsZone
        /// What can be read in two ways, where nothing in the file tells which one it is.
        case ambiguous
        /// Times that count from a start that nobody gave.
        case needsStart
        /// Several meters in one file.
        case needsMeter
        case badValue
        case badTime
        case wentBack
        /// It ends in the middle.
        case cutOff
        /// A line that no file of this kind has.
        case tooLong
        /// No reading in it.
        case empty
    }

    package var kind: Kind
    /// Counted from 1; nil where it is about the file as a whole.
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

    /// Where it is and what it is: `line 12, column voltage_V: "abc" is not a number`.
    package var message: String {
        let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap(\.self).joined(
            separator: ", ")
        return place.isEmpty ? problem : "\(place): \(problem)"
    }
}
