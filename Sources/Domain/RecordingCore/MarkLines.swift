/// Turns another program's output into marks.
package struct MarkLines: Sendable {
    /// Maximum number of marks per second.
    package static let rateMax = 5
    /// Maximum number of marks per invocation of meterctl.
    package static let countMax = 1000

    private var recent: [MonotonicTime] = []
    package private(set) var marked = 0
    /// Lines that do not match the regular expression, or whose captured text has no visible characters.
    package private(set) var unmatched = 0
    /// Lines rejected because of `rateMax`.
    package private(set) var tooFast = 0
    /// Lines rejected because of `countMax`.
    package private(set) var tooMany = 0

    package init() {}

    /// - Parameter captured: text captured by the regular expression; nil if the line does not match.
    /// - Returns: name of the mark to set now; nil for none.
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
