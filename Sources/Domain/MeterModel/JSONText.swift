/// Writes JSON strings. Besides the characters that JSON forbids, escapes DEL and U+0080 to U+009F, which terminals
/// interpret.
package enum JSONText {
    package static func write(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        var string = string
        let isPlain = string.withUTF8 { bytes in
            // 0xC2 is the first byte of the control characters from U+0080 on.
            let isPlain = !bytes.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 == 0x7F || $0 == 0xC2 }
            if isPlain { text.append(contentsOf: bytes) }
            return isPlain
        }
        if !isPlain {
            for scalar in string.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { text.append(UInt8(ascii: "\\")) }
                append(scalar, to: &text)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Returns an upper bound of the escaped length in bytes, with quotes.
    package static func bytesMax(of string: String) -> Int {
        string.utf8.reduce(2) { sum, byte in
            switch byte {
            case 0..<0x20, 0x7F: sum + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): sum + 2
            // The escape has 6 bytes, and replaces this byte and the next one, which counts 1.
            case 0xC2: sum + 5
            default: sum + 1
            }
        }
    }

    /// Escapes DEL and U+0080 to U+009F in JSON text. Keeps line ends between values.
    ///
    /// - Parameter json: output of an encoder, which has escaped the characters that JSON forbids.
    package static func escapingControls(_ json: String) -> String {
        guard json.utf8.contains(where: { $0 == 0x7F || $0 == 0xC2 }) else { return json }
        var text: [UInt8] = []
        for scalar in json.unicodeScalars {
            if scalar == "\n" { text.append(UInt8(ascii: "\n")) } else { append(scalar, to: &text) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout [UInt8]) {
        if scalar.properties.generalCategory == .control {
            text.append(contentsOf: "\\u00\(Hex.encode([UInt8(truncatingIfNeeded: scalar.value)]))".utf8)
        } else {
            text.append(contentsOf: scalar.utf8)
        }
    }
}
