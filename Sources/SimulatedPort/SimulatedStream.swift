import Domain
package import LinuxIO
package import MeterSimulator

/// A simulated meter that reads from one descriptor and writes to another, for programs that provide their own link.
/// `run` blocks its thread.
package struct SimulatedStream: ~Copyable {
    private var meter: any SimulatedMeter
    private var framing: StreamFraming
    private let input: FileDescriptor
    private let output: FileDescriptor
    private let start: MonotonicTime

    package init(
        meter: any SimulatedMeter, from input: FileDescriptor, to output: FileDescriptor, as form: StreamFraming.Form
    ) {
        self.meter = meter
        self.input = input
        self.output = output
        framing = StreamFraming(form)
        start = LinuxClock.now
    }

    /// Runs the meter until the input ends, then drops pending output.
    package mutating func run() throws(Errno) {
        let buffer = ReadBuffer()
        while true {
            let patience = meter.nextDue.map { max(.zero, $0 - time) }
            let isReady = try input.awaitInput(for: patience)
            if isReady, case .end = try hear(buffer) { return }
            try say(meter.due(at: time))
        }
    }

    private enum Heard {
        case something
        case end
    }

    private mutating func hear(_ buffer: ReadBuffer) throws(Errno) -> Heard {
        guard let bytes = try buffer.readUntilEnd(input) else { return .something }
        if bytes.isEmpty { return .end }
        for message in framing.unwrap(bytes) { try say(meter.receive(message, at: time)) }
        return .something
    }

    private func say(_ writes: [[UInt8]]) throws(Errno) {
        for bytes in writes { try output.writeAll(framing.wrap(bytes)) }
    }

    private var time: Duration { LinuxClock.now - start }
}
