package import MeterModel

/// Takes readings out of a file as its bytes come, in memory that does not grow with it.
///
/// Readings come in the order of their times. The first fault ends it: whoever wants all or nothing throws away what came
/// before.
package struct ImportReader: Sendable {
    private let options: ImportOptions
    private var rest: [UInt8] = []
    private var layout: ImportLayout?
    private var header: [UInt8] = []
    /// What the file turned out to be; nil before its first line.
    package private(set) var format: ImportFormat?
    /// Lines so far, empty ones included.
    package private(set) var lines = 0
    package private(set) var readings = 0
    package private(set) var first: WallTime?
    package private(set) var last: WallTime?
    /// The names of meters in lines of several, the first few.
    private var meters: Set<String> = []
    /// What the first line that has it says that the meter told besides, and the last one; only our own JSON has it.
    package private(set) var toldFirst: ToldBody?
    package private(set) var toldLast: ToldBody?

    private static let metersMax = 32
    /// A longer line is in no file of readings.
    private static let lineBytesMax = 64 << 10
    /// No meter measures more of anything.
    private static let valueMax = 1e12
    /// By so much a time may be earlier than the one before where packets are stamped as they are read: it is then
    /// taken for the same time.
    private static let jitterMax: Int64 = 1000

    package init(_ options: ImportOptions) { self.options = options }

    /// Columns of which nothing is taken and that no other column repeats.
    package var columnsLeftOut: [String] { layout?.skipped.filter { !ImportLayout.repeating.contains($0) } ?? [] }

    package typealias Take = (WallTime, Reading) -> Void

    /// - Parameter take: called for each reading that the bytes complete.
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

    /// The file is over.
    package mutating func finish(_ take: Take) throws(ImportError) {
        if !rest.isEmpty {
            let line = rest[...]
            // An object that is closed is whole; a number may have lost its last digits.
            guard format == .json || format == nil else {
                throw ImportError(
                    .cutOff, line: lines + 1, "the last line has no line end, so the file may be cut off",
                    remedy: "fetch the file anew; if it is whole, add the line end")
            }
            try read(line: line, take)
            rest = []
        }
        guard readings > 0 else {
            if format == .json, let meter = options.meter { throw .noMeter(meter, among: meters.sorted()) }
            throw ImportError(.empty, "no reading is in the file", remedy: "was anything recorded?")
        }
    }

    // MARK: Lines

    private mutating func read(line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        lines += 1
        var line = line
        if lines == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard !line.isEmpty else { return }
        guard let format else { return try begin(line, take) }
        if format == .json { return try readJSON(line, take) }
        // The logger writes its first line again each time it is started; files are put behind each other that way.
        if format == .logger, line.elementsEqual(header) { return }
        try readTable(line, take)
    }

    /// The first line that says anything.
    private mutating func begin(_ line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        guard !line.contains(0), String(validating: line, as: UTF8.self) != nil else {
            throw ImportError(
                .notText, line: lines, "these bytes are no text",
                remedy: "a file of readings is text; is it packed, or another file?")
        }
        // cfn2csv.py writes how the record was made in front of the table.
        if line.first == UInt8(ascii: "#") { return }
        if line.first == UInt8(ascii: "{"), options.format == nil || options.format == .json {
            format = .json
            return try readJSON(line, take)
        }
        guard let layout = try ImportLayout(line, as: options.format, meter: options.meter) else {
            throw unknown(line)
        }
        if layout.columns.contains(.elapsed), options.start == nil {
            throw ImportError(
                .needsStart, "the times of this file count from its start", remedy: "say when that was: --start 14:30")
        }
        if layout.format != .csv, options.meter != nil { throw .noMeter(options.meter ?? "", among: []) }
        self.layout = layout
        header = Array(line)
        format = layout.format
    }

    private func unknown(_ line: ArraySlice<UInt8>) -> ImportError {
        let text = String(decoding: line.prefix(60), as: UTF8.self).visible + (line.count > 60 ? "…" : "")
        if let wanted = options.format {
            return ImportError(
                .unknownLayout, line: lines, "\"\(text)\" is not the first line of \(wanted.title)",
                remedy: "leave --as out, and it is recognised")
        }
        let names = ImportFormat.allCases.map { "\($0.rawValue) (\($0.title))" }
        return ImportError(
            .unknownLayout, line: lines, "\"\(text)\" is the first line of no file that is known",
            remedy: "known are \(names.joined(separator: ", "))")
    }

    // MARK: Tables

    private mutating func readTable(_ line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        guard let layout else { return }
        guard let fields = layout.table.fields(line) else {
            throw ImportError(.badValue, line: lines, "a quote is not closed", remedy: "correct the line")
        }
        guard fields.count == layout.columns.count else {
            throw ImportError(
                .badValue, line: lines,
                "\(fields.count) fields, where the first line has \(layout.columns.count)",
                remedy: "is the file cut off, or edited? Correct the line or take it out")
        }
        var reading = Reading()
        var time: Int64?
        for index in layout.columns.indices {
            switch layout.columns[index] {
            case .skipped: continue
            case .time: time = try moment(fields[index], in: layout.names[index])
            case .unixTime, .elapsed:
                let seconds = try seconds(fields[index], in: layout.names[index], comma: !layout.isSeparatedByComma)
                time = layout.columns[index] == .elapsed ? (options.start ?? 0).addingClamped(seconds) : seconds
            case .value(let quantity, let factor, let none):
                let value = try number(fields[index], in: layout.names[index], comma: !layout.isSeparatedByComma)
                reading[quantity] = value == none ? nil : value.map { $0 * factor }
            }
        }
        guard let time else { return }
        try accept(time, reading, in: layout.names.first, take)
    }

    private func number(_ field: ArraySlice<UInt8>, in column: String, comma: Bool) throws(ImportError) -> Double? {
        guard !field.isEmpty else { return nil }
        guard let value = NumberText.value(field, comma: comma) else {
            let word = String(decoding: field.prefix(30), as: UTF8.self)
            let isNaN = word.lowercased() == "nan"
            throw ImportError(
                .badValue, line: lines, column: column, "\"\(word.visible)\" is not a number",
                remedy: isNaN || word.lowercased() == "null"
                    ? "leave a field empty whose value is not known" : "correct the line, or take it out")
        }
        return try measured(value, in: column)
    }

    private func measured(_ value: Double, in column: String) throws(ImportError) -> Double {
        if value.magnitude <= Self.valueMax { return value }
        throw ImportError(
            .badValue, line: lines, column: column, "\(value) is more than any meter measures",
            remedy: "correct the line, or take it out")
    }

    // MARK: JSON

    /// What lines of `meterctl watch --json` have besides readings.
    private static let beside: Set<String> = ["missed", "measured_by", "told", "count", "least", "greatest"]

    private mutating func readJSON(_ line: ArraySlice<UInt8>, _ take: Take) throws(ImportError) {
        let malformed = ImportError(
            .badValue, line: lines,
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
                    toldLast = Self.told(&json)
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
        // Another line may have another one of them.
        guard options.meter != nil || meters.isEmpty else { throw .severalMeters(meters) }
        if self.meters.count < Self.metersMax { self.meters.formUnion(meters) }
        guard let time else {
            throw ImportError(.badTime, line: lines, "the object has no time", remedy: malformed.remedy)
        }
        guard let reading else { return }
        try accept(time, reading, in: "time", take)
    }

    private func reading(_ json: inout JSONReader) throws(ImportError) -> Reading {
        var reading = Reading()
        guard json.open("{") else { return reading }
        while let key = json.key() { try put(key, &json, in: &reading) }
        return reading
    }

    /// Fails for what `meterctl` does not write there.
    private static func told(_ json: inout JSONReader) -> ToldBody {
        var told = ToldBody()
        guard json.open("{") else { return told }
        while let key = json.key() {
            switch (key, json.peek) {
            case ("details", UInt8(ascii: "{")) where json.open("{"):
                while let key = json.key() { told.details[key] = detail(&json) }
            case ("groups", UInt8(ascii: "[")) where json.open("["):
                while json.element() {
                    if json.peek == UInt8(ascii: "{") { told.groups.append(group(&json)) } else { json.passValue() }
                }
            default: json.passValue()
            }
        }
        return told
    }

    private static func detail(_ json: inout JSONReader) -> ToldBody.Value? {
        switch json.peek {
        case UInt8(ascii: "\""): json.string().map { .text($0) }
        case UInt8(ascii: "t"), UInt8(ascii: "f"): json.flag().map { .flag($0) }
        case UInt8(ascii: "n"): json.passValue() ? .unknown : nil
        default: json.double().map { .number($0) }
        }
    }

    private static func group(_ json: inout JSONReader) -> ToldBody.Group {
        var (index, charge, energy) = (Int64?.none, Double?.none, Double?.none)
        guard json.open("{") else { return .init(index: 0, charge_mAh: 0, energy_Wh: 0) }
        while let key = json.key() {
            switch key {
            case "index": index = json.integer()
            case "charge_mAh": charge = json.double()
            case "energy_Wh": energy = json.double()
            default: json.passValue()
            }
        }
        if index == nil || charge == nil || energy == nil { json.fail(.unwanted) }
        return ToldBody.Group(index: index.map { Int($0) } ?? 0, charge_mAh: charge ?? 0, energy_Wh: energy ?? 0)
    }

    private func put(_ key: String, _ json: inout JSONReader, in reading: inout Reading) throws(ImportError) {
        guard let quantity = Quantity.allCases.first(where: { $0.key == key }) else {
            throw ImportError(
                .badValue, line: lines, column: key.visible, "no quantity is called that",
                remedy: "there are \(Quantity.allCases.map(\.key).joined(separator: ", "))")
        }
        if json.skip("null") {
            reading[quantity] = nil
        } else if let value = json.double() {
            reading[quantity] = try measured(value, in: key)
        } else {
            throw ImportError(
                .badValue, line: lines, column: key, "the value is not a number",
                remedy: "correct the line, or take it out")
        }
    }

    // MARK: Times

    /// RFC 3339, or the same without a zone, in milliseconds since 1970.
    private func moment(_ field: ArraySlice<UInt8>, in column: String) throws(ImportError) -> Int64 {
        let text = String(decoding: field.prefix(40), as: UTF8.self)
        if let time = WallTime(text) { return time.millisecondsSince1970 }
        guard let local = WallTime("\(text)Z")?.millisecondsSince1970 else {
            throw ImportError(
                .badTime, line: lines, column: column, "\"\(text.visible)\" is not a time",
                remedy: "a time is 2026-11-21T13:40:05.250Z, or 2026-11-21 13:40:05 with --time-zone")
        }
        guard let offset = options.zoneOffset else {
            throw ImportError(
                .needsZone, line: lines, column: column, "\"\(text.visible)\" does not say in which time zone it is",
                remedy: "say so: --time-zone local, --time-zone UTC or --time-zone +02:00")
        }
        // The offset is that of the result, which is not known before.
        return local.subtractingClamped(offset(local.subtractingClamped(offset(local))))
    }

    /// Seconds in milliseconds.
    private func seconds(_ field: ArraySlice<UInt8>, in column: String, comma: Bool) throws(ImportError) -> Int64 {
        guard let value = NumberText.value(field, comma: comma),
            let milliseconds = Int64(exactly: (value * 1000).rounded())
        else {
            throw ImportError(
                .badTime, line: lines, column: column,
                "\"\(String(decoding: field.prefix(30), as: UTF8.self).visible)\" is not a number of seconds",
                remedy: "correct the line, or take it out")
        }
        return milliseconds
    }

    private mutating func accept(
        _ time: Int64, _ reading: Reading, in column: String?, _ take: Take
    ) throws(ImportError) {
        var time = time
        guard time >= 0, time <= options.latest else {
            throw ImportError(
                .badTime, line: lines, column: column, "\(WallTime(millisecondsSince1970: time)) cannot be",
                remedy: time < 0 ? "readings are from 1970 on" : "it is in the future; is the time zone right?")
        }
        if let last = last?.millisecondsSince1970, time < last {
            guard format == .logger, last - time <= Self.jitterMax else {
                throw ImportError(
                    .wentBack, line: lines, column: column,
                    "the time goes back, from \(WallTime(millisecondsSince1970: last)) to \(WallTime(millisecondsSince1970: time))",
                    remedy: "divide the file there, and import each part; or was the clock put back that night?")
            }
            time = last
        }
        let moment = WallTime(millisecondsSince1970: time)
        if first == nil { first = moment }
        last = moment
        readings += 1
        take(moment, reading)
    }
}
