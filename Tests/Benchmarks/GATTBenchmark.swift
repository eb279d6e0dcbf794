import BlueZTransport
import Domain
import Gateway
import Glibc
import LinuxIO
import MeterCodec
import MeterSimulator
import MeterTestKit
import SimulatedPeripheral
import Synchronization

/// What GATT costs a reading: a UM25C asked over and over through a channel, beside a plain socket that sends the same
/// packet and counts the bytes of the same answers. The meter is a thread of its own at the other end of a socket pair,
/// whose work does not count; its answers come in seven notifications.
enum GATTBenchmark {
    struct Outcome {
        var readings: Int
        var wall: Double
        var processorTime: Double

        var milliseconds: Double { wall / Double(max(1, readings)) * 1e3 }
        var microseconds: Double { processorTime / Double(max(1, readings)) * 1e6 }
    }

    static func run() throws {
        Report.title("A reading through GATT (same packets, same meter)")
        // A radio answers after one or two connection intervals, of 7.5 to 50 ms each.
        try compare("link that answers after 15 ms", delay: 0.015, readings: 200)
        try compare("link that answers at once", delay: 0, readings: 4000)
        try many(50, readings: 10)
    }

    /// As many links at once, each to a meter that takes half a second to answer: what they cost together, and how many
    /// threads they need.
    private static func many(_ count: Int, readings: Int) throws {
        let meters = try (0..<count).map { _ in try MeterThread(delay: 0.5) }
        let loop = try IOLoop(name: "bench-io")
        let threads = try threadCount()
        loop.start()
        defer { loop.shutdown() }
        let links = meters.map { meter in
            let opener = RadioChannelOpener(loop: loop, slots: EverySlot(), sockets: OneSocket(meter.host))
            let asking = Asking(readings, warmUp: 1)
            let radio = RadioLink(address: MACAddress(bits: 1), isRandom: false, adapter: MACAddress(bits: 2))
            loop.execute { asking.open(opener, .ble(radio)) }
            return asking
        }
        while links.contains(where: { !$0.hasBegun }) { Clocks.pause(0.05) }
        let added = try threadCount() - threads
        let outcomes = links.map { $0.wait() }
        meters.forEach { $0.end() }
        guard outcomes.allSatisfy({ $0 != nil }) else { throw BenchmarkError("a link ended") }
        // All on one thread, whose time each has measured from its first reading to its last.
        let seconds = outcomes.compactMap { $0?.wall }.max() ?? 0
        let work = outcomes.compactMap { $0?.processorTime }.max() ?? 0
        Report.line("  \(count) links at once, \((Double(count * readings) / seconds).fixed(0)) readings/s together")
        Report.figure("channels: of one core", "\((work / seconds * 100).fixed(2)) %")
        Report.figure("threads for all of them", "\(added)", goal: (added == 1, "1"))
    }

    private static func threadCount() throws -> Int {
        guard let folder = opendir("/proc/self/task") else { throw BenchmarkError("no /proc") }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    private static func compare(_ name: String, delay: Double, readings: Int) throws {
        let before = try control(readings / 2, delay)
        let ours = try channel(readings, delay)
        let after = try control(readings / 2, delay)
        let bare = Outcome(
            readings: before.readings + after.readings, wall: before.wall + after.wall,
            processorTime: before.processorTime + after.processorTime)
        Report.line("  \(name)")
        Report.figure(
            "plain socket", "\(bare.milliseconds.fixed(3)) ms, \(bare.microseconds.fixed(1)) us of a processor")
        let (time, work) = (ours.milliseconds / bare.milliseconds, ours.microseconds / bare.microseconds)
        let isLink = delay > 0
        Report.figure(
            "channel: time", "\(ours.milliseconds.fixed(3)) ms = \(time.fixed(2)) x",
            goal: isLink ? (time <= 1.2, "1.2 x") : nil)
        Report.figure(
            "channel: processor", "\(ours.microseconds.fixed(1)) us = \(work.fixed(2)) x",
            goal: isLink ? (work <= 1.2, "1.2 x") : nil)
    }

    // MARK: The channel

    private static func channel(_ readings: Int, _ delay: Double) throws -> Outcome {
        let meter = try MeterThread(delay: delay)
        let loop = try IOLoop(name: "bench-io")
        loop.start()
        defer { loop.shutdown() }
        let opener = RadioChannelOpener(loop: loop, slots: EverySlot(), sockets: OneSocket(meter.host))
        let radio = RadioLink(address: MACAddress(bits: 1), isRandom: false, adapter: MACAddress(bits: 2))
        let asking = Asking(readings)
        loop.execute { asking.open(opener, .ble(radio)) }
        guard let outcome = asking.wait() else { throw BenchmarkError("the link ended") }
        meter.end()
        return outcome
    }

    /// Asks again as soon as a whole block is there. Lives on the loop.
    private final class Asking: @unchecked Sendable {
        private let wanted: Int
        private let done = Mutex<Outcome??>(nil)
        private var channel: (any ByteChannel)?
        private var bytes = 0
        private var readings: Int
        private var began = (wall: 0.0, processor: 0.0)
        private let measures = Mutex(false)

        init(_ wanted: Int, warmUp: Int = GATTBenchmark.warmUp) {
            self.wanted = wanted
            readings = -warmUp
        }

        /// The readings that count have begun.
        var hasBegun: Bool { measures.withLock { $0 } }

        func open(_ opener: RadioChannelOpener, _ link: LinkAddress) {
            channel = opener.open(link, as: LineSettings()) { [self] event in take(event) }
        }

        private func take(_ event: ChannelEvent) {
            switch event {
            case .opened: channel?.send([0xF0])
            case .received(let more):
                bytes += more.count
                guard bytes >= blockLength else { return }
                bytes = 0
                readings += 1
                if readings == 0 { begin() }
                guard readings < wanted else { return finish() }
                channel?.send([0xF0])
            case .closed: done.withLock { $0 = .some(nil) }
            }
        }

        private func begin() {
            began = (Clocks.wall, Clocks.thread)
            measures.withLock { $0 = true }
        }

        private func finish() {
            let outcome = Outcome(
                readings: wanted, wall: Clocks.wall - began.wall, processorTime: Clocks.thread - began.processor)
            channel?.close()
            done.withLock { $0 = outcome }
        }

        /// nil where the link ended.
        func wait() -> Outcome? {
            while true {
                if let outcome = done.withLock({ $0 }) { return outcome }
                Clocks.pause(0.005)
            }
        }
    }

    // MARK: The control

    private static func control(_ readings: Int, _ delay: Double) throws -> Outcome {
        let meter = try MeterThread(delay: delay)
        let socket = meter.host.raw
        var buffer = [UInt8](repeating: 0, count: 600)
        /// Waits as any program on several sockets does, then reads.
        func receive() throws -> Int {
            var waited = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&waited, 1, 5000) == 1 else { throw BenchmarkError("no answer") }
            return read(socket, &buffer, buffer.count)
        }
        func send(_ packet: [UInt8]) { _ = write(socket, packet, packet.count) }
        func ask(_ packet: [UInt8]) throws -> [UInt8] {
            send(packet)
            let count = try receive()
            return Array(buffer.prefix(count))
        }
        // Declarations of FFE1: where its value is. What follows it is its subscription.
        var (value, next) = ([UInt8](), UInt8(1))
        while value.isEmpty {
            let answer = try ask([0x08, next, 0, 0xFF, 0xFF, 0x03, 0x28])
            guard answer.first == 0x09 else { throw BenchmarkError("no FFE1") }
            for start in stride(from: 2, to: answer.count - 6, by: 7) where answer[start + 5] == 0xE1 {
                value = [answer[start + 3], answer[start + 4]]
            }
            next = answer[answer.count - 7] + 1
        }
        _ = try ask([0x12, value[0] + 1, 0, 1, 0])
        var began = (wall: 0.0, processor: 0.0)
        for reading in -warmUp..<readings {
            if reading == 0 { began = (Clocks.wall, Clocks.thread) }
            send([0x52] + value + [0xF0])
            var bytes = 0
            while bytes < blockLength { bytes += try receive() - 3 }
        }
        let outcome = Outcome(
            readings: readings, wall: Clocks.wall - began.wall, processorTime: Clocks.thread - began.processor)
        meter.end()
        return outcome
    }

    private static let blockLength = 130
    private static let warmUp = 20
}

/// A UM25C's radio on a thread: answers what it is asked, each block `delay` seconds later.
private final class MeterThread: Sendable {
    /// The host's end.
    let host: FileDescriptor
    private let own: FileDescriptor

    init(delay: Double) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
            throw BenchmarkError("no socket pair")
        }
        host = FileDescriptor(owning: ends[0])
        own = FileDescriptor(owning: ends[1])
        // The channel's end does not block; the control waits with poll.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        BackgroundThread.run { [own] in Self.serve(own, delay) }
    }

    func end() { own.close() }

    private static func serve(_ end: FileDescriptor, _ delay: Double) {
        var peripheral = SimulatedPeripheral(.um)
        var meter = SimulatedUM(model: .um25c)
        var buffer = [UInt8](repeating: 0, count: 600)
        let started = Clocks.wall
        while true {
            let count = read(end.raw, &buffer, buffer.count)
            guard count > 0 else { return }
            for packet in peripheral.receive(Array(buffer.prefix(count))) { _ = write(end.raw, packet, packet.count) }
            for written in peripheral.takeWritten() {
                if delay > 0 { Clocks.pause(delay) }
                for answer in meter.receive(written, at: .seconds(Clocks.wall - started)) {
                    for packet in peripheral.tell(answer) { _ = write(end.raw, packet, packet.count) }
                }
            }
        }
    }
}

/// An adapter that bears any link.
private struct EverySlot: RadioSlots {
    func take(_ link: RadioLink, over transport: LinkAddress.Transport) -> ChannelFailure? { nil }
    func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport) {}
    func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport) {}
}

/// A kernel that has one socket to give.
private struct OneSocket: RadioSockets {
    private let socket: FileDescriptor

    init(_ socket: FileDescriptor) { self.socket = socket }

    func connectATT(_ link: RadioLink) throws(Errno) -> FileDescriptor { socket }
    func connectRFCOMM(_ link: RadioLink, channel: UInt8) throws(Errno) -> FileDescriptor { throw Errno(ENODEV) }
    func findSerialPort(_ link: RadioLink, limit: Duration, cancel: FileDescriptor) throws(Errno) -> UInt8? { nil }
}
