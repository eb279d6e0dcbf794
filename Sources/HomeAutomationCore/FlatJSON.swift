/// One JSON object, such as a request, with texts, whole numbers, Booleans or null as values. Nested values are
/// refused, so that no payload can make the reader recurse.
package struct FlatJSON: Hashable, Sendable {
    package private(set) var values: [String: JSONValue] = [:]

    /// Why bytes are not such an object: a text for the sender.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String

        package init(message: String) { self.message = message }
    }

    package init(_ bytes: [UInt8]) throws(Problem) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Problem(message: "it is not UTF-8") }
        var reader = Reader(rest: Array(text.unicodeScalars)[...])
        try reader.expect("{")
        if !reader.take("}") {
            repeat {
                let key = try reader.string()
                try reader.expect(":")
                guard values[key] == nil else { throw Problem(message: "\"\(key)\" is there twice") }
                values[key] = try reader.value()
            } while reader.take(",")
            try reader.expect("}")
        }
        reader.skipBlanks()
        guard reader.rest.isEmpty else { throw Problem(message: "something follows the object") }
    }

    private struct Reader {
        var rest: ArraySlice<Unicode.Scalar>

        mutating func skipBlanks() {
            rest = rest.drop { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" }
        }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            skipBlanks()
            guard rest.first == scalar else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func expect(_ scalar: Unicode.Scalar) throws(Problem) {
            guard take(scalar) else { throw Problem(message: "it has no \"\(scalar)\" where one belongs") }
        }

        mutating func value() throws(Problem) -> JSONValue {
            skipBlanks()
            switch rest.first {
            case "\"": return .string(try string())
            case "{", "[": throw Problem(message: "its values may be texts and whole numbers only")
            default: break
            }
            let word = String(String.UnicodeScalarView(rest.prefix { $0 != "," && $0 != "}" && !$0.isBlank }))
            rest = rest.dropFirst(word.unicodeScalars.count)
            switch word {
            case "null": return .null
            case "true": return .bool(true)
            case "false": return .bool(false)
            default:
                // Int itself accepts a plus sign, which JSON does not.
                guard word.utf8.first != UInt8(ascii: "+"), let number = Int(word) else {
                    throw Problem(message: "\"\(String(word.prefix(32)))\" is neither text nor a whole number")
                }
                return .int(number)
            }
        }

        mutating func string() throws(Problem) -> String {
            try expect("\"")
            var text = String.UnicodeScalarView()
            while let scalar = rest.popFirst() {
                switch scalar {
                case "\"": return String(text)
                case "\\": text.append(try escaped())
                case _ where scalar.value < 0x20: throw Problem(message: "a text has a control character")
                default: text.append(scalar)
                }
            }
            throw Problem(message: "a text has no end")
        }

        private mutating func escaped() throws(Problem) -> Unicode.Scalar {
            switch rest.popFirst() {
            case "\"": return "\""
            case "\\": return "\\"
            case "/": return "/"
            case "b": return "\u{8}"
            case "f": return "\u{C}"
            case "n": return "\n"
            case "r": return "\r"
            case "t": return "\t"
            case "u": return try unicode()
            default: throw Problem(message: "a text has an unknown escape")
            }
        }

        /// Four hex digits, or two groups of four for characters beyond the first plane.
        private mutating func unicode() throws(Problem) -> Unicode.Scalar {
            let first = try codeUnit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            if (0xD800..<0xDC00).contains(first), rest.popFirst() == "\\", rest.popFirst() == "u" {
                let second = try codeUnit()
                // Each half of a surrogate pair holds ten bits of a character beyond the first plane.
                if (0xDC00..<0xE000).contains(second),
                    let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
                {
                    return scalar
                }
            }
            throw Problem(message: "a text has half a character")
        }

        private mutating func codeUnit() throws(Problem) -> UInt32 {
            let digits = rest.prefix(4)
            rest = rest.dropFirst(4)
            var value: UInt32 = 0
            for scalar in digits {
                guard scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
                    throw Problem(message: "a text has an unknown escape")
                }
                value = value << 4 | UInt32(digit)
            }
            guard digits.count == 4 else { throw Problem(message: "a text has no end") }
            return value
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\n" || self == "\r" || self == "\t" }
}
