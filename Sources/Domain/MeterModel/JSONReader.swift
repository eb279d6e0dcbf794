/// Parses JSON (RFC 8259) in one pass, without intermediate strings.
///
/// A failed method returns nil or false, and `problem` contains the first reason. Afterwards `key` and `element` return
/// nil and false, so that loops end.
///
/// Only `open`, `key` and `element` skip white space. `skip` matches exact bytes.
package struct JSONReader {
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package enum Reason: String, Sendable {
            case missing = "a bracket, quote, colon or comma is missing"
            case notUTF8 = "a text is not UTF-8"
            case controlCharacter = "a text has a control character"
            case unknownEscape = "a text has an unknown escape"
            case halfACharacter = "a text has half a character"
            case unended = "a text has no end"
            case notANumber = "a number is malformed or too large"
            case notWhole = "a number is not whole, or has too many digits"
            case repeated = "a name is there twice"
            case tooDeep = "it is nested too deeply"
            case unwanted = "a value is not of the kind that belongs there"
            case trailing = "something follows the end"
        }

        package var reason: Reason
        package var offset: Int

        package var description: String { "\(reason.rawValue), at byte \(offset)" }
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0
    /// Whether the next element is the first of its object or array.
    private var isFirst = true
    package private(set) var problem: Problem?

    /// Maximum nesting, which protects the stack against hostile input.
    private static let depthMax = 64

    package typealias Letters = Slice<UnsafeBufferPointer<UInt8>>

    package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package var isAtEnd: Bool { position == bytes.count }

    /// Next byte, which determines the kind of value; nil at the end.
    package var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    @discardableResult
    package mutating func fail(_ reason: Problem.Reason) -> Bool {
        if problem == nil { problem = Problem(reason: reason, offset: position) }
        return false
    }

    // MARK: Numbers

    package mutating func integer() -> Int64? {
        let isNegative = skip("-")
        guard let magnitude = decimal() else { return nil }
        let isWhole = !(peek == UInt8(ascii: ".") || peek.map { $0 | 0x20 } == UInt8(ascii: "e"))
        if isWhole, !isNegative, let value = Int64(exactly: magnitude) { return value }
        guard isWhole && isNegative && 1...Int64.min.magnitude ~= magnitude || fail(.notWhole) else { return nil }
        return Int64(truncatingIfNeeded: 0 &- magnitude)
    }

    /// Parses at most 19 digits, which always fit into 64 bits, without leading zeros.
    package mutating func decimal() -> UInt64? {
        var value: UInt64 = 0
        let start = position
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            value = value &* 10 &+ UInt64(digit)
            position += 1
        }
        let count = position - start
        let isNumber = count == 1 || 2...19 ~= count && bytes[start] != UInt8(ascii: "0")
        return isNumber || fail(count == 0 ? .unwanted : .notWhole) ? value : nil
    }

    /// Parses a number as the nearest double; nil if that is infinite.
    package mutating func double() -> Double? {
        guard let letters = number() else { return nil }
        if let value = Double(String(decoding: letters, as: UTF8.self)), value.isFinite { return value }
        fail(.notANumber)
        return nil
    }

    private mutating func number() -> Letters? {
        let start = position
        _ = skip("-")
        let isZero = skip("0")
        var isNumber = isZero || passDigits()
        if isNumber, skip(".") { isNumber = passDigits() }
        if isNumber, let byte = peek, byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if let sign = peek, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            isNumber = passDigits()
        }
        guard isNumber || fail(position == start ? .unwanted : .notANumber) else { return nil }
        return bytes[start..<position]
    }

    private mutating func passDigits() -> Bool {
        let start = position
        while let byte = peek, byte &- UInt8(ascii: "0") < 10 { position += 1 }
        return position > start
    }

    // MARK: Texts

    /// Parses a lower-case UUID without quotes.
    package mutating func uuid() -> (high: UInt64, low: UInt64)? {
        guard let start = bytes.baseAddress, position + UUIDText.length <= bytes.count,
            let words = UUIDText.read(start + position, inAnyCase: false)
        else { return nil }
        position += UUIDText.length
        return words
    }

    package mutating func string() -> String? {
        guard skip(#"""#) || fail(.missing) else { return nil }
        let start = position
        let isASCII = passPlainLetters()
        let letters = UnsafeBufferPointer(rebasing: bytes[start..<position])
        guard skip(#"""#) else { return escapedString(from: start) }
        return isASCII ? String(decoding: letters, as: UTF8.self) : valid(letters)
    }

    package mutating func passString() -> Bool {
        guard skip(#"""#) || fail(.missing) else { return false }
        let start = position
        var isASCII = passPlainLetters()
        while skip(#"\"#) {
            guard escape() != nil else { return false }
            isASCII = passPlainLetters() && isASCII
        }
        return (isASCII || valid(UnsafeBufferPointer(rebasing: bytes[start..<position])) != nil) && endString()
    }

    /// Reads the raw bytes of a string; nil if it has escapes.
    package mutating func plainString() -> Letters? {
        guard skip(#"""#) || fail(.missing) else { return nil }
        let start = position
        passPlainLetters()
        let end = position
        return endString() ? bytes[start..<end] : nil
    }

    /// Skips bytes up to a quote, an escape or a forbidden byte. Returns whether all are ASCII.
    @discardableResult
    private mutating func passPlainLetters() -> Bool {
        var all: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20: return all < 0x80
            default:
                all |= byte
                position += 1
            }
        }
        return all < 0x80
    }

    private mutating func escapedString(from start: Int) -> String? {
        var text = Array(bytes[start..<position])
        while skip(#"\"#) {
            guard let scalar = escape() else { return nil }
            text.append(contentsOf: String(Character(scalar)).utf8)
            let next = position
            passPlainLetters()
            text.append(contentsOf: bytes[next..<position])
        }
        return endString() ? text.withUnsafeBufferPointer { valid($0) } : nil
    }

    private mutating func endString() -> Bool {
        skip(#"""#) || fail(isAtEnd ? .unended : peek == UInt8(ascii: "\\") ? .unknownEscape : .controlCharacter)
    }

    private mutating func valid(_ letters: UnsafeBufferPointer<UInt8>) -> String? {
        let text = String(validating: letters, as: UTF8.self)
        if text == nil { fail(.notUTF8) }
        return text
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let letter = peek else {
            fail(.unended)
            return nil
        }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default:
            fail(.unknownEscape)
            return nil
        }
        guard let first = codeUnit() else { return nil }
        if let scalar = Unicode.Scalar(first) { return scalar }
        // Each half of a surrogate pair holds ten bits of a character beyond the first plane.
        guard first < 0xDC00, skip(#"\u"#), let second = codeUnit(), 0xDC00..<0xE000 ~= second else {
            fail(.halfACharacter)
            return nil
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func codeUnit() -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek?.hexDigitValue else {
                fail(isAtEnd ? .unended : .unknownEscape)
                return nil
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    // MARK: Words

    package mutating func skip(_ expected: StaticString) -> Bool {
        let count = expected.utf8CodeUnitCount
        guard count <= bytes.count - position, let start = bytes.baseAddress else { return false }
        guard Self.areEqual(start + position, expected.utf8Start, count) else { return false }
        position += count
        return true
    }

    /// Eight bytes at a time; the last eight may overlap those before.
    private static func areEqual(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard count >= 8 else { return (0..<count).allSatisfy { one[$0] == other[$0] } }
        let (one, other) = (UnsafeRawPointer(one), UnsafeRawPointer(other))
        func areEqual(at offset: Int) -> Bool {
            one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        var offset = 0
        while offset + 8 < count {
            guard areEqual(at: offset) else { return false }
            offset += 8
        }
        return areEqual(at: count - 8)
    }

    package mutating func flag() -> Bool? {
        if skip("true") { return true }
        return skip("false") || fail(.unwanted) ? false : nil
    }

    // MARK: Values in values

    private mutating func skipBlanks() {
        while let byte = peek, byte <= 0x20, byte.isBlank { position += 1 }
    }

    private mutating func take(_ mark: UInt8) -> Bool {
        skipBlanks()
        guard peek == mark else { return false }
        position += 1
        skipBlanks()
        return true
    }

    package mutating func open(_ bracket: Unicode.Scalar) -> Bool {
        guard take(UInt8(ascii: bracket)) || fail(.unwanted), depth < Self.depthMax || fail(.tooDeep) else {
            return false
        }
        depth += 1
        isFirst = true
        return true
    }

    /// Next key of the innermost object, whose value the caller reads next; nil at the object's end.
    package mutating func key() -> String? {
        guard goesOn(until: UInt8(ascii: "}")), let key = string(), take(UInt8(ascii: ":")) || fail(.missing) else {
            return nil
        }
        return key
    }

    /// Whether the innermost array has another element, which the caller reads next.
    package mutating func element() -> Bool { goesOn(until: UInt8(ascii: "]")) }

    private mutating func goesOn(until end: UInt8) -> Bool {
        guard problem == nil else { return false }
        defer { isFirst = false }
        guard !take(end) else {
            depth -= 1
            return false
        }
        return isFirst || take(UInt8(ascii: ",")) || fail(.missing)
    }

    @discardableResult
    package mutating func passValue() -> Bool {
        switch peek {
        case UInt8(ascii: "{"):
            if open("{") { while key() != nil { passValue() } }
        case UInt8(ascii: "["):
            if open("[") { while element() { passValue() } }
        case UInt8(ascii: "\""): return passString()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return flag() != nil
        case UInt8(ascii: "n"): return skip("null") || fail(.unwanted)
        default: return number() != nil
        }
        return problem == nil
    }
}

extension Collection<UInt8> {
    /// - Throws: the reader's problem; `unwanted` if `body` returned nil without one; `trailing` if bytes are left.
    package func read<Value>(_ body: (inout JSONReader) -> Value?) throws(JSONReader.Problem) -> Value {
        let result: Result<Value, JSONReader.Problem>? = withContiguousStorageIfAvailable { bytes in
            var reader = JSONReader(bytes)
            let value = body(&reader)
            if let value, reader.problem == nil, reader.isAtEnd || reader.fail(.trailing) { return .success(value) }
            reader.fail(.unwanted)
            return .failure(reader.problem ?? JSONReader.Problem(reason: .unwanted, offset: 0))
        }
        guard let result else { return try Array(self).read(body) }
        return try result.get()
    }
}
