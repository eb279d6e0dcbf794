/// Turns lines of another program into marks and counts the rejected lines.
package struct MarkLines: Sendable {
    /// Maximum number of marks per second.
    package static let rateMax = 5
    /// Maximum number of marks per run of meterctl.
    package static let countMax = 1000

    /// Times of the marks set in the last second.
    private var recent: [MonotonicTime] = []
    package private(set) var marked = 0
    /// Number of lines that do not match the expression, or whose captured text has no visible characters.
    package private(set) var unmatched = 0
    /// Number of lines beyond `rateMax`.
    package private(set) var tooFast = 0
    /// Number of lines beyond `countMax`.
    package private(set) var tooMany = 0

    package init() {}

    /// - Parameter captured: text captured by the expression; nil if the line does not match.
    /// - Returns: the name of the mark to set now; nil for none.
    package mutating func take(_ captured: String?, at now: MonotonicTime) -> String? {
        let name = captured.map { Mark.cleaned($0, isCut: true) } ?? ""
        guard !name.isEmpty else {
            unmatched += 1
            return nil
        }
        guard marked < Self.countMax else {
            tooMany += 1
            return nil
        }
        recent.removeAll { now - $0 >= .seconds(1) }
        guard recent.count < Self.rateMax else {
            tooFast += 1
            return nil
        }
        recent.append(now)
        marked += 1
        return name
    }
}
