import Domain

/// Assigns marks to the lines of an export, which must be sorted by time.
///
/// A mark of a moment belongs to the first line that covers or follows it; a mark of a span to each line inside the
/// span. A span between two lines belongs to the second.
struct ExportMarks {
    private let marks: [Mark]
    private var next = 0
    private var open: [Mark] = []

    /// - Parameter marks: sorted by start.
    init(_ marks: [Mark]) { self.marks = marks }

    /// Returns the next line's marks.
    ///
    /// - Parameter length: time that the line covers; zero for a single reading.
    mutating func names(at time: WallTime, for length: Duration = .zero) -> [String] {
        var names = open.filter { $0.end.map { $0 >= time } ?? true }
        open = names
        while next < marks.count, marks[next].start <= time || marks[next].start < time + length {
            names.append(marks[next])
            open.append(marks[next])
            next += 1
        }
        return names.map(\.name)
    }
}
