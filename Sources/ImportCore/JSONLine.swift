import MeterModel

/// Reads one object of JSON (RFC 8259) from a line, without keeping what nobody asks for.
struct JSONLine {
    private let bytes: ArraySlice<UInt8>
    private var index: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    /// The line is not the JSON that was expected.
    struct Malformed: Error {}

    enum Value {
        case text(String)
        /// As it stands there.
        case number(ArraySlice<UInt8>)
        case null
        case flag(Bool)
        /// An object, from its opening brace on, to be read by a `JSONLine` of its own.
        case object(ArraySlice<UInt8>)
        /// The objects of an array; anything else in it is left out.
        case array([ArraySlice<UInt8>])
    }

    /// Calls `body` for each key of the object, which is all that the line holds.
    mutating func forEach<Failure: Error>(
        _ body: (String, Value) throws(Failure) -> Void, orElse malformed: () -> Failure
    ) throws(Failure) {
        do throws(Malformed) {
            try take("{")
        } catch {
            throw malformed()
        }
        var isFirst = true
        while true {
            let entry: (String, Value)?
            do throws(Malformed) {
                entry = try next(isFirst: isFirst)
            } catch {
                throw malformed()
            }
            guard let entry else { break }
            try body(entry.0, entry.1)
            isFirst = false
        }
        skipSpaces()
        guard index == bytes.endIndex else { throw malformed() }
    }

    private mutating func next(isFirst: Bool) throws(Malformed) -> (String, Value)? {
        skipSpaces()
        if peek == UInt8(ascii: "}") {
            index += 1
            return nil
        }
        if !isFirst { try take(",") }
        let key = try text()
        try take(":")
        return (key, try value())
    }

    private var peek: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

    private mutating func skipSpaces() {
        while let byte = peek, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { index += 1 }
    }

    private mutating func take(_ letter: Unicode.Scalar) throws(Malformed) {
        skipSpaces()
        guard peek == UInt8(ascii: letter) else { throw Malformed() }
        index += 1
    }

    private mutating func value() throws(Malformed) -> Value {
        skipSpaces()
        let start = index
        switch peek {
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "{"):
            try skipNested()
            return .object(bytes[start..<index])
        case UInt8(ascii: "["): return .array(try array())
        default:
            while let byte = peek, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}"), byte != UInt8(ascii: " ") {
                index += 1
            }
            let word = bytes[start..<index]
            guard let first = word.first else { throw Malformed() }
            if word.elementsEqual("null".utf8) { return .null }
            if word.elementsEqual("true".utf8) { return .flag(true) }
            if word.elementsEqual("false".utf8) { return .flag(false) }
            guard first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
                throw Malformed()
            }
            return .number(word)
        }
    }

    private mutating func array() throws(Malformed) -> [ArraySlice<UInt8>] {
        var ahead = self
        try ahead.skipNested()
        let close = ahead.index
        index += 1
        var objects: [ArraySlice<UInt8>] = []
        while index < close - 1 {
            switch peek {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let start = index
                try skipNested()
                if bytes[start] == UInt8(ascii: "{") { objects.append(bytes[start..<index]) }
            case UInt8(ascii: "\""): _ = try text()
            default: index += 1
            }
        }
        index = close
        return objects
    }

    /// Skips what begins with a brace or a bracket, up to the one that closes it.
    private mutating func skipNested() throws(Malformed) {
        var depth = 0
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                _ = try text()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            index += 1
            if depth == 0 { return }
        }
        throw Malformed()
    }

    private mutating func text() throws(Malformed) -> String {
        try take("\"")
        let start = index
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { index += 1 }
        guard peek == UInt8(ascii: "\\") else {
            guard peek != nil else { throw Malformed() }
            defer { index += 1 }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }
        var text = Array(bytes[start..<index])
        while let byte = peek {
            index += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") { text += try escape() } else { text.append(byte) }
        }
        throw Malformed()
    }

    private mutating func escape() throws(Malformed) -> [UInt8] {
        guard let letter = peek else { throw Malformed() }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
        case UInt8(ascii: "b"): return [8]
        case UInt8(ascii: "f"): return [12]
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "u"):
            let high = try unit()
            guard (0xD800..<0xDC00).contains(high) else { return Self.utf8(UInt32(high)) }
            // The other half of a pair.
            guard peek == UInt8(ascii: "\\") else { throw Malformed() }
            index += 1
            guard peek == UInt8(ascii: "u") else { throw Malformed() }
            index += 1
            let low = try unit()
            guard (0xDC00..<0xE000).contains(low) else { throw Malformed() }
            return Self.utf8(0x10000 + UInt32(high - 0xD800) << 10 + UInt32(low - 0xDC00))
        default: throw Malformed()
        }
    }

    private mutating func unit() throws(Malformed) -> UInt16 {
        let digits = bytes[index..<min(index + 4, bytes.endIndex)]
        guard digits.count == 4, digits.allSatisfy({ $0.hexDigitValue != nil }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else {
            throw Malformed()
        }
        index += 4
        return unit
    }

    private static func utf8(_ value: UInt32) -> [UInt8] {
        Array(String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8)
    }
}
