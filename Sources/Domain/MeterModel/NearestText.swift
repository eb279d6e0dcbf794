extension Sequence where Element == String {
    /// Returns the most similar word, regardless of case; nil if none is similar enough.
    ///
    /// A word that begins with `text` wins, however many letters are missing. Otherwise at most a third of the letters
    /// may differ.
    package func nearest(to text: String) -> String? {
        let wanted = text.lowercased()
        guard !wanted.isEmpty else { return nil }
        let begun = filter { $0.lowercased().hasPrefix(wanted) }
        let distances = (begun.isEmpty ? Array(self) : begun).map { ($0, $0.lowercased().editDistance(to: wanted)) }
        guard let best = distances.min(by: { $0.1 < $1.1 }) else { return nil }
        return !begun.isEmpty || best.1 <= Swift.max(1, wanted.count / 3) ? best.0 : nil
    }

    /// Advice for an unknown word: the nearest word, if any, then `rest`.
    package func suggestion(for text: String, _ rest: String) -> String {
        guard let near = nearest(to: text) else { return rest }
        let isProgram = rest.hasPrefix("meter")
        return "did you mean \(near)? \(isProgram ? rest : rest.prefix(1).uppercased() + rest.dropFirst())"
    }
}

extension String {
    /// Damerau-Levenshtein distance that edits no letter twice: letters to add, drop, change or swap with the next.
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
