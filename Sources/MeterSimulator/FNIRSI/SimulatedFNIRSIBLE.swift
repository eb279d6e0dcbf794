package import Domain
import MeterCodec

/// A simulated FNB48, FNB48S, FNB58 or C1 over Bluetooth LE (Docs/Protocols/FNIRSI.md#bluetooth-le). After `start` it
/// sends volts and amperes ten times a second and the other values twice a second. Notifications may split frames at
/// any byte.
package struct SimulatedFNIRSIBLE: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    package private(set) var bootCount = 1
    private let load: ElectricalLoad
    private let serial: UInt32
    private let notificationMax: Int
    private var isStreaming = false
    private var totals = EnergyCounter()
    private var recordTicks = 0
    private var ticks = 0
    private var notifications = 0

    /// Interval of measurements and step of the simulated load, in seconds.
    private static let tickSeconds = 0.1
    private static let group: UInt8 = 1

    /// - Parameters:
    ///   - serial: number at the end of a real meter's Bluetooth name.
    ///   - notificationMax: longest notification in bytes; 20 at the default MTU.
    package init(
        model: ModelName = .fnb58, load: ElectricalLoad = ElectricalLoad(), serial: UInt32 = 51772,
        notificationMax: Int = 20
    ) {
        self.model = model
        self.load = load
        self.serial = serial
        self.notificationMax = max(1, notificationMax)
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        advance(to: time)
        switch FNIRSIBLECommand.allCases.first(where: { $0.bytes == bytes }) {
        case .info: return [info()]
        case .start: isStreaming = true
        case .stop: isStreaming = false
        case .status, nil: break
        }
        return []
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        var written: [[UInt8]] = []
        let last = Int(time.milliseconds / 100)
        // Skip older frames: no host read them in time.
        if last - ticks > 10 { advance(to: .milliseconds(100 * (last - 10))) }
        while ticks < last {
            advance(to: .milliseconds(100 * (ticks + 1)))
            guard isStreaming else { continue }
            notifications += 1
            let frames = frames()
            guard let sent = faults.apply(to: frames, number: notifications, checkOffset: frames.count - 1) else {
                continue
            }
            written += sent.pieces(notificationMax)
        }
        return written
    }

    package var nextDue: Duration? { isStreaming ? .milliseconds(100 * (ticks + 1)) : nil }

    package mutating func powerCycle() {
        bootCount += 1
        isStreaming = false
        ticks = 0
    }

    private mutating func advance(to time: Duration) {
        let last = max(ticks, Int(time.milliseconds / 100))
        // Limit the steps, because more would block the simulator.
        for tick in max(ticks, last - 36_000)..<last {
            totals.add(load.state(step: tick, length: Self.tickSeconds), seconds: Self.tickSeconds)
        }
        recordTicks += last - ticks
        ticks = last
    }

    private func frames() -> [UInt8] {
        let state = load.state(step: ticks, length: Self.tickSeconds)
        var quick: [UInt8] = []
        quick.appendLE(UInt16(clamping: Int((state.voltage * 1000).rounded())))
        quick.appendLE(UInt16(clamping: Int((state.current * 1000).rounded())))
        guard ticks % 5 == 0 else { return frame(.quick, quick) }
        var lines: [UInt8] = []
        lines.appendLE(UInt16(clamping: Int((state.dataPlus * 1000).rounded())))
        lines.appendLE(UInt16(clamping: Int((state.dataMinus * 1000).rounded())))
        lines.appendLE(UInt16(model == .fnb58 ? 0x0005 : 0x0B01))
        var measurement: [UInt8] = []
        measurement.appendLE(scaled(state.voltage, by: 1e4))
        measurement.appendLE(scaled(state.current, by: 1e4))
        measurement.appendLE(scaled(state.power, by: 1e4))
        var resistance: [UInt8] = []
        resistance.appendLE(scaled(state.voltage / max(state.current, 1e-4), by: 1e4))
        resistance.append(state.temperature < 0 ? 0 : 1)
        resistance.appendLE(UInt16(clamping: Int((abs(state.temperature) * 10).rounded())))
        var counted: [UInt8] = [Self.group]
        counted.appendLE(scaled(totals.energy_mWh, by: 100))
        counted.appendLE(scaled(totals.charge_mAh, by: 100))
        counted.appendLE(UInt32(clamping: recordTicks / 10))
        counted.appendLE(UInt32(clamping: ticks / 10))
        return frame(.dataLines, lines) + frame(.quick, quick) + frame(.measurement, measurement)
            + frame(.load, resistance) + frame(.totals, counted)
    }

    private func info() -> [UInt8] {
        var payload: [UInt8] = []
        payload.appendLE(UInt16(model == .fnb58 ? 58 : 48))
        payload.appendLE(UInt16(110))
        payload.appendLE(serial)
        payload.appendLE(UInt32(clamping: bootCount))
        return frame(.info, payload + [10, Self.group])
    }

    private func scaled(_ value: Double, by steps: Double) -> UInt32 {
        UInt32(clamping: Int((value * steps).rounded()))
    }

    private func frame(_ kind: FNIRSIBLEFrame.Kind, _ payload: [UInt8]) -> [UInt8] {
        let head = [FNIRSIBLEFrame.startMark, kind.rawValue, UInt8(clamping: payload.count)] + payload
        return head + [FNIRSIBLEFrame.check(head)]
    }
}
