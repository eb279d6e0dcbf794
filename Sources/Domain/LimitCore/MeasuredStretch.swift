/// The readings of a stretch of time, kept whole so that limits are judged exactly.
///
/// Current and power count by their size, whichever way it flows, as in alerts.
package struct MeasuredStretch: Sendable {
    /// More are refused: they would take more than half a gigabyte.
    package static let readingsMax = 20_000_000

    private let quantities: [Quantity]
    /// In milliseconds of the clock that stamped the readings; rising.
    private var times: [Int64] = []
    /// A column for each quantity; not a number where a reading lacks it.
    private var columns: [[Double]]
    /// Extremes beside the values, where those are means.
    private var extremes: [Quantity: ClosedRange<Double>] = [:]
    /// Readings that were measured and never came here.
    package private(set) var lost = 0
    /// The longest time of which only a mean is left, in milliseconds; 0 where all are single readings.
    package var resolution: Int64 = 0
    /// Begin and end, on the same clock. Without them the first and the last reading are.
    package var start: Int64?
    package var end: Int64?

    /// - Parameter limits: what will be judged; other quantities are not kept.
    package init(for limits: [Limit]) {
        quantities = Set(limits.compactMap(\.quantity)).sorted { $0.key < $1.key }
        columns = quantities.map { _ in [] }
    }

    package var count: Int { times.count }
    package var isFull: Bool { times.count >= Self.readingsMax }
    /// When the last reading was taken.
    package var last: Int64? { times.last }

    /// A reading that is not later than the last one is of a clock that was set back: nobody knows how long it held, so it is lost.
    package mutating func add(_ reading: Reading, at time: Int64) {
        guard !isFull, times.last.map({ $0 < time }) ?? true else { return lose(1) }
        times.append(time)
        for (index, quantity) in quantities.enumerated() {
            let value = quantity.alertValue(in: reading) ?? .nan
            columns[index].append(value.isFinite ? value : .nan)
        }
    }

    package mutating func lose(_ count: Int) { lost = lost.addingClamped(max(0, count)) }

    /// What is left of single readings that were summed up.
    package mutating func setExtremes(_ range: ClosedRange<Double>, of quantity: Quantity) {
        guard quantity.isAlertedBySize, range.lowerBound < 0 else { return extremes[quantity] = range }
        let sizes = [range.lowerBound.magnitude, range.upperBound.magnitude]
        extremes[quantity] = (range.upperBound > 0 ? 0 : sizes[1])...max(sizes[0], sizes[1])
    }

    // MARK: Time

    private var from: Int64? { start ?? times.first }
    private var to: Int64? { end ?? times.last }

    /// In milliseconds.
    package var length: Int64 {
        guard let from, let to else { return 0 }
        return max(0, to.subtractingClamped(from))
    }

    /// The time without a reading from which on nothing is known of it: five times the usual step, and at least a second.
    package var gapLength: Int64 {
        let steps = zip(times, times.dropFirst()).map { $1 - $0 }.sorted()
        guard !steps.isEmpty else { return 1000 }
        return max(1000, steps[steps.count / 2].multipliedReportingOverflow(by: 5).partialValue)
    }

    /// One quantity's values, and how the time between them was spent.
    fileprivate struct Track {
        var values: [Double] = []
        /// Milliseconds that each value is from the next, where no gap is between them.
        var steps: [Int64?] = []
        /// Milliseconds of which nothing is known.
        var gaps: Int64 = 0
    }

    private func track(of quantity: Quantity?) -> Track {
        let column = quantity.flatMap { quantities.firstIndex(of: $0) }.map { columns[$0] }
        let gapLength = gapLength
        var track = Track()
        var before = from
        for (index, time) in times.enumerated() {
            let value = column?[index] ?? 0
            guard !value.isNaN else { continue }
            let step = before.map { time.subtractingClamped($0) } ?? 0
            if step > gapLength { track.gaps += step }
            if !track.values.isEmpty { track.steps.append(step > gapLength ? nil : step) }
            track.values.append(value)
            before = time
        }
        if let before, let to, to.subtractingClamped(before) > gapLength { track.gaps += to - before }
        return track
    }

    /// Milliseconds of which nothing is known of any quantity.
    package var gaps: Int64 { track(of: nil).gaps }

    // MARK: Judging

    /// - Parameter allowedGaps: the share of the time, and of the readings, that may be missing; 0 to 1.
    package func judge(_ limit: Limit, allowedGaps: Double) -> LimitVerdict {
        switch limit.measure {
        case .duration: return verdict(limit, Double(length) / 1000)
        case .count: return verdict(limit, Double(count))
        default: break
        }
        let track = track(of: limit.quantity)
        guard let value = value(of: limit.measure, track) else {
            return LimitVerdict(.undecided(reason: tooFew(limit, track)), value: nil)
        }
        // What was seen to be over a limit stays over it, whatever was not seen.
        if limit.isBrokenForGood, !limit.comparison.holds(value, limit.bound) {
            return LimitVerdict(.broken, value: value)
        }
        if let reason = unknown(limit, track, allowedGaps) {
            return LimitVerdict(.undecided(reason: reason), value: value)
        }
        return verdict(limit, value)
    }

    private func verdict(_ limit: Limit, _ value: Double) -> LimitVerdict {
        LimitVerdict(limit.comparison.holds(value, limit.bound) ? .kept : .broken, value: value)
    }

    /// Nil where there are too few readings for it.
    private func value(of measure: Limit.Measure, _ track: Track) -> Double? {
        switch measure {
        case .mean: return track.integral.flatMap { $0.seconds > 0 ? $0.sum / $0.seconds : nil }
        case .energy: return track.integral.map { $0.sum / 3600 }
        case .charge: return track.integral.map { $0.sum / 3.6 }
        case .least(let quantity): return least(quantity, track)
        case .greatest(let quantity): return greatest(quantity, track)
        case .range(let quantity):
            guard let least = least(quantity, track), let greatest = greatest(quantity, track) else { return nil }
            return greatest - least
        case .percentile(_, let part): return track.percentile(part)
        case .deviation: return track.deviation
        case .share(_, let side, let bound): return track.share { side.holds($0, bound) }
        case .duration, .count: return nil
        }
    }

    private func least(_ quantity: Quantity, _ track: Track) -> Double? {
        track.values.min().map { min($0, extremes[quantity]?.lowerBound ?? $0) }
    }

    private func greatest(_ quantity: Quantity, _ track: Track) -> Double? {
        track.values.max().map { max($0, extremes[quantity]?.upperBound ?? $0) }
    }

    private func tooFew(_ limit: Limit, _ track: Track) -> String {
        let name = limit.quantity?.alertWord ?? ""
        guard !track.values.isEmpty else {
            return count == 0 ? "nothing was measured" : "the meter does not tell its \(name)"
        }
        if case .percentile(_, let part) = limit.measure {
            return "\(track.values.count) readings are too few: it takes \(Track.readingsMin(for: part))"
        }
        return "\(track.values.count) reading\(track.values.count == 1 ? " is" : "s are") too few"
    }

    /// To a tenth.
    private static func seconds(_ milliseconds: Int64) -> String { "\(milliseconds / 1000).\(milliseconds / 100 % 10)" }

    /// Why a value does not tell of the whole stretch; nil where it does.
    private func unknown(_ limit: Limit, _ track: Track, _ allowed: Double) -> String? {
        if resolution > 0, limit.needsSingleReadings, extremes.isEmpty || !limit.isOfExtremes {
            return "only means of \(Duration.milliseconds(resolution).shortText) are left"
        }
        if track.gaps > 0, Double(track.gaps) > allowed * Double(length) {
            return "nothing was measured for \(Self.seconds(track.gaps)) of \(Self.seconds(length)) s"
        }
        if lost > 0, Double(lost) > allowed * Double(lost + count) {
            return "\(lost) of \(lost + count) readings were lost"
        }
        return nil
    }
}

/// What is to be said of a limit.
package struct LimitVerdict: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case kept
        case broken
        /// What was measured does not tell.
        case undecided(reason: String)
    }

    package var kind: Kind
    /// In the limit's unit; nil where nothing can be computed.
    package var value: Double?

    package init(_ kind: Kind, value: Double?) {
        self.kind = kind
        self.value = value
    }
}

extension Limit {
    /// Whether a value on the wrong side cannot come back with more readings.
    fileprivate var isBrokenForGood: Bool {
        switch measure {
        case .least: !comparison.isUpper
        case .greatest, .range, .energy, .charge: comparison.isUpper
        default: false
        }
    }

    /// Whether means do for it.
    fileprivate var needsSingleReadings: Bool {
        switch measure {
        case .mean, .energy, .charge, .duration, .count: false
        default: true
        }
    }

    fileprivate var isOfExtremes: Bool {
        switch measure {
        case .least, .greatest, .range: true
        default: false
        }
    }
}

extension MeasuredStretch.Track {
    /// Value times seconds by the trapezoid rule, and the seconds; nil without two readings in a row.
    fileprivate var integral: (sum: Double, seconds: Double)? {
        var (sum, seconds) = (0.0, 0.0)
        for (index, step) in steps.enumerated() {
            guard let step else { continue }
            let time = Double(step) / 1000
            sum += (values[index] + values[index + 1]) / 2 * time
            seconds += time
        }
        return seconds > 0 ? (sum, seconds) : nil
    }

    /// How many readings must be there so that one of them lies beyond the percentile.
    fileprivate static func readingsMin(for part: Double) -> Int {
        Int(min(1e9, (100 / min(part, 100 - part) - 1e-6).rounded(.up)))
    }

    /// Between two readings on a straight line, as most programs compute it (method 7 of Hyndman and Fan 1996).
    fileprivate func percentile(_ part: Double) -> Double? {
        guard values.count >= Self.readingsMin(for: part) else { return nil }
        let sorted = values.sorted()
        let place = part / 100 * Double(sorted.count - 1)
        let (low, high) = (Int(place.rounded(.down)), min(sorted.count - 1, Int(place.rounded(.up))))
        return sorted[low] + (sorted[high] - sorted[low]) * (place - Double(low))
    }

    fileprivate var deviation: Double? {
        guard values.count >= 2 else { return nil }
        let mean = values.reduce(0, +) / Double(values.count)
        return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)).squareRoot()
    }

    /// A value holds until the next one. In per cent.
    fileprivate func share(_ holds: (Double) -> Bool) -> Double? {
        var (on, all) = (Int64(0), Int64(0))
        for (index, step) in steps.enumerated() {
            guard let step else { continue }
            all += step
            if holds(values[index]) { on += step }
        }
        return all > 0 ? Double(on) / Double(all) * 100 : nil
    }
}
