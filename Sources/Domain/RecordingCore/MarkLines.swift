/// Which lines of another program become marks: at most five a second, and a thousand in all. The rest is counted.
///
/// A value: the time is passed in.
package struct MarkLines: Sendable {
    /// Most marks in any second.
    package static let rateMax = 5
    /// Most marks of one run.
    package static let countMax = 1000

    /// When the last `rateMax` marks were made.
    private var recent: [MonotonicTime] = []
    /// Lines that became marks.
    package private(set) var marked = 0
    /// Lines that do not match, or whose captured text has nothing that can be seen.
    package private(set) var unmatched = 0
    /// Lines that came faster than marks may.
    package private(set) var tooFast = 0
    /// Lines beyond the marks of one run.
    package private(set) var tooMany = 0

    package init() {}

    /// A line came.
    ///
    /// - Parameter captured: what the expression captured; nil where it does not match.
    /// - Returns: the name of the mark to set now, if any.
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
