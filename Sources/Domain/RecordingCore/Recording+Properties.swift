/// A recording's properties, for the store and other hosts. The type of a property never changes. Unknown properties
/// are ignored, and missing ones are unknown values.
extension Recording {
    package var properties: [String: SettingValue] {
        var properties: [String: SettingValue] = [
            "trigger": .string(trigger.rawValue), "until_ms": .int(until.millisecondsSince1970),
            "readings": .int(Int64(totals.readings)), "recorded_ms": .int(totals.recorded.milliseconds),
            "gap_count": .int(Int64(totals.gapCount)), "gap_ms": .int(totals.gapTime.milliseconds),
            "gaps": .string(totals.gaps.map(\.text).joined(separator: " ")), "restarts": .int(Int64(totals.restarts)),
        ]
        properties["name"] = name.map { .string($0) }
        properties["note"] = note.map { .string($0) }
        properties.merge(test?.properties ?? [:]) { _, new in new }
        properties["source"] = source.map { .string($0) }
        properties["told_start"] = toldAtStart.map { .string($0.text) }
        properties["told_end"] = toldAtEnd.map { .string($0.text) }
        properties["end"] = end.map { .string($0.rawValue) }
        func put(_ key: String, _ value: Double?) {
            if let value, value.isFinite { properties[key] = .double(value) }
        }
        for (quantity, track) in Self.tracks {
            let value = totals[keyPath: track]
            put("\(quantity.key)_min", value.least)
            put("\(quantity.key)_max", value.greatest)
            put("\(quantity.key)_mean", value.mean)
            put("\(quantity.key)_seconds", value.seconds)
        }
        put("charge_mAh", totals.charge_mAh)
        put("energy_Wh", totals.energy_Wh)
        for (quantity, track) in Self.counters {
            let counter = totals[keyPath: track]
            put("meter_\(quantity.key)", counter.total)
            put("counter_\(quantity.key)", counter.last)
            properties["counter_\(quantity.key)_resets"] = .int(Int64(counter.resets))
            properties["counter_\(quantity.key)_jumps"] = .int(Int64(counter.jumps))
        }
        return properties
    }

    /// Nil if this version does not support the trigger.
    package init?(id: RecordingID, properties: [String: SettingValue]) {
        let fields = Fields(properties)
        guard let trigger = fields.text("trigger").flatMap({ Trigger(rawValue: $0) }) else { return nil }
        self.init(
            id: id, name: fields.text("name"), trigger: trigger,
            // An unknown cause of the end, from a newer version, becomes `hand`: the recording has ended anyway.
            end: fields.text("end").map { End(rawValue: $0) ?? .hand },
            until: fields.int("until_ms").map { WallTime(millisecondsSince1970: $0) })
        note = fields.text("note")
        test = BatteryTest(fields)
        source = fields.text("source")
        toldAtStart = fields.text("told_start").map { TelemetryBody(text: $0) }
        toldAtEnd = fields.text("told_end").map { TelemetryBody(text: $0) }
        totals.readings = fields.count("readings")
        totals.recorded = .milliseconds(max(0, fields.int("recorded_ms") ?? 0))
        totals.restarts = fields.count("restarts")
        let gaps = (fields.text("gaps") ?? "").split(separator: " ").prefix(RecordingTotals.gapsMax)
        totals.restore(
            gaps: gaps.compactMap { RecordingGap(text: $0) }, count: fields.count("gap_count"),
            time: .milliseconds(fields.int("gap_ms") ?? 0))
        for (quantity, track) in Self.tracks {
            totals[keyPath: track] = IntegratedValue(
                least: fields.double("\(quantity.key)_min"), greatest: fields.double("\(quantity.key)_max"),
                mean: fields.double("\(quantity.key)_mean"), seconds: fields.double("\(quantity.key)_seconds") ?? 0)
        }
        for (quantity, track) in Self.counters {
            totals[keyPath: track].restore(
                total: fields.double("meter_\(quantity.key)"), last: fields.double("counter_\(quantity.key)"),
                resets: fields.count("counter_\(quantity.key)_resets"),
                jumps: fields.count("counter_\(quantity.key)_jumps"))
        }
    }

    /// Computed, because key paths cannot be shared between threads.
    private static var tracks: [(Quantity, WritableKeyPath<RecordingTotals, IntegratedValue>)] {
        [(.voltage, \.voltage), (.current, \.current), (.power, \.power), (.temperature, \.temperature)]
    }

    private static var counters: [(Quantity, WritableKeyPath<RecordingTotals, CounterTrack>)] {
        [(.charge, \.charge), (.energy, \.energy)]
    }
}

extension BatteryTest {
    fileprivate var properties: [String: SettingValue] {
        var properties: [String: SettingValue] = [
            "test_until": .string(until.text), "test_waiting": .bool(isWaiting), "test_armed": .bool(isArmed),
        ]
        properties["test_start_above"] = startAbove.map { .double($0) }
        properties["test_value"] = value.map { .double($0) }
        properties.merge(load?.properties ?? [:]) { _, new in new }
        if !notify.isEmpty { properties["test_notify"] = .string(notify.joined(separator: ",")) }
        return properties
    }

    /// - Parameter fields: a recording's properties.
    /// - Returns: nil for a recording that is no battery test, and for a cut-off that only a newer version can parse.
    fileprivate init?(_ fields: Fields) {
        guard let until = fields.text("test_until"),
            var test = try? BatteryTest(
                until: until, startAbove: fields.double("test_start_above"),
                notify: (fields.text("test_notify") ?? "").split(separator: ",").map(String.init), isStored: true)
        else { return nil }
        test.isWaiting = fields.flag("test_waiting")
        test.isArmed = fields.flag("test_armed")
        test.value = fields.double("test_value")
        test.load = LoadSnapshot(fields)
        self = test
    }
}

extension LoadSnapshot {
    fileprivate var properties: [String: SettingValue] {
        var properties: [String: SettingValue] = [
            "load_mA": .int(Int64(plan.current)), "load_cutoff_mV": .int(Int64(plan.cutoff)),
            "load_minutes": .int(Int64(plan.minutes)), "load_on_link_loss": .string(plan.onLinkLoss.rawValue),
            "load_phase": .string(phase.rawValue),
        ]
        // An empty text, because an omitted property would keep its last value.
        properties["load_problem"] = .string(problem ?? "")
        return properties
    }

    /// Nil for a test without a load. A newer version's phase becomes `away`, in which the load may draw.
    fileprivate init?(_ fields: Fields) {
        guard let current = fields.int("load_mA"), let cutoff = fields.int("load_cutoff_mV") else { return nil }
        let loss = fields.text("load_on_link_loss").flatMap { LoadPlan.OnLinkLoss(rawValue: $0) }
        let problem = fields.text("load_problem") ?? ""
        self.init(
            LoadPlan(
                current: Int(clamping: current), cutoff: Int(clamping: cutoff), minutes: fields.count("load_minutes"),
                onLinkLoss: loss ?? .keep),
            phase: fields.text("load_phase").flatMap { LoadDrive.Phase(rawValue: $0) } ?? .away,
            problem: problem.isEmpty ? nil : problem)
    }
}

/// Properties by name. One of the wrong type counts as missing.
private struct Fields {
    private let properties: [String: SettingValue]

    init(_ properties: [String: SettingValue]) { self.properties = properties }

    func text(_ key: String) -> String? {
        guard case .string(let text)? = properties[key] else { return nil }
        return text
    }

    func flag(_ key: String) -> Bool {
        guard case .bool(true)? = properties[key] else { return false }
        return true
    }

    func int(_ key: String) -> Int64? {
        guard case .int(let number)? = properties[key] else { return nil }
        return number
    }

    /// Returns a count, clamped so that sums do not overflow.
    func count(_ key: String) -> Int { Int(clamping: min(max(0, int(key) ?? 0), 1 << 48)) }

    func double(_ key: String) -> Double? {
        switch properties[key] {
        case .double(let number)? where number.isFinite: number
        case .int(let number)?: Double(number)
        default: nil
        }
    }
}

extension RecordingGap {
    /// `start+length:cause`, in milliseconds.
    var text: String { "\(start.millisecondsSince1970)+\(length.milliseconds):\(cause.rawValue)" }

    init?(text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let cause = Cause(rawValue: String(parts[1])) else { return nil }
        // The last `+`, because the start may have a sign.
        guard let plus = parts[0].lastIndex(of: "+"), let start = Int64(parts[0][..<plus]),
            let length = Int64(parts[0][parts[0].index(after: plus)...]), length >= 0
        else { return nil }
        self.init(
            start: WallTime(millisecondsSince1970: start), length: .milliseconds(length), cause: cause)
    }
}
