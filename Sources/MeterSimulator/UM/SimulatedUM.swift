package import Domain
import MeterCodec

/// A simulated UM24C, UM25C, UM34C or A3-B (Docs/Protocols/UM.md). Updates its values twice a second, answers F0 with a
/// block of values, and executes other commands without an answer. Loses a command within half a second of another. An
/// A3-B delays its first answer over Bluetooth Classic, and ignores input until then.
package struct SimulatedUM: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    private let load: ElectricalLoad
    private let refresh: Duration
    /// Whether the meter expects each command byte in an Atorch frame.
    private let isWrapped: Bool
    private let firstDelay: Duration
    /// Time at which the delayed first answer is due; nil if it is not pending.
    private var firstDue: Duration?
    private var hasAnswered = false
    /// Shortest interval between commands. Of two closer commands, a real meter loses the second.
    package static let commandGap = Duration.milliseconds(500)
    private let commandGap: Duration
    private var groups = [EnergyCounter](repeating: EnergyCounter(), count: 10)
    private var selectedGroup = 0
    private var recorder = EnergyCounter()
    private var recorderSeconds = 0.0
    private var threshold_10mA = 10
    private var screenTimeout = 2
    private var brightness = 4
    private var screen = 0
    private var lastCommand: Duration?
    private var lastStep = 0
    private var answers = 0

    /// - Parameters:
    ///   - transport: kind of link; an A3-B expects other bytes over LE.
    ///   - refresh: interval of updates, 1 ms or more; half a second on a real meter.
    ///   - commandGap: shortest interval between commands.
    package init(
        model: ModelName, over transport: LinkAddress.Transport = .spp, load: ElectricalLoad = ElectricalLoad(),
        refresh: Duration = .milliseconds(500), commandGap: Duration = SimulatedUM.commandGap
    ) {
        isWrapped = model == .a3b && transport == .ble
        // Delay of a real A3-B's first answer (dernasherbrezon.github.io).
        firstDelay = model == .a3b && transport == .spp ? .milliseconds(4500) : .zero
        self.model = model
        self.load = load
        self.refresh = max(refresh, .milliseconds(1))
        self.commandGap = commandGap
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        advance(to: time)
        guard firstDue == nil else { return [] }
        // With Atorch frames, a command must be one write of exactly one frame; any other write is ignored.
        let orders = isWrapped ? [UMWrapping.byte(in: bytes)].compactMap { $0 } : bytes
        return orders.compactMap { byte in
            guard firstDue == nil else { return nil }
            if byte == 0xF0 {
                guard hasAnswered || firstDelay == .zero else {
                    firstDue = time + firstDelay
                    return nil
                }
                return answer()
            }
            obey(byte, at: time)
            return nil
        }
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        guard let firstDue, time >= firstDue else { return [] }
        self.firstDue = nil
        hasAnswered = true
        advance(to: time)
        return [answer()].compactMap { $0 }
    }

    package var nextDue: Duration? { firstDue }

    package mutating func powerCycle() {
        groups[0] = EnergyCounter()
        recorder = EnergyCounter()
        recorderSeconds = 0
        screen = 0
        lastCommand = nil
        lastStep = 0
        (firstDue, hasAnswered) = (nil, false)
    }

    private var word: ModelName { model == .a3b ? .um24c : model }

    private var stepLength: Double { Double(refresh.nanoseconds) / 1e9 }

    private mutating func advance(to time: Duration) {
        let step = max(lastStep, time.wholeSteps(of: refresh))
        // Simulate at most 7200 steps, an hour at the usual rate: more steps would block the simulator.
        for passed in max(lastStep, step - 7200)..<step {
            let state = load.state(step: passed, length: stepLength)
            groups[selectedGroup].add(state, seconds: stepLength)
            if state.current * 100 >= Double(threshold_10mA) {
                recorder.add(state, seconds: stepLength)
                recorderSeconds += stepLength
            }
        }
        lastStep = step
    }

    private mutating func obey(_ command: UInt8, at time: Duration) {
        if let lastCommand, time - lastCommand < commandGap { return }
        lastCommand = time
        switch command {
        case 0xF1: screen = (screen + 1) % 6
        case 0xF3 where word == .um24c: selectedGroup = (selectedGroup + 1) % 10
        case 0xF3: screen = (screen + 5) % 6
        case 0xF4: groups[selectedGroup] = EnergyCounter()
        case 0xA0...0xA9 where word != .um24c: selectedGroup = Int(command - 0xA0)
        case 0xB0...0xCE: threshold_10mA = Int(command - 0xB0)
        case 0xD0...0xD5: brightness = Int(command - 0xD0)
        case 0xE0...0xE9: screenTimeout = Int(command - 0xE0)
        default: break
        }
    }

    private mutating func answer() -> [UInt8]? {
        answers += 1
        return faults.apply(to: block(), number: answers, checkOffset: 129)
    }

    private func block() -> [UInt8] {
        let state = load.state(step: lastStep, length: stepLength)
        let scales = UMScales.of(model)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(UMBlock.length)
        bytes.appendBE(UMScales.modelText.first { $0.model == word }?.word ?? 0)
        let voltage = UInt16(clamping: Int((state.voltage * scales.voltage).rounded()))
        let current = UInt16(clamping: Int((state.current * scales.current).rounded()))
        bytes.appendBE(voltage)
        bytes.appendBE(current)
        // Power is the product of the displayed values, rounded down, as in every unedited public capture
        // (Docs/Protocols/UM.md#block).
        bytes.appendBE(UInt32(voltage) * UInt32(current) / UInt32(scales.voltage * scales.current / 1000))
        // Assume two's complement for negative values: a real meter's encoding is unpublished.
        for degrees in [state.temperature, state.temperature * 1.8 + 32] {
            bytes.appendBE(UInt16(bitPattern: Int16(clamping: Int(degrees.rounded()))))
        }
        bytes.appendBE(UInt16(clamping: selectedGroup))
        for group in groups {
            // A real meter's charge counter also stops at 99,999 mAh.
            bytes.appendBE(min(99_999, UInt32(clamping: Int(group.charge_mAh))))
            bytes.appendBE(UInt32(clamping: Int(group.energy_mWh)))
        }
        bytes.appendBE(UInt16(clamping: Int((state.dataPlus * 100).rounded())))
        bytes.appendBE(UInt16(clamping: Int((state.dataMinus * 100).rounded())))
        bytes.appendBE(UInt16(3))
        bytes.appendBE(min(99_999, UInt32(clamping: Int(recorder.charge_mAh))))
        bytes.appendBE(UInt32(clamping: Int(recorder.energy_mWh)))
        bytes.appendBE(UInt16(clamping: threshold_10mA))
        bytes.appendBE(UInt32(clamping: Int(recorderSeconds)))
        bytes.appendBE(UInt16(state.current * 100 >= Double(threshold_10mA) ? 1 : 0))
        bytes.appendBE(UInt16(clamping: screenTimeout))
        bytes.appendBE(UInt16(clamping: brightness))
        bytes.appendBE(resistance(voltage, current, scales))
        bytes.appendBE(UInt16(clamping: screen))
        switch scales.trailer {
        case .constant(let first, let second): bytes += [first, second]
        case .xor: bytes += [0x80, bytes.withUnsafeBytes(UMScales.xorCheck)]
        }
        return bytes
    }

    /// Returns the resistance in tenths of an ohm; 9999.9 Ω for an open circuit.
    private func resistance(_ voltage: UInt16, _ current: UInt16, _ scales: UMScales) -> UInt32 {
        guard current > 0 else { return 99_999 }
        return min(99_999, UInt32(voltage) * UInt32(scales.current * 10 / scales.voltage) / UInt32(current))
    }
}
