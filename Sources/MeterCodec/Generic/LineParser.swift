import Domain

/// Classifies one line as a measurement, a remark (blank line or comment), or a misfit. One missing required field or
/// invalid value makes the whole line a misfit.
struct LineParser: Sendable {
    let description: LineDescription
    let enforcesCheck: Bool

    enum Verdict {
        case reading(LineFrame)
        /// A blank line or a comment.
        case remark
        case misfit(CodecError)
    }

    /// - Parameter line: bytes without the line end.
    func judge(_ line: UnsafeRawBufferPointer) -> Verdict {
        let text = LineText(bytes: line)
        var part = 0..<line.count
        if let last = line.last, last == UInt8(ascii: "\r") { part = part.dropLast() }
        part = text.trimmed(part)
        guard !part.isEmpty else { return .remark }
        if !description.comment.isEmpty, text.begins(part, with: description.comment) { return .remark }
        if let check = description.check {
            switch proved(part, by: check, in: text) {
            case .success(let body): part = text.trimmed(body)
            case .failure(let error): return .misfit(error)
            }
        }
        var fields = Fields(text: text, description: description)
        let error =
            switch description.format {
            case .pairs: fields.takePairs(part)
            case .columns: fields.takeColumns(part)
            case .json: fields.takeObject(part)
            }
        if let error = error ?? fields.missing { return .misfit(error) }
        return .reading(fields.frame)
    }

    /// Returns the part before the checksum, or an error if the checksum is missing or wrong.
    private func proved(
        _ part: Range<Int>, by check: LineDescription.Check, in text: LineText
    ) -> Result<Range<Int>, CodecError> {
        let star = part.upperBound - check.digits - 1
        guard star >= part.lowerBound, text.bytes[star] == UInt8(ascii: "*") else {
            return .failure(.truncated(have: part.upperBound))
        }
        var found: UInt32 = 0
        for index in star + 1..<part.upperBound {
            guard let digit = text.bytes[index].hexDigitValue else { return .failure(.implausibleField(offset: index)) }
            found = found << 4 | UInt32(digit)
        }
        let expected = check.value(over: UnsafeRawBufferPointer(rebasing: text.bytes[part.lowerBound..<star]))
        guard expected == found || !enforcesCheck else {
            return .failure(.wrongCheck(expected: expected, found: found))
        }
        return .success(part.lowerBound..<star)
    }
}

private struct Fields {
    let text: LineText
    let description: LineDescription
    var frame = LineFrame()
    private var seen: UInt16 = 0

    init(text: LineText, description: LineDescription) {
        self.text = text
        self.description = description
    }

    var missing: CodecError? {
        for (index, field) in description.fields.enumerated() where !field.isOptional && seen & 1 << UInt16(index) == 0
        {
            return .truncated(have: text.bytes.count)
        }
        return frame.isEmpty ? .truncated(have: text.bytes.count) : nil
    }

    private mutating func take(_ index: Int, _ value: Range<Int>) -> CodecError? {
        let field = description.fields[index]
        let isAgain = seen & 1 << UInt16(index) != 0
        guard !isAgain else { return .implausibleField(offset: value.lowerBound) }
        seen |= 1 << UInt16(index)
        switch text.number(value, unit: field.unit) {
        case .misfit: return .implausibleField(offset: value.lowerBound)
        case .unknown: frame.add(field.quantity, nil)
        case .value(let number):
            let measured = number * field.factor + field.offset
            guard field.range.contains(measured) else { return .implausibleField(offset: value.lowerBound) }
            frame.add(field.quantity, measured)
        }
        return nil
    }

    private func field(named name: Range<Int>) -> Int? {
        var index = 0
        while index < description.fields.count {
            if text.isEqual(name, description.fields[index].name) { return index }
            index += 1
        }
        return nil
    }

    private func forEachPart(
        of part: Range<Int>, _ body: (_ part: Range<Int>, _ isLast: Bool) -> CodecError?
    ) -> CodecError? {
        var start = part.lowerBound
        while true {
            let end = text.firstIndex(of: description.separator, in: start..<part.upperBound) ?? part.upperBound
            let isLast = end == part.upperBound
            let one = text.trimmed(start..<end)
            // Several blanks are one separator.
            if !(one.isEmpty && description.separator == LineText.blank), let error = body(one, isLast) { return error }
            if isLast { return nil }
            start = end + 1
        }
    }

    /// Ignores unknown names. The last pair may end in a separator.
    mutating func takePairs(_ part: Range<Int>) -> CodecError? {
        var own = self
        let error = forEachPart(of: part) { pair, isLast in
            if pair.isEmpty, isLast { return nil }
            guard let middle = text.firstIndex(of: description.assignment, in: pair) else {
                return .implausibleField(offset: pair.lowerBound)
            }
            let name = text.trimmed(pair.lowerBound..<middle)
            guard !name.isEmpty else { return .implausibleField(offset: pair.lowerBound) }
            guard let index = own.field(named: name) else { return nil }
            return own.take(index, text.trimmed(middle + 1..<pair.upperBound))
        }
        self = own
        return error
    }

    /// A line must have all described columns; an optional column may be empty.
    mutating func takeColumns(_ part: Range<Int>) -> CodecError? {
        var own = self
        var column = 0
        let error = forEachPart(of: part) { one, _ in
            defer { column += 1 }
            guard column < description.columns else { return .implausibleField(offset: one.lowerBound) }
            guard let index = description.fields.firstIndex(where: { $0.column == column }) else { return nil }
            if one.isEmpty, description.fields[index].isOptional { return nil }
            return own.take(index, one)
        }
        self = own
        if let error { return error }
        return column == description.columns ? nil : .truncated(have: text.bytes.count)
    }

    /// Parses one flat object. A described value is a number, a text with a number, or null for an unknown value. Other
    /// values may be any number, text or word. Names with escapes match no field.
    mutating func takeObject(_ part: Range<Int>) -> CodecError? {
        var rest = part
        guard skip(UInt8(ascii: "{"), &rest) else { return .implausibleField(offset: rest.lowerBound) }
        if skip(UInt8(ascii: "}"), &rest) { return isEnd(rest) }
        repeat {
            guard let name = quoted(&rest), skip(UInt8(ascii: ":"), &rest), let value = value(&rest) else {
                return .implausibleField(offset: rest.lowerBound)
            }
            guard let index = field(named: name) else { continue }
            if text.isEqual(value, Self.null) {
                if let error = takeUnknown(index, value) { return error }
            } else if let error = take(index, value) {
                return error
            }
        } while skip(UInt8(ascii: ","), &rest)
        guard skip(UInt8(ascii: "}"), &rest) else { return .implausibleField(offset: rest.lowerBound) }
        return isEnd(rest)
    }

    private static let null = Array("null".utf8)

    private mutating func takeUnknown(_ index: Int, _ value: Range<Int>) -> CodecError? {
        guard seen & 1 << UInt16(index) == 0 else { return .implausibleField(offset: value.lowerBound) }
        seen |= 1 << UInt16(index)
        frame.add(description.fields[index].quantity, nil)
        return nil
    }

    private func isEnd(_ rest: Range<Int>) -> CodecError? {
        rest.isEmpty ? nil : .implausibleField(offset: rest.lowerBound)
    }

    /// Skips `byte` and the blanks after it; returns false if another byte is next.
    private func skip(_ byte: UInt8, _ rest: inout Range<Int>) -> Bool {
        guard let first = rest.first, text.bytes[first] == byte else { return false }
        rest = rest.dropFirst()
        while let next = rest.first, LineText.isBlank(text.bytes[next]) { rest = rest.dropFirst() }
        return true
    }

    /// Returns a quoted text's content, and skips the text and the blanks after it. Nil if it is missing or incomplete.
    private func quoted(_ rest: inout Range<Int>) -> Range<Int>? {
        let quote = UInt8(ascii: "\"")
        guard let first = rest.first, text.bytes[first] == quote else { return nil }
        var index = first + 1
        while index < rest.upperBound, text.bytes[index] != quote {
            index += text.bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < rest.upperBound else { return nil }
        rest = index..<rest.upperBound
        _ = skip(quote, &rest)
        return first + 1..<index
    }

    /// Skips and returns a quoted text's content, or an unquoted number or word. Nil if neither is next.
    private func value(_ rest: inout Range<Int>) -> Range<Int>? {
        if let first = rest.first, text.bytes[first] == UInt8(ascii: "\"") { return quoted(&rest) }
        let start = rest.lowerBound
        while let next = rest.first, !Self.ends(text.bytes[next]) { rest = rest.dropFirst() }
        guard rest.lowerBound > start else { return nil }
        let value = text.trimmed(start..<rest.lowerBound)
        return value
    }

    private static func ends(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "\""):
            true
        default: false
        }
    }
}
