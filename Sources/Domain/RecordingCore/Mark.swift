/// A moment or a span on a meter's timeline that somebody named.
package struct Mark: Hashable, Sendable {
    /// Formed as a recording's. Its token tells marks of one host, meter and moment apart.
    package let id: RecordingID
    package var name: String
    /// Equal to `start` for a moment; nil while a span is open.
    package var end: WallTime?

    package init(id: RecordingID, name: String, end: WallTime?) {
        self.id = id
        self.name = name
        self.end = end
    }

    package var start: WallTime { id.started }

    /// Whether any of it lies in `span`; an open span goes on for ever.
    package func touches(_ span: Range<WallTime>) -> Bool {
        start < span.upperBound && (end.map { $0 >= span.lowerBound } ?? true)
    }

    // MARK: Names

    /// Longest name, in characters that a person sees.
    package static let nameMax = 80
    /// Longest name in bytes: a character may have any number of accents.
    private static let nameBytesMax = 640

    /// A text on one line: what cannot be seen becomes a space, and spaces at its ends and side by side go.
    ///
    /// - Parameter isCut: shortens it to what a name may have.
    package static func cleaned(_ text: String, isCut: Bool = false) -> String {
        let scalars = text.unicodeScalars.map { $0.isVisible ? $0 : " " }
        var line = String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
        guard isCut, !isName(line) else { return line }
        line = String(line.prefix(nameMax))
        while line.utf8.count > nameBytesMax { line.unicodeScalars.removeLast() }
        return cleaned(line)
    }

    /// Whether a cleaned text can name a mark.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= nameBytesMax && text.count <= nameMax
    }
}

/// By start; with equal starts, by id.
extension Mark: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.id < rhs.id }
}

/// How a mark is sent to other hosts.
extension Mark {
    /// `is_span` is written once, with the mark. A record without it was deleted, and renamed or ended elsewhere at the
    /// same time. It does not count as a mark, so a deletion wins.
    package var properties: [String: SettingValue] {
        var properties: [String: SettingValue] = ["name": .string(name), "is_span": .bool(end != start)]
        if let end, end != start { properties["end_ms"] = .int(end.millisecondsSince1970) }
        return properties
    }

    /// Reads what `properties` wrote.
    ///
    /// - Returns: nil for a record that makes no sense.
    package init?(id: RecordingID, properties: [String: SettingValue]) {
        guard case .string(let text)? = properties["name"], case .bool(let isSpan)? = properties["is_span"] else {
            return nil
        }
        let name = Self.cleaned(text, isCut: true)
        guard !name.isEmpty else { return nil }
        self.init(id: id, name: name, end: isSpan ? nil : id.started)
        guard isSpan, case .int(let end)? = properties["end_ms"] else { return }
        self.end = max(id.started, WallTime(millisecondsSince1970: end))
    }
}
