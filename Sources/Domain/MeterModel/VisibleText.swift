/// Escapes text from other hosts, meters and unknown senders before users see it.
///
/// Such text can move a terminal's cursor, reverse following text, or hide characters so that names look the same.
/// Tables, messages and logs show these characters as `\u{202E}` and the like; output for programs, such as JSON, keeps
/// them (Docs/ThreatModel.md).
extension Unicode.Scalar {
    /// Whether the character is visible and does not affect others.
    ///
    /// False for Unicode's categories Cc, Cf, Cn, Co, Zl and Zp, and for the property Default_Ignorable_Code_Point.
    package var isVisible: Bool {
        if value < 0x7F { return value >= 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
    }

    package var escaped: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{\(String(value, radix: 16, uppercase: true))}"
        }
    }
}

extension Character {
    package var isControl: Bool {
        isNewline || unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension StringProtocol {
    /// Escapes every invisible character, except for line ends if `linesKept`.
    package func visible(linesKept: Bool = false) -> String {
        if utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return String(self) }
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in unicodeScalars {
            if scalar.isVisible || (linesKept && scalar == "\n") || scalar.choosesPicture(after: last) {
                result.append(scalar)
            } else {
                result.append(contentsOf: scalar.escaped.unicodeScalars)
            }
            last = scalar
        }
        return String(result)
    }

    package var visible: String { visible() }
}

extension Unicode.Scalar {
    /// Whether this is variation selector 15 or 16 after an emoji. Elsewhere it could only hide characters.
    fileprivate func choosesPicture(after last: Unicode.Scalar?) -> Bool {
        guard value == 0xFE0E || value == 0xFE0F, let last, last.value > 0x7F else { return false }
        return last.properties.isEmoji
    }
}
