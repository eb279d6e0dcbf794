/// Totals and distributions of any stored period, recorded or not. Add readings in time order, or the means and
/// extremes of compacted periods.
package struct StretchSummary: Sendable {
    private var machine: RecordingMachine
    private let rules: RecordingRules
    private let name: String?
    private var values: [Quantity: Values] = [:]
    private var last: Int64?
    /// Number of measurements, including those that stored means combine.
    package private(set) var readings = 0
    /// Longest period stored as a mean; zero for single readings only.
    package private(set) var resolution: Duration = .zero

    /// Maximum number of steps in which a mean is added. The rest of a longer period counts as a gap.
    private static let stepsMax: Int64 = 64

    private struct Values {
        var spread = ValueSpread()
        var integral = IntegratedValue()

        mutating func add(_ value: Double, step: Double?, stepMax: Double) {
            spread.add(value)
            integral.add(value, step: step, stepMax: stepMax)
        }
    }

    /// - Parameters:
    ///   - host: host that stored the readings.
    ///   - name: of the resulting recording.
    ///   - length: period of the means to add. Gaps shorter than twice this are not detected.
    package init(host: HostID, meter: MeterID, name: String? = nil, length: Duration = .zero) {
        self.name = name
        var rules = RecordingRules()
        rules.stepMax = max(rules.stepMax, length + length)
        self.rules = rules
        machine = RecordingMachine(host: host, meter: meter, rules: rules)
    }

    /// Converts a stored wall-clock time to the monotonic time that the recording machine requires.
    private static func moment(_ time: WallTime) -> MonotonicTime {
        .origin + .milliseconds(time.millisecondsSince1970)
    }

    package mutating func add(_ time: WallTime, _ reading: Reading) {
        let (step, stepMax) = (step(to: time), rules.stepMax.seconds)
        reading.known.forEach { quantity in
            guard let value = reading[quantity] else { return }
            values[quantity, default: Values()].add(value, step: step, stepMax: stepMax)
        }
        readings += 1
        advance(to: time, reading)
    }

    /// - Parameters:
    ///   - length: milliseconds from `time`, above 0.
    ///   - count: number of measurements; nil if unknown.
    package mutating func add(
        _ time: WallTime, length: Int64, means: Reading, minima: Reading, maxima: Reading, count: Int?
    ) {
        resolution = max(resolution, .milliseconds(length))
        // The mean applies to the whole period, so add it in steps too short to be gaps.
        let stepMax = rules.stepMax.milliseconds
        let steps = min(length / max(1, stepMax), Self.stepsMax) + 1
        for number in 0...steps {
            let offset = number == steps ? max(0, length - 1) : number * stepMax
            let moment = WallTime(millisecondsSince1970: time.millisecondsSince1970.addingClamped(offset))
            let step = step(to: moment)
            means.known.forEach { quantity in
                guard let mean = means[quantity] else { return }
                values[quantity, default: Values()].integral.add(mean, step: step, stepMax: rules.stepMax.seconds)
                guard number == 0 else { return }
                let (low, high) = (minima[quantity] ?? mean, maxima[quantity] ?? mean)
                values[quantity, default: Values()].spread.add(
                    mean, count: Double(max(1, count ?? 1)), extremes: min(low, mean)...max(high, mean))
            }
            advance(to: moment, means)
        }
        readings = readings.addingClamped(max(1, count ?? 1))
    }

    private func step(to time: WallTime) -> Double? {
        last.map { Double(time.millisecondsSince1970.subtractingClamped($0)) / 1000 }
    }

    private mutating func advance(to time: WallTime, _ reading: Reading) {
        if last == nil { _ = machine.start(name: name, at: time, Self.moment(time)) }
        last = time.millisecondsSince1970
        _ = machine.received(TimedReading(wallTime: time, time: Self.moment(time), reading: reading))
    }

    package var spreads: [Quantity: QuantitySpread] {
        values.compactMapValues { values in
            guard let least = values.spread.least, let greatest = values.spread.greatest else { return nil }
            let parts = values.spread.quantiles([0.05, 0.5, 0.95])
            let mean = min(max(values.integral.mean ?? parts[1], least), greatest)
            return QuantitySpread(
                least: least, greatest: greatest, mean: mean, p5: parts[0], p50: parts[1], p95: parts[2])
        }
    }

    /// Energy up to the last reading, whose `time` is in milliseconds since 1970; `seconds` is the integrated duration.
    /// Nil if nothing was measured.
    package var energy: (time: Int64, wattHours: Double, seconds: Double)? {
        guard let last, let power = machine.recording?.totals.power else { return nil }
        return (last, power.integral / 3600, power.seconds)
    }

    /// Returns a recording from the first to the last reading; nil if nothing was measured.
    package func recording() -> Recording? {
        guard let last else { return nil }
        var machine = machine
        let end = WallTime(millisecondsSince1970: last)
        guard case .ended(var recording) = machine.stop(at: end, Self.moment(end)) else { return nil }
        recording.totals.readings = readings
        let tracks: [(Quantity, WritableKeyPath<RecordingTotals, IntegratedValue>)] = [
            (.voltage, \.voltage), (.current, \.current), (.power, \.power), (.temperature, \.temperature),
        ]
        for (quantity, track) in tracks {
            guard let spread = values[quantity]?.spread, let least = spread.least, let greatest = spread.greatest
            else { continue }
            let sum = recording.totals[keyPath: track]
            // Restoring rounds the last digits, so do it only if the extremes change.
            guard let low = sum.least, let high = sum.greatest, least < low || greatest > high else { continue }
            recording.totals[keyPath: track] = IntegratedValue(
                least: min(low, least), greatest: max(high, greatest), mean: sum.mean, seconds: sum.seconds)
        }
        return recording
    }
}
