/// A named moment or period on a meter's timeline.
package struct Mark: Hashable, Sendable {
    /// Id whose `token` only distinguishes marks of the same host, meter and start.
    package let id: RecordingID
    package var name: String
    /// Equal to `start` for a moment; nil while a period is open.
    package var end: WallTime?

    package init(id: RecordingID, name: String, end: WallTime?) {
        self.id = id
        self.name = name
        self.end = end
    }

    package var start: WallTime { id.started }

    /// Whether the mark overlaps `span`. An open mark never ends.
    package func touches(_ span: Range<WallTime>) -> Bool {
        start < span.upperBound && (end.map { $0 >= span.lowerBound } ?? true)
    }

    // MARK: Names

    /// Maximum length of a name in visible characters.
    package static let nameMax = 80
    /// Maximum length of a name in bytes, because a character may have any number of accents.
    private static let nameBytesMax = 640

    /// Puts the text on one line: invisible characters become spaces, which are trimmed and merged.
    ///
    /// - Parameter isCut: whether to truncate to the length of a name.
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

extension Mark: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.id < rhs.id }
}

extension Mark {
    /// `is_span` is written only once: if one host deletes the mark while another changes it, a record without
    /// `is_span` remains. It is no mark, so the deletion wins.
    package var properties: [String: SettingValue] {
        var properties: [String: SettingValue] = ["name": .string(name), "is_span": .bool(end != start)]
        if let end, end != start { properties["end_ms"] = .int(end.millisecondsSince1970) }
        return properties
    }

    /// Nil if the name or `is_span` is missing.
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
