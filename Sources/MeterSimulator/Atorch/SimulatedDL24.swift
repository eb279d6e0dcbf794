package import Domain
import MeterCodec

/// A simulated electronic load with a battery (Docs/Protocols/Atorch.md#loads-the-px100-queries). Draws the set
/// current, switches itself off at its cut-off voltage or after its timer, sends a report every second and answers
/// queries.
///
/// Like real loads, it loses some answers, mostly those that collide with a report (KrystianD/dl24-electronic-load,
/// issue 1).
package struct SimulatedDL24: SimulatedMeter {
    package let model = ModelName.dl24
    package var faults = SimulatorFaults.none
    private let battery: Battery
    private let period: Duration
    private let quirks: Quirks
    private var rng: SplitMix64
    private var input: [UInt8] = []
    private var answers: [(time: Duration, bytes: [UInt8])] = []

    private var isOn: Bool
    /// Set current in hundredths of an ampere. `cutoff` is in hundredths of a volt; `timer` is in seconds and always a
    /// multiple of 60.
    private var setCurrent: UInt16 = 100
    private var cutoff: UInt16 = 280
    private var timer = 0
    private var onSeconds = 0.0
    /// Charge and energy drawn from the battery. A command can reset `counter`, but not these.
    private var drawn = EnergyCounter()
    private var counter = EnergyCounter()
    private var countedSeconds = 0.0
    private var price: UInt32 = 100
    private var backlight: UInt8 = 60
    private var lastStep = 0
    private var messages = 0
    private var ignored = 0

    package struct Quirks: Hashable, Sendable {
        /// False on one known load (KrystianD/dl24-electronic-load, issue 3).
        package var answersQueries = true
        package var sendsReports = true
        /// n if the load loses one in n answers; 0 to lose none.
        package var losesOneIn = 100
        /// Whether every other answer that collides with a report is lost.
        package var losesCollisions = true
        package var startsOn = false
        /// Number of commands (`PX100Order`), from the first one on, that the load confirms but does not execute.
        package var ignoresOrders = 0
        /// Maximum delay of answers in milliseconds, in addition to the usual 30 to 100 ms.
        package var lag = 0

        package init() {}
    }

    package struct Battery: Hashable, Sendable {
        package var capacity_mAh: Double
        /// Open-circuit voltage of the full battery, in volts.
        package var voltage: Double
        /// Resistance in ohms, including the leads.
        package var resistance: Double

        package init(capacity_mAh: Double = 2500, voltage: Double = 4.15, resistance: Double = 0.08) {
            self.capacity_mAh = max(0.001, capacity_mAh)
            self.voltage = voltage
            self.resistance = resistance
        }

        /// Returns the open-circuit voltage, which falls roughly like a lithium cell's, to 0.6 of the full voltage.
        func openVoltage(drawn_mAh: Double) -> Double {
            let left = max(0, 1 - drawn_mAh / capacity_mAh)
            return voltage * (left > 0.1 ? 0.87 + 0.13 * left : 0.6 + 2.83 * left)
        }
    }

    /// - Parameter period: interval of reports and updates; one second on a real load.
    package init(
        battery: Battery = Battery(), period: Duration = .seconds(1), quirks: Quirks = Quirks(), seed: UInt64 = 1
    ) {
        self.battery = battery
        self.period = max(period, .milliseconds(10))
        self.quirks = quirks
        isOn = quirks.startsOn
        rng = SplitMix64(seed: seed)
    }

    // MARK: Time

    package mutating func due(at time: Duration) -> [[UInt8]] {
        let last = time.wholeSteps(of: period)
        // Skip older reports: no host read them in time.
        if last - lastStep > 60 { advance(toStep: last - 60) }
        var written: [[UInt8]] = []
        while lastStep < last {
            written += takeAnswers(before: period * (lastStep + 1))
            advance(toStep: lastStep + 1)
            if quirks.sendsReports, let report = spoilt(report(), checkOffset: 35) { written.append(report) }
        }
        return written + takeAnswers(before: time + .nanoseconds(1))
    }

    package var nextDue: Duration? {
        let report = period * (lastStep + 1)
        return answers.first.map { min($0.time, report) } ?? report
    }

    /// Keeps settings and counters, and switches the load off.
    package mutating func powerCycle() {
        lastStep = 0
        isOn = false
        answers = []
        input = []
    }

    private mutating func advance(toStep step: Int) {
        let seconds = Double(period.nanoseconds) / 1e9
        // Limit the steps, because more would block the simulator.
        for _ in max(lastStep, step - 36_000)..<max(lastStep, step) where isOn {
            onSeconds += seconds
            let state = state
            counter.add(state, seconds: seconds)
            drawn.add(state, seconds: seconds)
            countedSeconds += seconds
            let isOver = timer > 0 && onSeconds >= Double(timer)
            if isOver || state.voltage * 100 < Double(cutoff) || state.voltage <= 0 { isOn = false }
        }
        lastStep = max(lastStep, step)
    }

    private var state: ElectricalLoad.State {
        let open = battery.openVoltage(drawn_mAh: drawn.charge_mAh)
        let current = isOn ? min(Double(setCurrent) / 100, open / battery.resistance) : 0
        return ElectricalLoad.State(
            voltage: max(0, open - battery.resistance * current), current: current, temperature: 24 + 6 * current,
            dataPlus: 0, dataMinus: 0)
    }

    // MARK: What the host says

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        input += bytes
        while let length = handle(at: time) { input.removeFirst(length) }
        return []
    }

    /// Processes the first message. Returns its number of bytes; nil if incomplete.
    private mutating func handle(at time: Duration) -> Int? {
        guard let first = input.first else { return nil }
        switch (first, input.count) {
        case (PX100.requestStart.0, PX100.requestLength...)
        where input[1] == PX100.requestStart.1 && input[5] == PX100.requestEnd:
            if quirks.answersQueries { answer(input[2], input[3], input[4], at: time) }
            return PX100.requestLength
        case (0xFF, AtorchCommand.length...) where input[1] == 0x55 && input[2] == 0x11:
            put(obey(Array(input.prefix(AtorchCommand.length))).bytes, at: time)
            return AtorchCommand.length
        case (PX100.requestStart.0, ..<PX100.requestLength), (0xFF, ..<AtorchCommand.length): return nil
        default: return 1
        }
    }

    private mutating func answer(_ code: UInt8, _ high: UInt8, _ low: UInt8, at time: Duration) {
        if let order = PX100Order(code: code, high, low) {
            if ignored < quirks.ignoresOrders { ignored += 1 } else { obey(order) }
            return put([PX100.done], at: time)
        }
        guard let query = PX100Query(rawValue: code) else { return }
        var answer = [PX100.answerStart.0, PX100.answerStart.1]
        answer.appendU24BE(value(of: query))
        put(answer + [PX100.answerEnd.0, PX100.answerEnd.1], at: time)
    }

    private mutating func obey(_ order: PX100Order) {
        switch order {
        case .isOn(let isOn): turn(isOn)
        case .current(let value): setCurrent = value
        case .cutoff(let value): cutoff = value
        case .timer(let seconds): timer = Int(seconds) / 60 * 60
        case .resetCounters: resetCounters()
        }
    }

    private mutating func turn(_ isOn: Bool) {
        if isOn, !self.isOn { onSeconds = 0 }
        self.isOn = isOn
    }

    private mutating func resetCounters() {
        counter = EnergyCounter()
        countedSeconds = 0
    }

    /// Executes a command of the report protocol. The reply contains type 1, as on a DL24P (tshaddack/dl24).
    private mutating func obey(_ bytes: [UInt8]) -> AtorchReply {
        guard let command = AtorchCommand(bytes) else { return AtorchReply(.unsupported) }
        switch command.code {
        case .enter: turn(!isOn)
        case .clearEnergy: counter.energy_mWh = 0
        case .clearCharge: counter.charge_mAh = 0
        case .clearTime: countedSeconds = 0
        case .clearAll: resetCounters()
        case .backlight: backlight = UInt8(clamping: min(command.value, 60))
        case .price: price = command.value
        case .plusUSB: setCurrent = min(setCurrent + 1, PX100Order.hundredthsMax)
        case .minusUSB: setCurrent = setCurrent == 0 ? 0 : setCurrent - 1
        case .setup: break
        // A real DL24M does not even reply to these (syssi/esphome-atorch-dl24, issue 76).
        case .plus, .minus: return AtorchReply(.unsupported)
        }
        return AtorchReply(.done)
    }

    // MARK: What it says

    private func value(of query: PX100Query) -> UInt32 {
        switch query {
        case .isOn: isOn ? 1 : 0
        case .voltage: floor(state.voltage * 1000)
        case .current: floor(state.current * 1000)
        case .time: PX100.time(floor(countedSeconds))
        case .charge: floor(counter.charge_mAh)
        case .energy: floor(counter.energy_mWh)
        case .temperature: floor(state.temperature)
        case .setCurrent: UInt32(setCurrent)
        case .cutoff: UInt32(cutoff)
        case .timer: PX100.time(UInt32(clamping: timer))
        }
    }

    private mutating func put(_ bytes: [UInt8], at time: Duration) {
        let isAnswer = bytes[0] == PX100.answerStart.0
        if isAnswer, quirks.losesOneIn > 0, rng.next() % UInt64(quirks.losesOneIn) == 0 { return }
        let delay = 30 + Int(rng.next() % 71) + (quirks.lag > 0 ? Int(rng.next() % UInt64(quirks.lag)) : 0)
        var due = max(time + .milliseconds(delay), answers.last?.time ?? .zero)
        let sinceReport = due.nanoseconds % period.nanoseconds
        // A report of 36 bytes occupies the line for 38 ms at 9600 baud.
        if quirks.sendsReports, sinceReport < Duration.milliseconds(38).nanoseconds {
            if isAnswer, quirks.losesCollisions, rng.next() % 2 == 0 { return }
            due += .milliseconds(38) - .nanoseconds(sinceReport)
        }
        guard let sent = spoilt(bytes, checkOffset: bytes.count - 1) else { return }
        answers.append((due, sent))
    }

    private mutating func spoilt(_ message: [UInt8], checkOffset: Int) -> [UInt8]? {
        messages += 1
        return faults.apply(to: message, number: messages, checkOffset: checkOffset)
    }

    private mutating func takeAnswers(before time: Duration) -> [[UInt8]] {
        let taken = answers.prefix { $0.time < time }.map(\.bytes)
        answers.removeFirst(taken.count)
        return taken
    }

    /// Returns a report. Its values are coarser than those of answers, and rounded down
    /// (KrystianD/dl24-electronic-load, issue 1).
    private func report() -> [UInt8] {
        let state = state
        var body: [UInt8] = [0x01, AtorchReportType.dc.rawValue]
        body.appendU24BE(floor(state.voltage * 10))
        body.appendU24BE(floor(state.current * 1000))
        body.appendU24BE(floor(counter.charge_mAh / 10))
        body.appendBE(floor(counter.energy_mWh / 10_000))
        body.appendU24BE(price)
        body += [0, 0, 0, 0]
        body.appendBE(UInt16(clamping: floor(state.temperature)))
        let seconds = floor(countedSeconds)
        body.appendBE(UInt16(clamping: seconds / 3600))
        body += [UInt8(seconds / 60 % 60), UInt8(seconds % 60), backlight, 0, 0, 0, 0]
        return [0xFF, 0x55] + body + [AtorchCheck.byte(over: body)]
    }

    private func floor(_ value: Double) -> UInt32 {
        // The addend ensures that 1.1 A becomes 1100 mA despite rounding errors.
        UInt32(clamping: Int((value + 1e-9).rounded(.down)))
    }
}
