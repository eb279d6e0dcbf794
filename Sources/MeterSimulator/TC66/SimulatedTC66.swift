import Cryptography
package import Domain
package import MeterCodec

/// A simulated TC66 or TC66C (Docs/Protocols/TC66.md). On USB it answers `getva` immediately with three encrypted
/// writes of 64 bytes; in its bootloader it answers only `query`. Over the radio it answers later, with one write of
/// 192 bytes.
package struct SimulatedTC66: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    /// Running program; the firmware after a power-on without the button held.
    package private(set) var mode: TC66Mode
    /// Displayed page, 0 to 5.
    package private(set) var page = 0
    /// Quarter turns of the screen, 0 to 3.
    package private(set) var rotation = 0
    package private(set) var powerOnCount = 1
    private let link: TC66Link
    private let answerTime: Duration
    private let load: ElectricalLoad
    private let refresh: Duration
    private let serial: UInt32
    private let temperatureUnit: TemperatureUnit
    private var groups = [EnergyCounter](repeating: EnergyCounter(), count: 2)
    private let group: Int
    /// The recorder's contents in the wire format, with a record per second.
    private var recording: [UInt8] = []
    private var recordedSeconds = 0
    private var received: [UInt8] = []
    private var pending: [(time: Duration, bytes: [UInt8])] = []
    private var lastStep = 0
    private var answers = 0

    /// - Parameters:
    ///   - answerTime: delay over the radio; half a second on the newer radio module and 0.8 s on the older one
    ///     (Docs/Protocols/TC66.md#links).
    ///   - refresh: interval of updates; every 80 to 100 ms on a real meter.
    ///   - temperatureUnit: unit set on the meter, in which the answer contains the temperature.
    ///   - mode: `boot` for a meter plugged in with its button held.
    ///   - group: index of the data group that counts, 0 or 1.
    package init(
        model: ModelName, over link: TC66Link = .usb, answerTime: Duration = .milliseconds(500),
        load: ElectricalLoad = ElectricalLoad(), refresh: Duration = .milliseconds(100),
        temperatureUnit: TemperatureUnit = .celsius, mode: TC66Mode = .firmware, group: Int = 0
    ) {
        self.model = model
        self.link = link
        self.answerTime = max(answerTime, .zero)
        self.load = load
        self.refresh = max(refresh, .milliseconds(1))
        self.temperatureUnit = temperatureUnit
        self.mode = mode
        self.group = min(max(group, 0), 1)
        serial = 40_000 + UInt32(truncatingIfNeeded: load.seed % 10_000)
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        advance(to: time)
        received += bytes
        var writes: [[UInt8]] = []
        while let request = takeRequest() { writes += answer(request) }
        guard link == .ble else { return writes.flatMap { $0.pieces(TC66Piece.length) } }
        for write in writes { pending.append((time + answerTime, write)) }
        return []
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        let ready = pending.prefix { $0.time <= time }
        pending.removeFirst(ready.count)
        return ready.map(\.bytes)
    }

    package var nextDue: Duration? { pending.first?.time }

    package mutating func powerCycle() {
        mode = .firmware
        powerOnCount += 1
        page = 0
        received = []
        pending = []
        lastStep = 0
        recordedSeconds = 0
    }

    private var stepLength: Double { Double(refresh.nanoseconds) / 1e9 }

    private mutating func advance(to time: Duration) {
        let step = max(lastStep, time.wholeSteps(of: refresh))
        // Limit the steps, because more would block the simulator.
        for passed in max(lastStep, step - Duration.seconds(3600).wholeSteps(of: refresh))..<step {
            groups[group].add(load.state(step: passed, length: stepLength), seconds: stepLength)
        }
        lastStep = step
        record(until: Int(time.milliseconds / 1000))
    }

    private mutating func record(until second: Int) {
        for passed in max(recordedSeconds, second - TC66Recording.longest)..<max(recordedSeconds, second) {
            let state = load.state(step: Duration.seconds(passed).wholeSteps(of: refresh), length: stepLength)
            recording.appendLE(UInt32(clamping: Int((state.voltage * 10_000).rounded())))
            recording.appendLE(UInt32(clamping: Int((state.current * 100_000).rounded())))
        }
        recordedSeconds = max(recordedSeconds, second)
        let tooMany = recording.count - TC66Recording.longest * TC66Recording.recordLength
        if tooMany > 0 { recording.removeFirst(tooMany) }
    }

    /// Returns the next request, on USB with an optional CR LF. Drops bytes that do not start a request.
    private mutating func takeRequest() -> TC66Request? {
        let requests = TC66Request.known(over: link)
        while !received.isEmpty {
            if let request = requests.first(where: { received.starts(with: $0.bytes(over: link)) }) {
                received.removeFirst(request.bytes(over: link).count)
                return request
            }
            if requests.contains(where: { $0.bytes(over: link).starts(with: received) }) { return nil }
            received.removeFirst()
        }
        return nil
    }

    private mutating func answer(_ request: TC66Request) -> [[UInt8]] {
        guard mode == .firmware || request == .query else { return [] }
        switch request {
        case .query:
            return faulty(Array(mode.rawValue.utf8), checkOffset: 0)
        case .values:
            // The fault corrupts the check word of `pac2`, and with it the whole cipher block.
            return faulty(block(), checkOffset: TC66Piece.length + TC66Piece.checkOffset)
        case .recording:
            return [recording]
        case .nextPage:
            page = (page + 1) % 6
        case .previousPage:
            page = (page + 5) % 6
        case .rotate:
            rotation = (rotation + 1) % 4
        }
        return []
    }

    private mutating func faulty(_ answer: [UInt8], checkOffset: Int) -> [[UInt8]] {
        answers += 1
        return faults.apply(to: answer, number: answers, checkOffset: checkOffset).map { [$0] } ?? []
    }

    private func block() -> [UInt8] {
        let state = load.state(step: lastStep, length: stepLength)
        let plain = [measurements(state), totals(state), []].enumerated().flatMap { index, fields in
            Self.piece("pac\(index + 1)", fields)
        }
        return ECBCipher.tc66.encrypt(plain) ?? []
    }

    private static func piece(_ mark: String, _ fields: [UInt8]) -> [UInt8] {
        var bytes = Array(mark.utf8) + fields
        bytes += [UInt8](repeating: 0, count: max(0, TC66Piece.checkOffset - bytes.count))
        bytes.appendLE(UInt32(Checksum.crc16Modbus(bytes)))
        return bytes
    }

    private func measurements(_ state: ElectricalLoad.State) -> [UInt8] {
        var bytes = Array("TC661.18".utf8)
        bytes.appendLE(serial)
        // On a real meter bytes 16 to 43 are not zero; their meaning is unknown.
        bytes += [UInt8](repeating: 0xA5, count: 28)
        bytes.appendLE(UInt32(clamping: powerOnCount))
        bytes.appendLE(UInt32(clamping: Int((state.voltage * 10_000).rounded())))
        bytes.appendLE(UInt32(clamping: Int((state.current * 100_000).rounded())))
        bytes.appendLE(UInt32(clamping: Int((state.power * 10_000).rounded())))
        return bytes
    }

    private func totals(_ state: ElectricalLoad.State) -> [UInt8] {
        var bytes: [UInt8] = []
        let resistance = state.current > 0.0005 ? state.voltage / state.current : 9999.9
        bytes.appendLE(UInt32(clamping: Int((min(resistance, 9999.9) * 10).rounded())))
        for group in groups {
            bytes.appendLE(UInt32(clamping: Int(group.charge_mAh)))
            bytes.appendLE(UInt32(clamping: Int(group.energy_mWh)))
        }
        let shown = temperatureUnit == .celsius ? state.temperature : state.temperature * 1.8 + 32
        bytes.appendLE(UInt32(shown < 0 ? 1 : 0))
        bytes.appendLE(UInt32(clamping: Int(shown.magnitude.rounded())))
        bytes.appendLE(UInt32(clamping: Int((state.dataPlus * 100).rounded())))
        bytes.appendLE(UInt32(clamping: Int((state.dataMinus * 100).rounded())))
        return bytes
    }
}
