/// Parses an imported file as its bytes arrive, in constant memory and in time order. After an error, a caller that
/// needs a complete import must discard the earlier readings.
package struct ImportReader: Sendable {
    private let options: ImportOptions
    private var rest: [UInt8] = []
    private var layout: ImportLayout?
    private var header: [UInt8] = []
    private var clock: ImportClock
    private var judge: ImportJudge?
    private var writing: ImportWriting?
    /// Lines that wait until later ones show the order of day and month, and whether a comma is the decimal sign.
    private var held: [(number: Int, line: [UInt8])] = []
    private var heldBytes = 0
    private var lineNumber = 0
    /// `repeated` counts readings with the same time as the previous one. `leastStep` is the smallest step between
    /// different times, in milliseconds.
    private var repeated = 0
    private var leastStep: Int64?
    /// Nil before the first line.
    package private(set) var format: ImportFormat?
    /// Number of lines, including empty ones.
    package private(set) var lines = 0
    package private(set) var readings = 0
    package private(set) var first: WallTime?
    package private(set) var last: WallTime?
    private var meters: Set<String> = []
    /// `toldFirst` and `toldLast` are the first and last telemetry other than readings; only this project's JSON
    /// contains any.
    package private(set) var toldFirst: TelemetryBody?
    package private(set) var toldLast: TelemetryBody?

    private static let metersMax = 32
    private static let lineBytesMax = 64 << 10
    /// Maximum value that is accepted, far above the values of all meters.
    private static let valueMax = 1e12
    /// Milliseconds by which a line's time may precede the previous line's, because the FNIRSI logger stamps packets on
    /// arrival. The line then gets the previous time.
    private static let jitterMax: Int64 = 1000
    /// Minimum `leastStep`, in milliseconds, at which repeated times count as rounded by a spreadsheet.
    private static let roundedStep: Int64 = 10_000
    private static let heldBytesMax = 8 << 20
    private static let lineOverhead = 64

    package init(_ options: ImportOptions) {
        self.options = options
        clock = ImportClock(options)
    }

    /// Names of the ignored columns, except those that repeat another column.
    package var columnsLeftOut: [String] { layout?.skipped.filter { !ImportLayout.repeating.contains($0) } ?? [] }

    /// Whether lines contain their index in a packet of samples, as in FNIRSI loggers' files.
    package var hasPackets: Bool { layout?.names.contains("sample_in_packet") ?? false }

    /// Number of lines rejected for impossible values.
    package var linesLeftOut: Int { judge?.leftOut ?? 0 }

    /// Sentences about changed values, omitted values and assumptions.
    package var remarks: [String] {
        let doubled =
            "the file begins in an hour that was there twice that night, and is taken for the first of the two"
        let unnamed = "the first line names no columns: they are taken for time, voltage and current"
        return (judge?.remarks ?? []) + (clock.beganInDoubledHour ? [doubled] : [])
            + (layout?.isUnnamed == true && options.columns.isEmpty ? [unnamed] : [])
            + (writing?.remark.map { [$0] } ?? [])
    }

    package typealias Take = (WallTime, Reading) -> Void

    /// - Parameter take: called for each reading that these bytes complete.
    package mutating func read(_ bytes: some Collection<UInt8>, _ take: Take) throws(ImportError) {
        rest += bytes
        var start = rest.startIndex
        let whole = rest
        while let end = whole[start...].firstIndex(of: UInt8(ascii: "\n")) {
            try read(line: whole[start..<end], take)
            start = end + 1
        }
        rest.removeSubrange(..<start)
        guard rest.count <= Self.lineBytesMax else {
            throw ImportError(
                format == nil ? .notText : .tooLong, line: lines + 1, "the line has more than 65,536 bytes",
                remedy: "a file of readings has one reading a line; is it another file?")
        }
    }

    package mutating func finish(_ take: Take) throws(ImportError) {
        if !rest.isEmpty {
            let line = rest[...]
            // A JSON object is complete even without a line end. In a table, the last number may have lost digits.
            guard format == .json || format == nil else {
                throw ImportError(
                    .cutOff, line: lines + 1, "the last line has no line end, so the file may be cut off",
                    remedy: "fetch the file anew; if it is whole, add the line end")
            }
            try read(line: line, take)
            rest = []
        }
        try settle(take)
        try checkLeftOut()
        guard readings > 0 else {
            if format == .json, let meter = options.meter { throw .noMeter(meter, among: meters.sorted()) }
            throw ImportError(.empty, "no reading is in the file", remedy: "was anything recorded?")
        }
        try checkSteps()
    }

    private func checkLeftOut() throws(ImportError) {
        guard let judge, let (line, problem) = judge.firstLeftOut, judge.leftOut > readings else { return }
        throw ImportError(
            .badValue, line: line, "\(problem); so it is in \(judge.leftOut) of \(judge.leftOut + readings) lines",
            remedy: "is it the right meter, and the right unit? --column voltage=NAME:mV says which one it is")
    }

    /// Throws if a spreadsheet has rounded the times: few distinct ones, far apart.
    private func checkSteps() throws(ImportError) {
        guard format != .json, repeated > 0, 2 * repeated >= readings, leastStep ?? .max >= Self.roundedStep, let last
        else { return }
        let times =
            repeated == readings - 1 ? "all \(readings) readings have" : "\(repeated) of \(readings) readings share"
        throw ImportError(
            .badTime, "\(times) the time of another, such as \(clock.shown(last.millisecondsSince1970))",
            remedy: "did a spreadsheet round the times? Import the original, or show all digits there and save it again"
        )
    }

    // MARK: Lines

    private mutating func read(line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        lines += 1
        lineNumber = lines
        var line = line
        if lines == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard !line.isEmpty else { return }
        guard let format else { return try begin(line, take) }
        if format == .json { return try readJSON(line, take) }
        try readRow(line, take)
    }

    private mutating func readRow(_ line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        guard writing?.isUndecided ?? false else { return try readTable(line, take) }
        if let fields = layout?.table.fields(line) { try note(fields) }
        guard writing?.doubt != nil else {
            try release(take)
            return try readTable(line, take)
        }
        held.append((lineNumber, Array(line)))
        heldBytes += line.count + Self.lineOverhead
        if heldBytes > Self.heldBytesMax { try settle(take) }
    }

    /// Decides the order of day and month, and whether a comma is the decimal sign, or throws. Then parses the held
    /// lines.
    private mutating func settle(_ take: Take) throws(ImportError) {
        try writing?.settle()
        try release(take)
    }

    private mutating func release(_ take: Take) throws(ImportError) {
        guard !held.isEmpty else { return }
        let (waiting, last) = (held, lineNumber)
        (held, heldBytes) = ([], 0)
        for (number, line) in waiting {
            lineNumber = number
            try readTable(line[...], take)
        }
        lineNumber = last
    }

    private mutating func note(_ fields: [ArraySlice<UInt8>]) throws(ImportError) {
        guard let layout, fields.count == layout.columns.count, let date = layout.dateColumn else { return }
        let day = date.isDay ? fields[date.place].trimmed + " ".utf8 : []
        for (index, column) in layout.columns.enumerated() {
            let (field, name) = (fields[index].trimmed, layout.names[index])
            switch column {
            case .time:
                writing?.note(date: day + field, date.said, at: (lineNumber, layout.names[date.place]))
                if field.contains(UInt8(ascii: ",")) {
                    writing?.note(number: field, at: (lineNumber, name)) { _ in true }
                }
                if writing?.doubt != nil, held.isEmpty { try locate(day + field, in: name) }
            case .value(let quantity, let unit):
                writing?.note(number: field, at: (lineNumber, name)) { [judge] value in
                    judge?.allows(quantity, value * unit.factor + unit.offset) ?? true
                }
            case .date, .skipped: continue
            }
        }
    }

    /// Throws if a time needs a zone and the user named none. Runs early, to report this before an ambiguous date.
    private func locate(_ time: ArraySlice<UInt8>, in column: String) throws(ImportError) {
        do throws(ImportError) {
            try clock.checkZone(time)
        } catch {
            var error = error
            (error.line, error.column) = (lineNumber, column)
            throw error
        }
    }

    /// Detects the format from the first line that is not a comment.
    private mutating func begin(_ line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        guard !line.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") }) else {
            throw ImportError(
                .notText, line: lines, "these bytes are no text",
                remedy:
                    "a file of readings is text; is it packed, or another file? A spreadsheet saves it as CSV in UTF-8")
        }
        // Spreadsheets may save Latin-1, in which the bytes of `°` and `µ` differ.
        let line = String(validating: line, as: UTF8.self) == nil ? Self.latin(line) : line
        // cfn2csv.py writes comments before the table; spreadsheets a `sep=` line.
        if line.first == UInt8(ascii: "#") || line.starts(with: "sep=".utf8) { return }
        if line.first == UInt8(ascii: "{"), options.format == nil || options.format == .json {
            begin(.json)
            return try readJSON(line, take)
        }
        guard let layout = try ImportLayout(line, options) else { throw unknown(line) }
        if layout.format != .csv, options.meter != nil { throw .noMeter(options.meter ?? "", among: []) }
        self.layout = layout
        writing = ImportWriting(options, isSeparatedByComma: layout.isSeparatedByComma)
        header = Array(line)
        begin(layout.format)
        if layout.isUnnamed { try readRow(line, take) }
    }

    private mutating func begin(_ format: ImportFormat) {
        self.format = format
        judge = ImportJudge(format, options.ranges(format))
    }

    private static func latin(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        Array(String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) })).utf8)[...]
    }

    private func unknown(_ line: ArraySlice<UInt8>) -> ImportError {
        let text = String(decoding: line.prefix(60), as: UTF8.self).visible + (line.count > 60 ? "…" : "")
        if let wanted = options.format {
            return ImportError(
                .unknownLayout, line: lines, "\"\(text)\" is not the first line of \(wanted.title)",
                remedy: "leave --as out, and it is recognised")
        }
        guard options.columns.isEmpty else {
            let names = options.columns.map { "\"\($0.name.visible)\"" }.joined(separator: ", ")
            return ImportError(
                .unknownLayout, line: lines, "\"\(text)\" does not have a time and each of the columns \(names)",
                remedy:
                    "write their names as the first line has them, or their numbers from 1; one is --column time=NAME")
        }
        return ImportError(
            .unknownLayout, line: lines, "\"\(text)\" is the first line of no file that is known",
            remedy:
                "say which column is what: --column time=NAME --column voltage=NAME:mV; a column's number will do as well"
        )
    }

    // MARK: Tables

    private mutating func readTable(_ line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        guard let layout else { return }
        // The FNIRSI logger repeats its header at each start, and users concatenate files.
        if format == .logger, line.elementsEqual(header) {
            judge?.beginRun()
            return
        }
        guard let fields = layout.table.fields(line) else {
            throw ImportError(.badValue, line: lineNumber, "a quote is not closed", remedy: "correct the line")
        }
        guard fields.count == layout.columns.count else {
            if fields.allSatisfy(\.isEmpty) { return }
            throw ImportError(
                .badValue, line: lineNumber,
                "\(fields.count) fields, where the first line has \(layout.columns.count)",
                remedy: "is the file cut off, or edited? Correct the line or take it out")
        }
        let isForeign = layout.format != .csv
        if isForeign, fields.allSatisfy(\.isEmpty) { return }
        var reading = Reading()
        var (time, day) = (Int64?.none, ArraySlice<UInt8>())
        if let index = layout.columns.firstIndex(of: .date) { day = fields[index].trimmed + " ".utf8 }
        for index in layout.columns.indices {
            let field = isForeign ? fields[index].trimmed : fields[index]
            switch layout.columns[index] {
            case .skipped, .date: continue
            case .time(let unit): time = try moment(day + field, unit, in: layout.names[index])
            case .value(let quantity, let unit):
                let value = isForeign && Self.isUnknown(field) ? nil : try number(field, in: layout.names[index])
                reading[quantity] = value.map { $0 * unit.factor + unit.offset }
            }
        }
        guard let time else { return }
        try accept(time, reading, in: layout.names.first, take)
    }

    private static func isUnknown(_ field: ArraySlice<UInt8>) -> Bool {
        guard field.count <= 4, field.first.map({ !(0x30...0x39).contains($0) }) ?? false else { return false }
        return ["nan", "null", "none", "n/a", "na", "-", "--", "inf"].contains(
            String(decoding: field, as: UTF8.self).lowercased())
    }

    private func number(_ field: ArraySlice<UInt8>, in column: String) throws(ImportError) -> Double? {
        guard !field.isEmpty else { return nil }
        let decimal = writing?.decimal
        let value =
            NumberText.value(field, comma: decimal == .comma)
            ?? (decimal == .point
                ? NumberText.ungrouped(field).flatMap { NumberText.value($0[...], comma: false) } : nil)
        guard let value else {
            let word = String(decoding: field.prefix(30), as: UTF8.self)
            let isNone = ["nan", "null"].contains(word.lowercased())
            throw ImportError(
                .badValue, line: lineNumber, column: column, "\"\(word.visible)\" is not a number",
                remedy: isNone ? "leave a field empty whose value is not known" : "correct the line, or take it out")
        }
        return try measured(value, in: column)
    }

    private func measured(_ value: Double, in column: String) throws(ImportError) -> Double {
        if value.magnitude <= Self.valueMax { return value }
        throw ImportError(
            .badValue, line: lineNumber, column: column, "\(value) is more than any meter measures",
            remedy: "correct the line, or take it out")
    }

    // MARK: JSON

    /// Keys of `meterctl watch --json` that are not quantities.
    private static let beside: Set<String> = ["missed", "measured_by", "told", "count", "least", "greatest", "marks"]

    private mutating func readJSON(_ line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        let malformed = ImportError(
            .badValue, line: lineNumber,
            "\"\(String(decoding: line.prefix(40), as: UTF8.self).visible)\" is not one JSON object",
            remedy:
                "is the file cut off, or edited? Each line is one object, as meterctl export --format json writes it")
        var time: Int64?
        var reading: Reading?
        var meters: [String] = []
        let isRead = try line.withUnsafeBufferPointer { bytes throws(ImportError) in
            var json = JSONReader(bytes)
            guard json.open("{") else { return false }
            while let key = json.key() {
                switch json.peek {
                case UInt8(ascii: "\"") where key == "time":
                    if let text = json.string() { time = try moment(Array(text.utf8)[...], in: key) }
                case UInt8(ascii: "{") where !Self.beside.contains(key) || key == options.meter:
                    meters.append(key)
                    if key == options.meter { reading = try self.reading(&json) } else { json.passValue() }
                case UInt8(ascii: "{") where key == "told":
                    toldLast = TelemetryBody(importing: &json)
                    toldFirst = toldFirst ?? toldLast
                case _ where Self.beside.contains(key): json.passValue()
                default:
                    var own = reading ?? Reading()
                    try put(key, &json, in: &own)
                    if options.meter == nil { reading = own }
                }
            }
            return json.problem == nil && json.isAtEnd
        }
        guard isRead else { throw malformed }
        // A later line may contain the meter that the user named.
        guard options.meter != nil || meters.isEmpty else { throw .severalMeters(meters) }
        if self.meters.count < Self.metersMax { self.meters.formUnion(meters) }
        guard let time else {
            throw ImportError(.badTime, line: lineNumber, "the object has no time", remedy: malformed.remedy)
        }
        guard let reading else { return }
        try accept(time, reading, in: "time", take)
    }

    private func reading(_ json: inout JSONReader) throws(ImportError) -> Reading {
        var reading = Reading()
        guard json.open("{") else { return reading }
        while let key = json.key() {
            if Self.beside.contains(key) { json.passValue() } else { try put(key, &json, in: &reading) }
        }
        return reading
    }

    private func put(_ key: String, _ json: inout JSONReader, in reading: inout Reading) throws(ImportError) {
        guard let quantity = Quantity.allCases.first(where: { $0.key == key }) else {
            throw ImportError(
                .badValue, line: lineNumber, column: key.visible, "no quantity is called that",
                remedy: "there are \(Quantity.allCases.map(\.key).joined(separator: ", "))")
        }
        if json.skip("null") {
            reading[quantity] = nil
        } else if let value = json.double() {
            reading[quantity] = try measured(value, in: key)
        } else {
            throw ImportError(
                .badValue, line: lineNumber, column: key, "the value is not a number",
                remedy: "correct the line, or take it out")
        }
    }

    // MARK: Times

    /// Returns milliseconds since 1970.
    private mutating func moment(
        _ field: ArraySlice<UInt8>, _ unit: ImportUnit? = nil, in column: String
    ) throws(ImportError) -> Int64 {
        do throws(ImportError) {
            return try clock.moment(
                field, unit: unit?.factor, isUnix: layout?.isUnix ?? false,
                comma: writing?.decimal == .comma, order: writing?.order, after: last?.millisecondsSince1970)
        } catch {
            var error = error
            (error.line, error.column) = (lineNumber, column)
            throw error
        }
    }

    private mutating func accept(
        _ time: Int64, _ reading: Reading, in column: String?, _ take: Take
    ) throws(ImportError) {
        guard time >= 0, time <= options.latest else {
            throw ImportError(
                .badTime, line: lineNumber, column: column, "\(clock.shown(time)) cannot be",
                remedy: time < 0 ? "readings are from 1970 on" : "it is in the future; is the time zone right?")
        }
        guard let reading = judge?.judge(reading, line: lineNumber) else { return }
        var time = time
        if let last = last?.millisecondsSince1970 {
            if time < last {
                guard format == .logger, last - time <= Self.jitterMax else {
                    throw ImportError(
                        .wentBack, line: lineNumber, column: column,
                        "the time goes back, from \(clock.shown(last)) to \(clock.shown(time))",
                        remedy: "were clocks put back that night? Then name the place: --zone Europe/Berlin. "
                            + "Otherwise divide the file there, and import each part")
                }
                time = last
            } else if time == last {
                repeated += 1
            } else {
                leastStep = min(leastStep ?? .max, time - last)
            }
        }
        let moment = WallTime(millisecondsSince1970: time)
        if first == nil { first = moment }
        last = moment
        readings += 1
        take(moment, reading)
    }
}

extension ArraySlice<UInt8> {
    var trimmed: Self {
        var text = self
        while text.last == 0x20 { text = text.dropLast() }
        return text.drop { $0 == 0x20 }
    }
}
