import BlueZTransport
import BluetoothCore
import Domain
import Gateway
import GatewayAPI
import Glibc
import LinuxIO
import Logging
import Synchronization

/// What it costs to listen to a crowd: 200 advertisers, ten reports a second each, every tenth of them a meter.
///
/// Beside it a bare loop over the same packets, which waits and reads and looks at nothing. The kernel's side is a
/// thread of its own at the other end of a pair of sockets, whose work does not count.
enum RadioBenchmark {
    private static let advertisers = 200
    private static let rate = 2000.0

    struct Outcome {
        var reports: Int
        var processorTime: Double
        var seconds: Double

        var microseconds: Double { processorTime / Double(max(1, reports)) * 1e6 }
        var percent: Double { processorTime / seconds * 100 }
    }

    static func run() async throws {
        Report.title("Listening to \(advertisers) advertisers (processor time a report; same packets, same pace)")
        let before = try control(seconds: 4)
        let ours = try await radios(seconds: 8)
        let after = try control(seconds: 4)
        let bare = Outcome(
            reports: before.reports + after.reports, processorTime: before.processorTime + after.processorTime,
            seconds: before.seconds + after.seconds)
        Report.figure("bare loop", "\(bare.microseconds.fixed(2)) us  (\(bare.reports) reports)")
        let ratio = ours.microseconds / bare.microseconds
        Report.figure(
            "radios: known, counted, told of", "\(ours.microseconds.fixed(2)) us = \(ratio.fixed(2)) x",
            goal: (ratio <= 2, "2 x  (\(ours.reports) reports)"))
        Report.figure(
            "of one core at \(Int(rate)) reports/s", "\(ours.percent.fixed(2)) %", goal: (ours.percent < 5, "5 %"))
    }

    private static func radios(seconds: Double) async throws -> Outcome {
        let (kernel, socket) = try pair()
        let loop = try IOLoop(name: "bench-io")
        loop.start()
        defer { loop.shutdown() }
        var configuration = Radios.Configuration()
        configuration.openSocket = { socket }
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let radios = Radios(loop: loop, configuration: configuration, logger: logger)
        let told = Mutex((appeared: 0, heard: 0))
        let running = Task {
            await radios.run { event in
                told.withLock { told in
                    switch event {
                    case .appeared: told.appeared += 1
                    case .heard: told.heard += 1
                    case .vanished: break
                    }
                }
            }
        }
        try FakeAdapter.answer(until: 0x0023, on: kernel)
        let started = await loop.processorTime
        let sent = Crowd(kernel).send(seconds: seconds)
        // What is still in the socket belongs to it.
        Clocks.pause(0.2)
        let used = await loop.processorTime - started
        guard told.withLock({ $0.appeared }) == advertisers / 10, told.withLock({ $0.heard }) > 0 else {
            throw BenchmarkError("the radios told of \(told.withLock { $0.appeared }) meters")
        }
        running.cancel()
        await running.value
        return Outcome(reports: sent, processorTime: used, seconds: seconds)
    }

    private static func control(seconds: Double) throws -> Outcome {
        let (kernel, socket) = try pair()
        let sent = Mutex(0)
        let crowd = Crowd(kernel)
        let ended = Mutex(false)
        BackgroundThread.run {
            let count = crowd.send(seconds: seconds)
            sent.withLock { $0 = count }
            ended.withLock { $0 = true }
        }
        let started = Clocks.thread
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 65_541)
        while true {
            var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, 300)
            if ready == 0, ended.withLock({ $0 }) { break }
            while let length = try buffer.withUnsafeMutableBytes({ try socket.read(into: $0) }), length > 0 {
                count += 1
            }
        }
        let used = Clocks.thread - started
        guard count == sent.withLock({ $0 }) else { throw BenchmarkError("the control missed reports") }
        return Outcome(reports: count, processorTime: used, seconds: seconds)
    }

    private static func pair() throws -> (FileDescriptor, FileDescriptor) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw BenchmarkError("no pair of sockets: \(errno)") }
        return (FileDescriptor(owning: pair[0]), FileDescriptor(owning: pair[1]))
    }

    /// Sends reports at an even pace.
    struct Crowd: Sendable {
        private let socket: FileDescriptor
        private let packets: [[UInt8]]

        init(_ socket: FileDescriptor) {
            self.socket = socket
            packets = (0..<advertisers).map { number in
                let name = number % 10 == 0 ? "UM25C" : "Thing \(number)"
                let data: [UInt8] =
                    [2, 0x01, 6, 3, 0x03, 0x0F, 0x18, UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
                let address = [UInt8(number), 0x44, 0x33, 0x22, 0x11, 0x00, 1]
                let length = UInt8(14 + data.count)
                return [0x12, 0, 0, 0, length, 0] + address + [0xC4, 0, 0, 0, 0, UInt8(data.count), 0] + data
            }
        }

        /// - Returns: how many.
        func send(seconds: Double) -> Int {
            let begin = Clocks.wall
            let count = Int(seconds * rate)
            for number in 0..<count {
                Clocks.pause(until: begin + Double(number) / rate)
                // As loud as ever, but for the last bit.
                var packet = packets[number % packets.count]
                packet[13] ^= UInt8(number / packets.count & 1)
                // A full socket drops it, as the kernel's does.
                _ = try? packet.withUnsafeBytes { try socket.write($0) }
            }
            return count
        }
    }

    /// Answers as one good adapter does.
    enum FakeAdapter {
        static func answer(until last: UInt16, on socket: FileDescriptor) throws {
            var buffer = [UInt8](repeating: 0, count: 512)
            var opcode: UInt16 = 0
            while opcode != last {
                var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, 5000) == 1,
                    let count = try buffer.withUnsafeMutableBytes({ try socket.read(into: $0) }), count >= 6
                else { throw BenchmarkError("the radios asked for nothing") }
                opcode = UInt16(buffer[0]) | UInt16(buffer[1]) << 8
                let answer: [UInt8] =
                    switch opcode {
                    case 0x0003: [1, 0, 0, 0]
                    case 0x0004:
                        [1, 2, 3, 4, 5, 6, 9, 2, 0, 0x91, 2, 0, 0, 0x91, 2, 0, 0] + [UInt8](repeating: 0, count: 263)
                    default: Array(buffer[6..<count])
                    }
                let length = UInt16(3 + answer.count)
                let head = [1, 0, buffer[2], buffer[3], UInt8(length & 0xFF), UInt8(length >> 8)]
                let packet = head + [buffer[0], buffer[1], 0] + answer
                _ = try packet.withUnsafeBytes { try socket.write($0) }
            }
        }
    }
}

extension IOLoop {
    /// Processor time of its thread so far; seconds.
    fileprivate var processorTime: Double {
        get async {
            await withCheckedContinuation { continuation in
                execute { continuation.resume(returning: Clocks.thread) }
            }
        }
    }
}
