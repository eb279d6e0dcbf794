import Domain

/// Tells which marks belong to which line of an export, whose lines come in the order of their times.
///
/// A moment belongs to the first line at or after it, a span to every line in it, and to one line if it lies between two.
struct ExportMarks {
    /// In the order of their begin.
    private let marks: [Mark]
    private var next = 0
    /// Those that began and may go on.
    private var open: [Mark] = []

    /// - Parameter marks: in order.
    init(_ marks: [Mark]) { self.marks = marks }

    /// - Parameters:
    ///   - time: of the line.
    ///   - length: of the time that it stands for from then on; zero for a single reading.
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
