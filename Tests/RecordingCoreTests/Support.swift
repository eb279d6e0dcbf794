import Domain

extension HostID {
    static let here = HostID(high: 0x1111_1111_1111_4111, low: 0x8111_1111_1111_1111)
    static let there = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)
}

extension MeterID {
    static let bench = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))
}

extension WallTime {
    static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)
}

extension TimedReading {
    /// So many seconds after the start, by both clocks.
    static func at(
        _ seconds: Double, _ current: Double?, volts: Double? = 5, charge: Double? = nil, energy: Double? = nil
    ) -> TimedReading {
        var reading = Reading()
        if let volts { reading[.voltage] = volts }
        if let current { reading[.current] = current }
        if let charge { reading[.charge] = charge }
        if let energy { reading[.energy] = energy }
        let offset = Duration.milliseconds(Int64((seconds * 1000).rounded()))
        return TimedReading(wallTime: .start + offset, time: .origin + offset, reading: reading)
    }
}

extension RecordingMachine {
    init(_ rules: RecordingRules = RecordingRules()) { self.init(host: .here, meter: .bench, rules: rules) }

    /// Begins by hand at so many seconds after the start.
    @discardableResult
    mutating func start(at seconds: Double, name: String? = nil) -> Outcome {
        let reading = TimedReading.at(seconds, nil)
        return start(name: name, at: reading.wallTime, reading.time)
    }

    @discardableResult
    mutating func stop(at seconds: Double) -> Outcome {
        let reading = TimedReading.at(seconds, nil)
        return stop(at: reading.wallTime, reading.time)
    }

    mutating func woke(at seconds: Double) -> Outcome {
        let reading = TimedReading.at(seconds, nil)
        return woke(at: reading.wallTime, reading.time)
    }

    /// Takes readings in, one a second from `first` to `last`.
    @discardableResult
    mutating func receive(_ first: Int, through last: Int, amperes: Double) -> [Outcome] {
        (first...last).map { received(.at(Double($0), amperes)) }.filter { $0 != .none }
    }
}

extension RecordingMachine.Outcome {
    var ended: Recording? {
        guard case .ended(let recording) = self else { return nil }
        return recording
    }

    var started: Recording? {
        guard case .started(let recording) = self else { return nil }
        return recording
    }
}
