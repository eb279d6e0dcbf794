/// What somebody probably meant who mistyped one of a few words.
extension Sequence where Element == String {
    /// The word that is most like a text, in upper or lower case; nil if none is like it.
    ///
    /// One that begins with the text is, however many letters are missing: half of a word was typed. Otherwise at most a
    /// third of the letters differ, where two that changed places count as one.
    package func nearest(to text: String) -> String? {
        let wanted = text.lowercased()
        guard !wanted.isEmpty else { return nil }
        let begun = filter { $0.lowercased().hasPrefix(wanted) }
        let distances = (begun.isEmpty ? Array(self) : begun).map { ($0, $0.lowercased().editDistance(to: wanted)) }
        guard let best = distances.min(by: { $0.1 < $1.1 }) else { return nil }
        return !begun.isEmpty || best.1 <= Swift.max(1, wanted.count / 3) ? best.0 : nil
    }

    /// What to do next about a text that is not one of these words: the nearest one, if there is one, then `rest`.
    package func suggestion(for text: String, _ rest: String) -> String {
        guard let near = nearest(to: text) else { return rest }
        let isProgram = rest.hasPrefix("meter")
        return "did you mean \(near)? \(isProgram ? rest : rest.prefix(1).uppercased() + rest.dropFirst())"
    }
}

extension String {
    /// Number of letters to add, drop, change or exchange with the next to get the other text (the Damerau-Levenshtein
    /// distance of texts in which no letter is touched twice).
    package func editDistance(to other: String) -> Int {
        let (own, other) = (Array(self), Array(other))
        var (before, last, row) = ([Int](), [Int](), Array(0...other.count))
        for (index, letter) in own.enumerated() {
            (before, last) = (last, row)
            row[0] = index + 1
            for column in other.indices {
                let changed = last[column] + (letter == other[column] ? 0 : 1)
                var least = Swift.min(changed, last[column + 1] + 1, row[column] + 1)
                if index > 0, column > 0, letter == other[column - 1], own[index - 1] == other[column] {
                    least = Swift.min(least, before[column - 1] + 1)
                }
                row[column + 1] = least
            }
        }
        return row[other.count]
    }
}
