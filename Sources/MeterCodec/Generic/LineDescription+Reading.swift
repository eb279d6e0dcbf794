import Domain

extension LineDescription {
    /// Quantities that a user's field can have: all except those that meterd counts or computes.
    static let quantities = Quantity.allCases.filter { ![.countedEnergy, .countedCharge, .ratio].contains($0) }
    /// Baud rates that LinuxIO's `BaudRate` supports.
    static let baudRates = [
        1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600, 1_000_000, 2_000_000,
    ]
    private static let keys = GenericFamily().descriptionKeys.map(\.name)

    package init(_ values: [String: DescriptionValue]) throws(DescriptionError) {
        let reader = DescriptionReader(values)
        try reader.check(keys: Self.keys, of: "a model")
        let format = try reader.choice("format", of: Format.self) ?? .pairs
        let fields = try Self.fields(in: reader, format)
        self.init(format: format, fields: fields.fields)
        columns = fields.columns
        if let byte = try reader.mark("separator") {
            guard format != .json else { throw reader.useless("separator", with: format) }
            separator = byte
        }
        if let byte = try reader.mark("assignment") {
            guard format == .pairs else { throw reader.useless("assignment", with: format) }
            assignment = byte
        }
        guard format != .pairs || separator != assignment else {
            throw reader.illegal("separator", "another character than assignment")
        }
        if let text = try reader.text("comment", bytes: 0...16) { comment = Array(text.utf8) }
        check = try reader.check()
        if let rate = try reader.integer("baud-rate", Self.baudRates[0]...Self.baudRates[Self.baudRates.count - 1]) {
            guard Self.baudRates.contains(rate) else {
                throw reader.illegal("baud-rate", Self.baudRates.map { "\($0)" }.joined(separator: ", "))
            }
            baudRate = rate
        }
        if let text = try reader.text("request", bytes: 1...64) { request = Array(text.utf8) }
        if let time = try reader.time("interval", .milliseconds(10)...(.seconds(3600))) { interval = time }
        if let time = try reader.time("settle", .zero...(.seconds(60))) {
            guard !request.isEmpty else {
                throw DescriptionError("settle", "is of no use without request", remedy: "take it away")
            }
            settle = time
        }
        try checkNames()
    }

    /// Rejects names that contain the separator or the assignment character, because they would never match.
    private func checkNames() throws(DescriptionError) {
        guard format == .pairs else { return }
        for field in fields where field.name.contains(separator) || field.name.contains(assignment) {
            let name = String(decoding: field.name, as: UTF8.self)
            throw DescriptionError(
                "fields.\(name)", "has the separator or the assignment in its name",
                remedy: "take another character for that")
        }
    }

    private static func fields(
        in reader: DescriptionReader, _ format: Format
    ) throws(DescriptionError) -> (fields: [LineField], columns: Int) {
        var fields: [LineField] = []
        var columns = 0
        switch (format, reader.values["fields"]) {
        case (.columns, .list(let list)?):
            columns = list.count
            for (column, value) in list.enumerated() where value != .text("") {
                var field = try self.field(value, "fields[\(column)]")
                field.column = column
                fields.append(field)
            }
        case (.columns, _?):
            throw reader.illegal("fields", #"a list in columns, as ["voltage", "current"]"#)
        case (_, .table(let table)?):
            for (name, value) in table.sorted(by: { $0.key < $1.key }) {
                let key = "fields.\(name.visible)"
                guard (1...32).contains(name.utf8.count), name.first != " ", name.last != " " else {
                    throw DescriptionError(
                        key, "has an illegal name", remedy: "it has 1 to 32 bytes, without blanks at its ends")
                }
                var field = try self.field(value, key)
                field.name = Array(name.utf8)
                fields.append(field)
            }
        case (_, _?):
            throw reader.illegal("fields", #"a table of names, as { V = "voltage", A = "current" }"#)
        case (_, nil):
            throw DescriptionError(
                "fields", "is missing", remedy: #"name them, as fields = { V = "voltage", A = "current" }"#)
        }
        guard (1...fieldsMax).contains(fields.count), columns <= 64 else {
            throw DescriptionError(
                "fields", "describes \(fields.count) quantities",
                remedy: "it takes 1 to \(fieldsMax), in up to 64 columns")
        }
        for (index, field) in fields.enumerated()
        where fields[..<index].contains(where: { $0.quantity == field.quantity }) {
            throw DescriptionError("fields", "has \(field.quantity.word) twice", remedy: "leave one of them out")
        }
        return (fields, columns)
    }

    private static func field(_ value: DescriptionValue, _ key: String) throws(DescriptionError) -> LineField {
        guard case .table(let values) = value else { return LineField(try quantity(value, key)) }
        let reader = DescriptionReader(values, in: key)
        try reader.check(keys: ["quantity", "factor", "offset", "range", "unit", "optional"], of: "a field")
        guard let name = values["quantity"] else {
            throw DescriptionError("\(key).quantity", "is missing", remedy: "say what it is, as quantity = \"voltage\"")
        }
        var field = LineField(try quantity(name, "\(key).quantity"))
        let most = -LineField.valueMax...LineField.valueMax
        if let factor = try reader.number("factor", most) {
            guard factor != 0 else { throw reader.illegal("factor", "a number other than 0") }
            field.factor = factor
        }
        if let offset = try reader.number("offset", most) { field.offset = offset }
        if let range = try reader.range("range", within: most) { field.range = range }
        if let unit = try reader.text("unit", bytes: 1...16) { field.unit = Array(unit.utf8) }
        if let flag = try reader.flag("optional") { field.isOptional = flag }
        return field
    }

    private static func quantity(_ value: DescriptionValue, _ key: String) throws(DescriptionError) -> Quantity {
        guard case .text(let word) = value, let found = quantities.first(where: { $0.word == word }) else {
            var text = ""
            if case .text(let word) = value { text = word }
            throw DescriptionError(
                key, "cannot be \(value.shown)",
                remedy: quantities.map(\.word).suggestion(
                    for: text, "it takes \(quantities.map(\.word).joined(separator: ", "))"))
        }
        return found
    }
}

private struct DescriptionReader {
    let values: [String: DescriptionValue]
    private let prefix: String

    init(_ values: [String: DescriptionValue], in key: String = "") {
        self.values = values
        prefix = key.isEmpty ? "" : "\(key)."
    }

    func check(keys: [String], of what: String) throws(DescriptionError) {
        for key in values.keys.sorted() where !keys.contains(key) {
            throw DescriptionError(
                prefix + key.visible, "is not a key of \(what)",
                remedy: keys.suggestion(for: key, "the keys are \(keys.joined(separator: ", "))"))
        }
    }

    func illegal(_ key: String, _ legal: String) -> DescriptionError {
        DescriptionError(prefix + key, "cannot be \(values[key]?.shown ?? "left out")", remedy: "it takes \(legal)")
    }

    func useless(_ key: String, with format: LineDescription.Format) -> DescriptionError {
        DescriptionError(prefix + key, "is of no use with format = \"\(format.rawValue)\"", remedy: "take it away")
    }

    func text(_ key: String, bytes: ClosedRange<Int>) throws(DescriptionError) -> String? {
        guard let value = values[key] else { return nil }
        guard case .text(let text) = value, bytes.contains(text.utf8.count) else {
            throw illegal(key, "a text of \(bytes.lowerBound) to \(bytes.upperBound) bytes")
        }
        return text
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, of type: Choice.Type
    ) throws(DescriptionError) -> Choice? {
        guard let value = values[key] else { return nil }
        guard case .text(let text) = value, let choice = Choice(rawValue: text) else {
            throw illegal(key, Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
        }
        return choice
    }

    func check() throws(DescriptionError) -> LineDescription.Check? {
        guard values["checksum"] != .text("none") else { return nil }
        guard let value = values["checksum"] else { return nil }
        guard case .text(let text) = value, let check = LineDescription.Check(rawValue: text) else {
            throw illegal("checksum", #""none", "xor", "crc16""#)
        }
        return check
    }

    /// Returns the one character under a key, if any. It must not be part of a number or name.
    func mark(_ key: String) throws(DescriptionError) -> UInt8? {
        guard let value = values[key] else { return nil }
        guard case .text(let text) = value, text.utf8.count == 1, let byte = text.utf8.first, byte.isMark else {
            throw illegal(key, "one character other than letters, digits, quotes, *, +, - and points")
        }
        return byte
    }

    func integer(_ key: String, _ legal: ClosedRange<Int>) throws(DescriptionError) -> Int? {
        guard let value = values[key] else { return nil }
        guard case .integer(let number) = value, legal.contains(number) else {
            throw illegal(key, "a whole number from \(legal.lowerBound) to \(legal.upperBound)")
        }
        return number
    }

    func number(_ key: String, _ legal: ClosedRange<Double>) throws(DescriptionError) -> Double? {
        guard let value = values[key] else { return nil }
        guard let number = Self.number(value), legal.contains(number) else {
            throw illegal(key, "a number up to \(Int(legal.upperBound))")
        }
        return number
    }

    private static func number(_ value: DescriptionValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    func range(_ key: String, within legal: ClosedRange<Double>) throws(DescriptionError) -> ClosedRange<Double>? {
        guard let value = values[key] else { return nil }
        guard case .list(let list) = value, list.count == 2, let least = Self.number(list[0]),
            let greatest = Self.number(list[1]), legal.contains(least), legal.contains(greatest), least < greatest
        else { throw illegal(key, "the least and the greatest value, as [0, 36]") }
        return least...greatest
    }

    func flag(_ key: String) throws(DescriptionError) -> Bool? {
        guard let value = values[key] else { return nil }
        guard case .flag(let flag) = value else { throw illegal(key, "true or false") }
        return flag
    }

    func time(_ key: String, _ legal: ClosedRange<Duration>) throws(DescriptionError) -> Duration? {
        guard let value = values[key] else { return nil }
        guard case .text(let text) = value, let time = Duration(shortText: text), legal.contains(time) else {
            throw illegal(
                key, "a time from \(legal.lowerBound.shortText) to \(legal.upperBound.shortText), as \"500ms\"")
        }
        return time
    }
}

extension UInt8 {
    fileprivate var isMark: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "\""), UInt8(ascii: "*"):
            false
        case UInt8(ascii: "\t"), 0x20...0x7E: true
        default: false
        }
    }
}
