package import Domain
package import MeterCodec

/// A simulated board that prints lines according to its description, by itself or on request (Docs/Meters/GENERIC.md).
///
/// After power-on or reset, its bootloader runs silently. The board then prints a greeting, as Arduino sketches do.
package struct SimulatedBoard: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    private let description: LineDescription
    private let load: ElectricalLoad
    private let period: Duration
    private let greeting: [UInt8]
    private var counter = EnergyCounter()
    private var lastStep = 0
    private var lines = 0
    private var hasGreeted = false

    /// Duration of the bootloader of an Arduino Uno or Nano, at least half a second (see `LineDescription.settle`).
    private static let bootTime = Duration.milliseconds(500)

    /// - Parameters:
    ///   - period: interval of lines; nil for the interval in the description.
    ///   - greeting: first line; nil for a comment, or for no line if the format has no comments.
    package init(
        model: ModelName, _ description: LineDescription, load: ElectricalLoad = ElectricalLoad(),
        period: Duration? = nil, greeting: [UInt8]? = nil
    ) {
        self.model = model
        self.description = description
        self.load = load
        self.period = max(period ?? description.interval, .milliseconds(1))
        let comment = description.comment
        self.greeting = greeting ?? (comment.isEmpty ? [] : comment + Array(" ready\r\n".utf8))
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        guard !description.request.isEmpty, bytes == description.request, time >= Self.bootTime else { return [] }
        advance(to: time.wholeSteps(of: period))
        return greet() + [line(state(at: time))].compactMap { $0 }
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        guard time >= Self.bootTime else { return [] }
        var written = greet()
        guard description.request.isEmpty else { return written }
        let last = time.wholeSteps(of: period)
        // Skip older lines: no host read them in time.
        if last - lastStep > 60 { advance(to: last - 60) }
        while lastStep < last {
            advance(to: lastStep + 1)
            guard period * lastStep > Self.bootTime else { continue }
            if let line = line(load.state(step: lastStep, length: stepLength)) { written.append(line) }
        }
        return written
    }

    package var nextDue: Duration? {
        guard hasGreeted else { return Self.bootTime }
        return description.request.isEmpty ? period * (lastStep + 1) : nil
    }

    /// Resets the counters, which are in volatile memory.
    package mutating func powerCycle() {
        counter = EnergyCounter()
        lastStep = 0
        hasGreeted = false
    }

    private var stepLength: Double { Double(period.nanoseconds) / 1e9 }

    private func state(at time: Duration) -> ElectricalLoad.State {
        load.state(step: time.wholeSteps(of: period), length: stepLength)
    }

    private mutating func advance(to step: Int) {
        // Limit the steps, because more would block the simulator.
        for passed in max(lastStep, step - 7200)..<max(lastStep, step) {
            counter.add(load.state(step: passed, length: stepLength), seconds: stepLength)
        }
        lastStep = max(lastStep, step)
    }

    private mutating func greet() -> [[UInt8]] {
        guard !hasGreeted else { return [] }
        hasGreeted = true
        return greeting.isEmpty ? [] : [greeting]
    }

    private mutating func line(_ state: ElectricalLoad.State) -> [UInt8]? {
        lines += 1
        var bytes: [UInt8] =
            switch description.format {
            case .pairs: pairs(state)
            case .columns: columns(state)
            case .json: object(state)
            }
        var checked = bytes.count - 1
        if let check = description.check {
            let value = bytes.withUnsafeBytes { check.value(over: $0) }
            let digits = String(value, radix: 16, uppercase: true)
            bytes += [UInt8(ascii: "*")]
            bytes +=
                [UInt8](repeating: UInt8(ascii: "0"), count: max(0, check.digits - digits.utf8.count))
                + Array(digits.utf8)
            checked = bytes.count - 1
        }
        return faults.apply(to: bytes + Array("\r\n".utf8), number: lines, checkOffset: checked)
    }

    private func pairs(_ state: ElectricalLoad.State) -> [UInt8] {
        Array(
            description.fields.map { $0.name + [description.assignment] + text(of: $0, state) }
                .joined(separator: [description.separator]))
    }

    private func columns(_ state: ElectricalLoad.State) -> [UInt8] {
        let texts = (0..<description.columns).map { column in
            description.fields.first { $0.column == column }.map { text(of: $0, state) } ?? Array("0".utf8)
        }
        return Array(texts.joined(separator: [description.separator]))
    }

    private func object(_ state: ElectricalLoad.State) -> [UInt8] {
        let members = description.fields.map { field in
            let value = text(of: field, state)
            let quote = field.unit.isEmpty ? [] : Array("\"".utf8)
            return Array("\"".utf8) + field.name + Array("\":".utf8) + quote + value + quote
        }
        return Array("{".utf8) + Array(members.joined(separator: [UInt8(ascii: ",")])) + Array("}".utf8)
    }

    private func text(of field: LineField, _ state: ElectricalLoad.State) -> [UInt8] {
        let number = (value(of: field.quantity, state) - field.offset) / field.factor
        return Array(number.text(decimals: 3).utf8) + (field.unit.isEmpty ? [] : [UInt8(ascii: " ")] + field.unit)
    }

    private func value(of quantity: Quantity, _ state: ElectricalLoad.State) -> Double {
        switch quantity {
        case .voltage: state.voltage
        case .current: state.current
        case .power: state.power
        case .energy: counter.energy_mWh / 1000
        case .charge: counter.charge_mAh
        case .temperature: state.temperature
        case .dataPlus: state.dataPlus
        case .dataMinus: state.dataMinus
        case .resistance: state.current > 0.0005 ? state.voltage / state.current : 0
        case .powerFactor, .ratio: 1
        case .frequency: 50
        case .duration: Double(lastStep) * stepLength
        case .cc1, .cc2, .supplyVoltage, .price, .countedEnergy, .countedCharge: 0
        }
    }
}
