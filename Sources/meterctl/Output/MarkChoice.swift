import Domain
import GatewayAPI
import ProgramKit

/// Finds a meter's mark by name (`NAME`), by `NAME#2` if several have the same name, or by id.
struct MarkChoice {
    private let marks: [MarkBody]
    private let meter: String
    private let kind: String

    init(_ marks: [MarkBody], of meter: String, kind: String = "mark") {
        self.marks = marks
        self.meter = meter
        self.kind = kind
    }

    /// Marks with their names, numbered like `NAME#2` if equal.
    var handles: [(mark: MarkBody, handle: String)] {
        var seen: [String: Int] = [:]
        let counts = Dictionary(grouping: marks, by: \.name).mapValues(\.count)
        return marks.map { mark in
            let number = seen[mark.name, default: 0] + 1
            seen[mark.name] = number
            return (mark, counts[mark.name] == 1 ? mark.name : "\(mark.name)#\(number)")
        }
    }

    func mark(_ text: String) throws -> MarkBody {
        // First try the whole text as a name, which may contain a #.
        let named = marks.filter { $0.name == text }
        if named.count == 1 { return named[0] }
        guard named.isEmpty else {
            throw CommandFailure(
                .usage, "\(meter) has \(named.count) \(kind)s called \"\(text)\"",
                next: "say which: \("\(text)#1".shellWord) to \("\(text)#\(named.count)".shellWord)")
        }
        if let found = handles.first(where: { $0.handle == text }) ?? handles.first(where: { $0.mark.id == text }) {
            return found.mark
        }
        let near = handles.map(\.handle).nearest(to: text).map { "did you mean \($0.shellWord)?" }
        throw CommandFailure(
            .error, "\(meter) has no \(kind) called \"\(text)\"",
            next: near ?? "meterctl mark list \(meter.shellWord) shows them")
    }

    /// Returns the span from the beginning of the first mark to the end of the second, which may be the same.
    func span(between words: [String], _ now: WallTime) throws -> Range<WallTime> {
        let (first, last) = (try mark(words[0]), try mark(words[words.count - 1]))
        guard words.count > 1 || first.to != first.from else {
            throw CommandFailure(
                .usage, "\"\(first.name)\" is a moment, but a stretch of time needs two ends",
                next: "name a second mark, or a span")
        }
        guard let start = WallTime(first.from), let end = last.to.map({ WallTime($0) }) ?? now else {
            throw CommandFailure(
                .error, "the times of the marks cannot be read", next: "check that both programs have one version")
        }
        guard start < end else {
            throw CommandFailure(
                .usage, "\"\(last.name)\" does not end after \"\(first.name)\" begins",
                next: "name the earlier mark first")
        }
        return start..<end
    }

    func table(_ times: TimeText) -> Table {
        var table = Table(["ID", "FROM", "TO", "HOST", "NAME"])
        for (mark, handle) in handles {
            let to = mark.to.map { $0 == mark.from ? "" : times.text($0) } ?? "open"
            let host = mark.host ?? String(mark.host_id.prefix(8))
            table.add([
                .init(mark.id), .init(times.text(mark.from), isWhole: true), .init(to, isWhole: true),
                .init(mark.is_local ? "\(host), local" : host), .init(handle),
            ])
        }
        return table
    }
}
