package import Domain
package import MeterCodec

/// A simulated Atorch meter of any of the three types (Docs/Protocols/Atorch.md). Sends a report every second and
/// replies to commands.
package struct SimulatedAtorch: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    private let type: AtorchReportType
    private let load: ElectricalLoad
    private let period: Duration
    private let quirks: Quirks
    private var isSilent: Bool
    private var counter = EnergyCounter()
    private var countedSteps = 0
    private var price: UInt32 = 100
    private var backlight: UInt8 = 60
    private var lastStep = 0
    private var reports = 0

    package struct Quirks: Hashable, Sendable {
        package var check = Check.rule(.fromMessage)
        /// Whether replies contain the meter's own type, as on a J7-H.
        var repliesWithItsType = false
        /// Commands that this meter refuses, unlike others of its type.
        package var refused: Set<AtorchCommand.Code> = []
        /// Byte before a USB meter's check byte: on a J7-H, the power factor in hundredths.
        package var powerFactorByte: UInt8 = 0
        /// Whether the meter sends nothing until a command arrives, as a J7-C sometimes does.
        package var isSilentUntilCommand = false
        /// Lengths of a report's Bluetooth notifications, for example 20 and 16 bytes. The last contains the remainder.
        /// Empty to send a report whole.
        package var pieces: [Int] = []

        package init() {}

        private init(_ change: (inout Quirks) -> Void) {
            self.init()
            change(&self)
        }

        /// Way to compute the last byte of a report, the check byte (Docs/Protocols/Atorch.md#check-byte).
        package enum Check: Hashable, Sendable {
            case rule(AtorchCheck.Rule)
            case constant(UInt8)
            case arbitrary
        }

        /// Quirks of a J7-H (fawno/ATORCH-HiDANCE, docs/J7-H).
        package static let j7H = Quirks { quirks in
            quirks.repliesWithItsType = true
            quirks.refused = [.setup, .enter]
            quirks.powerFactorByte = 100
        }
        /// Quirks of a newer J7-C (dallanwagz/j7c_ha, tests/conftest.py).
        package static let newerJ7C = Quirks { $0.check = .rule(.fromType) }
        /// Quirks of a DT24TW (dandrej/usb-meters, ble/atorch.py); also of a CW20 (unverified).
        package static let constantCheck = Quirks { $0.check = .constant(0x23) }
        /// Quirks of a DL24M (flaviutamas.com, 2022, dl24m-reversing), an older J7-C, an S1 and an S1B.
        package static let noCheck = Quirks { $0.check = .arbitrary }
    }

    /// - Parameters:
    ///   - model: any other than the three Atorch models is treated as a USB meter.
    ///   - load: nil for the type's usual load.
    ///   - period: interval of reports; one second on a real meter.
    package init(
        model: ModelName, load: ElectricalLoad? = nil, period: Duration = .seconds(1), quirks: Quirks = Quirks(),
        seed: UInt64 = 1
    ) {
        type = AtorchReportType(model: model) ?? .usb
        self.model = type.model
        self.load = load ?? Self.usualLoad(of: model, seed: seed)
        self.period = max(period, .milliseconds(10))
        self.quirks = quirks
        isSilent = quirks.isSilentUntilCommand
    }

    static func usualLoad(of model: ModelName, seed: UInt64) -> ElectricalLoad {
        switch AtorchReportType(model: model) ?? .usb {
        case .ac: ElectricalLoad(supply: 230.4, startCurrent: 0.8, seed: seed)
        case .dc: ElectricalLoad(supply: 12.6, startCurrent: 4, seed: seed)
        case .usb: ElectricalLoad(seed: seed)
        }
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: AtorchCommand.length).compactMap { start in
            let command = Array(bytes[start..<min(start + AtorchCommand.length, bytes.count)])
            guard command.starts(with: [0xFF, 0x55, 0x11]), command.count == AtorchCommand.length else { return nil }
            if isSilent { advance(toStep: time.wholeSteps(of: period)) }
            isSilent = false
            let reply = obey(command)
            return AtorchReply(sender: quirks.repliesWithItsType ? type.rawValue : reply.sender, code: reply.code).bytes
        }
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        let last = time.wholeSteps(of: period)
        // Skip older reports: no host read them in time.
        if last - lastStep > 60 { advance(toStep: last - 60) }
        var written: [[UInt8]] = []
        while lastStep < last {
            advance(toStep: lastStep + 1)
            guard !isSilent else { continue }
            reports += 1
            guard let report = faults.apply(to: report(), number: reports, checkOffset: 35) else { continue }
            written += pieces(of: report)
        }
        return written
    }

    package var nextDue: Duration? { isSilent ? nil : period * (lastStep + 1) }

    /// Keeps counters and settings.
    package mutating func powerCycle() {
        lastStep = 0
        isSilent = quirks.isSilentUntilCommand
    }

    private var stepLength: Double { Double(period.nanoseconds) / 1e9 }

    private mutating func advance(toStep step: Int) {
        guard step > lastStep else { return }
        // Limit the steps, because more would block the simulator.
        for passed in max(lastStep, step - 7200)..<step {
            counter.add(load.state(step: passed, length: stepLength), seconds: stepLength)
        }
        countedSteps += step - lastStep
        lastStep = step
    }

    /// Replies "unsupported" to an unknown command or a wrong check byte.
    private mutating func obey(_ bytes: [UInt8]) -> AtorchReply {
        guard let command = AtorchCommand(bytes), command.type == type, !quirks.refused.contains(command.code) else {
            return AtorchReply(.unsupported)
        }
        switch command.code {
        case .clearEnergy: counter.energy_mWh = 0
        case .clearCharge: counter.charge_mAh = 0
        case .clearTime: countedSteps = 0
        case .clearAll:
            counter = EnergyCounter()
            countedSteps = 0
        case .backlight:
            guard command.value <= 60 else { return AtorchReply(.failed) }
            backlight = UInt8(clamping: command.value)
        case .price where type != .usb: price = command.value
        case .price: return AtorchReply(.unsupported)
        case .setup, .enter: break
        case .plus, .minus:
            if type != .ac { return AtorchReply(.unsupported) }
        case .plusUSB, .minusUSB:
            if type == .ac { return AtorchReply(.unsupported) }
        }
        return AtorchReply(.done)
    }

    private func pieces(of report: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = report[...]
        for length in quirks.pieces where !rest.isEmpty {
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return rest.isEmpty ? pieces : pieces + [Array(rest)]
    }

    private func report() -> [UInt8] {
        let state = load.state(step: lastStep, length: stepLength)
        var body: [UInt8] = [0x01, type.rawValue]
        switch type {
        case .ac: appendAC(state, to: &body)
        case .dc: appendDC(state, to: &body)
        case .usb: appendUSB(state, to: &body)
        }
        return [0xFF, 0x55] + body + [check(over: body)]
    }

    private func check(over body: [UInt8]) -> UInt8 {
        switch quirks.check {
        case .rule(.fromMessage): return AtorchCheck.byte(over: body)
        case .rule(.fromType): return AtorchCheck.byte(over: body.dropFirst())
        case .constant(let byte): return byte
        case .arbitrary:
            var noise = SplitMix64(seed: UInt64(reports))
            return UInt8(truncatingIfNeeded: noise.next())
        }
    }

    private func appendAC(_ state: ElectricalLoad.State, to body: inout [UInt8]) {
        body.appendU24BE(raw(state.voltage * 10))
        body.appendU24BE(raw(state.current * 1000))
        body.appendU24BE(raw(state.power * 0.95 * 10))
        body.appendBE(raw(counter.energy_mWh * 0.95 / 10_000))
        body.appendU24BE(price)
        body.appendBE(UInt16(500))
        body.appendBE(UInt16(950))
        body.appendBE(signed(state.temperature))
        appendTime(to: &body)
        body += [backlight, 0, 0, 0, 0]
    }

    private func appendDC(_ state: ElectricalLoad.State, to body: inout [UInt8]) {
        body.appendU24BE(raw(state.voltage * 10))
        body.appendU24BE(raw(state.current * 1000))
        body.appendU24BE(raw(counter.charge_mAh / 10))
        body.appendBE(raw(counter.energy_mWh / 10_000))
        body.appendU24BE(price)
        body += [0, 0, 0, 0]
        body.appendBE(signed(state.temperature))
        appendTime(to: &body)
        body += [backlight, 0, 0, 0, 0]
    }

    private func appendUSB(_ state: ElectricalLoad.State, to body: inout [UInt8]) {
        body.appendU24BE(raw(state.voltage * 100))
        body.appendU24BE(raw(state.current * 100))
        body.appendU24BE(raw(counter.charge_mAh))
        body.appendBE(raw(counter.energy_mWh / 10))
        body.appendBE(UInt16(clamping: raw(state.dataMinus * 100)))
        body.appendBE(UInt16(clamping: raw(state.dataPlus * 100)))
        body.appendBE(signed(state.temperature))
        appendTime(to: &body)
        body.append(backlight)
        body.appendBE(UInt16(3500))
        body.appendBE(UInt16(290))
        body.appendBE(UInt16(800))
        body.append(quirks.powerFactorByte)
    }

    private func appendTime(to body: inout [UInt8]) {
        let seconds = Int(Double(countedSteps) * stepLength)
        body.appendBE(UInt16(clamping: seconds / 3600))
        body += [UInt8(seconds / 60 % 60), UInt8(seconds % 60)]
    }

    /// Converts to a 16-bit word, in two's complement because a real meter's encoding of negative values is
    /// unpublished.
    private func signed(_ value: Double) -> UInt16 { UInt16(bitPattern: Int16(clamping: Int(value.rounded()))) }

    private func raw(_ value: Double) -> UInt32 { UInt32(clamping: Int(value.rounded(.toNearestOrAwayFromZero))) }
}
