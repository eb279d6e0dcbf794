/// Text from elsewhere, as people may be shown it.
///
/// What another host, a meter or a stranger wrote can hold characters that move a terminal's cursor, turn the order of
/// what follows, or cannot be seen at all, so that one name looks like another. Wherever text leaves a program for a
/// person, in a table, a message or a log, these become `\u{202E}` and the like. What is for programs, such as JSON,
/// stays as it is. Docs/ThreatModel.md lists them.
extension Unicode.Scalar {
    /// Whether a person sees it, and it changes nothing but its own place.
    ///
    /// Not: control characters of both sets, marks of direction, joiners and other characters without width, separators
    /// of lines and paragraphs, tags, and what stands for nothing (Unicode's categories Cc, Cf, Cn, Co, Zl and Zp,
    /// and whatever has the property Default_Ignorable_Code_Point).
    package var isVisible: Bool {
        if value < 0x7F { return value >= 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
    }

    /// How it is shown where it is not visible.
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
    /// Whether it holds a control character or ends a line.
    package var isControl: Bool {
        isNewline || unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension StringProtocol {
    /// Itself, with every character that cannot be seen as an escape.
    ///
    /// - Parameter linesKept: leaves line ends as they are, for text of several lines.
    package func visible(linesKept: Bool = false) -> String {
        // Nearly all text is fine as it is.
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
    /// Variation selectors 15 and 16, which say whether an emoji is a letter or a picture. Behind anything else they
    /// could only hide.
    fileprivate func choosesPicture(after last: Unicode.Scalar?) -> Bool {
        guard value == 0xFE0E || value == 0xFE0F, let last, last.value > 0x7F else { return false }
        return last.properties.isEmoji
    }
}
