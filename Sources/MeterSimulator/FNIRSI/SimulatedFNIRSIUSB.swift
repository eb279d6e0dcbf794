package import Domain
import MeterCodec

/// A simulated FNIRSI meter on USB (Docs/Protocols/FNIRSI.md). Streams four samples every 40 ms for one second after
/// each `start` or `keepOn`. After that second it ignores `keepOn` until the next `start`. Hangs if two commands are
/// too close together.
///
/// Answers `hello` with an empty packet of type 03, because no real answer has been published.
package struct SimulatedFNIRSIUSB: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    package private(set) var bootCount = 1
    /// Whether the meter hangs after commands too close together. Only `powerCycle` ends this.
    package private(set) var isHung = false
    private let load: ElectricalLoad
    private let packetPeriod: Duration
    private let startsWithGarbage: Bool
    private let wantsKeepOn: Bool
    private var awaitsKeepOn = false
    private let lease: Duration = .seconds(1)
    /// Shortest safe interval between commands; a shorter one can hang a real meter. Unverified: one public program
    /// makes no pause.
    package static let commandGap = Duration.milliseconds(25)
    private let commandGap: Duration
    private var lastCommand: Duration?
    private var stream: Stream?
    private var packets = 0

    /// State of the sample stream, kept even after the stream ends. `leaseEnd` is the time at which the last keep-alive
    /// expires.
    private struct Stream: Sendable {
        var leaseEnd: Duration
        var nextPacket: Duration
        var isFirstPacket = true
    }

    /// - Parameters:
    ///   - model: only an FNAC-28 behaves differently: it repeats samples.
    ///   - packetPeriod: interval of packets; 40 ms on a real meter.
    ///   - startsWithGarbage: whether each stream's first sample contains 188 V, as after a program that did not read
    ///     all samples.
    ///   - wantsKeepOn: whether the meter sends nothing before a `keepOn`, as a C1 may do (unverified).
    ///   - commandGap: shortest interval between commands that does not hang the meter.
    package init(
        model: ModelName = .fnb58, load: ElectricalLoad = ElectricalLoad(), packetPeriod: Duration = .milliseconds(40),
        startsWithGarbage: Bool = false, wantsKeepOn: Bool = false, commandGap: Duration = SimulatedFNIRSIUSB.commandGap
    ) {
        self.wantsKeepOn = wantsKeepOn
        self.commandGap = commandGap
        self.model = model
        self.load = load
        self.packetPeriod = max(packetPeriod, .milliseconds(1))
        self.startsWithGarbage = startsWithGarbage
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: FNIRSIUSBPacket.length).flatMap { start in
            let report = Array(bytes[start..<min(start + FNIRSIUSBPacket.length, bytes.count)])
            let command = FNIRSIUSBCommand.allCases.first { $0.bytes == report }
            return command.map { obey($0, at: time) } ?? []
        }
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        var written: [[UInt8]] = []
        while let due = nextDue, due <= time {
            let isFirst = stream?.isFirstPacket ?? false
            stream?.isFirstPacket = false
            stream?.nextPacket = due + packetPeriod
            packets += 1
            let packet = samples(endingAt: due, firstIsGarbage: isFirst && startsWithGarbage)
            if let packet = faults.apply(to: packet, number: packets, checkOffset: 63) { written.append(packet) }
        }
        return written
    }

    package var nextDue: Duration? {
        guard !isHung, let stream, stream.nextPacket <= stream.leaseEnd else { return nil }
        return stream.nextPacket
    }

    package mutating func powerCycle() {
        bootCount += 1
        isHung = false
        lastCommand = nil
        awaitsKeepOn = false
        stream = nil
    }

    private mutating func obey(_ command: FNIRSIUSBCommand, at time: Duration) -> [[UInt8]] {
        if let lastCommand, time - lastCommand < commandGap { isHung = true }
        lastCommand = time
        guard !isHung else { return [] }
        switch command {
        case .hello:
            return [sealed([FNIRSIUSBPacket.startMark, 0x03] + [UInt8](repeating: 0, count: 61))]
        case .start:
            if isStreaming(at: time) {
                stream?.leaseEnd = time + lease
            } else if wantsKeepOn {
                awaitsKeepOn = true
            } else {
                stream = Stream(leaseEnd: time + lease, nextPacket: time + packetPeriod)
            }
        case .keepOn:
            if isStreaming(at: time) {
                stream?.leaseEnd = time + lease
            } else if awaitsKeepOn {
                awaitsKeepOn = false
                stream = Stream(leaseEnd: time + lease, nextPacket: time + packetPeriod)
            }
        }
        return []
    }

    private func isStreaming(at time: Duration) -> Bool {
        stream.map { time <= $0.leaseEnd } ?? false
    }

    /// Returns four samples 10 ms apart; the last sample is from `time`.
    private func samples(endingAt time: Duration, firstIsGarbage: Bool) -> [UInt8] {
        let last = Int(time.milliseconds / 10)
        var packet: [UInt8] = [FNIRSIUSBPacket.startMark, FNIRSIUSBPacket.samplesType]
        for index in 0..<FNIRSIUSBPacket.samplesPerPacket {
            // An FNAC-28 repeats values (baryluk/fnirsi-usb-power-data-logger issue 27). How often is unpublished; here
            // all four samples are equal.
            let step = model == .fnac28 ? last & ~3 : last - 3 + index
            let state = load.state(step: max(0, step), length: 0.01)
            let isGarbage = firstIsGarbage && index == 0
            packet.appendLE(isGarbage ? 18_874_370 : UInt32(clamping: Int((state.voltage * 1e5).rounded())))
            packet.appendLE(isGarbage ? 17_039_408 : UInt32(clamping: Int((state.current * 1e5).rounded())))
            packet.appendLE(UInt16(clamping: Int((state.dataPlus * 1000).rounded())))
            packet.appendLE(UInt16(clamping: Int((state.dataMinus * 1000).rounded())))
            packet.append(state.temperature < 0 ? 0 : 1)
            packet.appendLE(UInt16(clamping: Int((abs(state.temperature) * 10).rounded())))
        }
        packet.append(0)
        return sealed(packet)
    }

    private func sealed(_ packet: [UInt8]) -> [UInt8] {
        packet + [Checksum.crc8FNIRSI(packet.dropFirst())]
    }
}
