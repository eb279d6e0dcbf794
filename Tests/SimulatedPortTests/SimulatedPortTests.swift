import Domain
import Glibc
import LinuxIO
import MeterCodec
import MeterSimulator
import MeterTestKit
import SimulatedPort
import Testing
import USBTransport

/// A simulated meter on a real pseudo-terminal, read as a real one is.
@Suite(.timeLimit(.minutes(10)))
struct SimulatedPortTests {
    /// The host's end: a channel, and the driver that reads what comes.
    private struct Host: Sendable {
        let loop: IOLoop
        let channel: any ByteChannel
        let events: AsyncStream<ChannelEvent>

        init(_ link: String, on loop: IOLoop) async throws {
            let (events, report) = AsyncStream.makeStream(of: ChannelEvent.self)
            self.loop = loop
            self.events = events
            channel = try await loop.perform {
                SerialChannelOpener(loop: loop).open(.serial(path: link), as: LineSettings(baudRate: 115_200)) {
                    report.yield($0)
                }
            }
        }

        func send(_ bytes: [UInt8]) async throws {
            try await loop.perform { [channel] in channel.send(bytes) }
        }

        func close() async throws {
            try await loop.perform { [channel] in channel.close() }
        }

        /// Asks once and reads on until there is a frame.
        func frame(_ driver: inout some MeterDriver) async throws -> Frame {
            try await send(driver.poll())
            for await event in events {
                switch event {
                case .opened: continue
                case .closed(let failure): throw failure
                case .received(let bytes):
                    var frame: Frame?
                    driver.receive(bytes) { event in
                        if case .frame(let found) = event { frame = found }
                    }
                    if let frame { return frame }
                }
            }
            throw CodecError.truncated(have: 0)
        }

        func received() async -> [UInt8]? {
            for await event in events {
                if case .received(let bytes) = event { return bytes }
            }
            return nil
        }

        func failure() async -> ChannelFailure? {
            for await event in events {
                if case .closed(let failure) = event { return failure }
            }
            return nil
        }
    }

    private func withPort(
        _ meter: some SimulatedMeter, link: String? = nil, _ body: (SimulatedPort, String, IOLoop) async throws -> Void
    ) async throws {
        try await withLoop { loop in
            let port = SimulatedPort(meter: meter, loop: loop, link: link)
            try await port.start()
            let path = try #require(await port.path)
            try await body(port, path, loop)
            await port.stop()
            #expect(await port.path == nil)
        }
    }

    @Test func um25c_isRead_throughChannelAndDriver() async throws {
        try await withPort(SimulatedUM(model: .um25c)) { _, path, loop in
            let host = try await Host(path, on: loop)
            var driver = UMDriver(model: .um25c)
            let frame = try await host.frame(&driver)
            #expect(frame.content.model == .um25c)
            var voltages: [Double] = []
            frame.content.forEachReading { reading in
                if let voltage = reading[.voltage] { voltages.append(voltage) }
            }
            #expect(voltages.count == 1)
            #expect(voltages.allSatisfy { (4.5...5.5).contains($0) })
            try await host.close()
        }
    }

    @Test func portThatWasClosed_answersTheNextToOpenIt() async throws {
        try await withPort(SimulatedUM(model: .um34c)) { _, path, loop in
            for _ in 0..<3 {
                let host = try await Host(path, on: loop)
                var driver = UMDriver(model: .um34c)
                let frame = try await host.frame(&driver)
                #expect(frame.content.model == .um34c)
                try await host.close()
            }
        }
    }

    @Test func unplugging_isALostLine_andPluggingInHealsIt() async throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "/meter"
        try await withPort(SimulatedUM(model: .um25c), link: link) { port, _, loop in
            var driver = UMDriver(model: .um25c)
            let before = try await Host(link, on: loop)
            _ = try await before.frame(&driver)

            await port.unplug()
            await port.unplug()
            #expect(await before.failure()?.code == .lost)
            #expect(await port.path == nil)
            let between = try await Host(link, on: loop)
            #expect(await between.failure()?.code == .missing)

            try await port.plug()
            let after = try await Host(link, on: loop)
            _ = try await after.frame(&driver)
            try await after.close()
        }
        #expect(FileTree.names(in: folder.path).isEmpty)
    }

    @Test func faults_areInjected_andTakenBack() async throws {
        try await withPort(SimulatedUM(model: .um25c)) { port, path, loop in
            let host = try await Host(path, on: loop)
            var driver = UMDriver(model: .um25c)
            _ = try await host.frame(&driver)

            await port.setFaults(SimulatorFaults(.shortBlock))
            try await host.send([0xF0])
            // Half of the 130 bytes (Docs/Protocols/UM.md#block).
            #expect(await host.received()?.count == 65)

            await port.setFaults(.none)
            _ = try await host.frame(&driver)
            try await host.close()
        }
    }

    @Test func powerCycle_keepsThePort_andForgetsWhatIsVolatile() async throws {
        try await withPort(Counter()) { port, path, loop in
            let host = try await Host(path, on: loop)
            try await host.send([1])
            #expect(await host.received() == [1])
            try await host.send([1])
            #expect(await host.received() == [2])
            await port.powerCycle()
            try await host.send([1])
            #expect(await host.received() == [1])
            try await host.close()
        }
    }

    @Test func meterThatPushes_isHeard_withoutBeingAsked() async throws {
        // What was due is sent later where the machine is busy, but for whole rounds; a round takes as long as the
        // test may, so that none is left out.
        let messages = (0..<12_000).map { number in
            TrafficReplay.Message(time: .milliseconds(5 * number), direction: .fromMeter, bytes: [UInt8(number % 200)])
        }
        try await withPort(TrafficReplay(model: .atorchUSB, messages: messages)) { _, path, loop in
            let host = try await Host(path, on: loop)
            var heard: [UInt8] = []
            while heard.count < 7, let bytes = await host.received() { heard += bytes }
            // Wherever the host came in, each is followed by the next.
            #expect(heard.count >= 7)
            #expect(zip(heard, heard.dropFirst()).allSatisfy { (Int($0) + 1) % 200 == Int($1) })
            try await host.close()
        }
    }

    @Test func longAnswer_arrivesWhole() async throws {
        let answer = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 / 5) }
        let messages = [
            TrafficReplay.Message(time: .zero, direction: .toMeter, bytes: [1]),
            TrafficReplay.Message(time: .zero, direction: .fromMeter, bytes: answer),
        ]
        try await withPort(TrafficReplay(model: .km003c, messages: messages)) { _, path, loop in
            let host = try await Host(path, on: loop)
            try await host.send([1])
            var heard: [UInt8] = []
            while heard.count < answer.count, let bytes = await host.received() { heard += bytes }
            #expect(heard == answer)
            try await host.close()
        }
    }

    @Test func linkThatCannotBePlaced_failsToStart() async throws {
        try await withLoop { loop in
            let port = SimulatedPort(meter: SimulatedUM(model: .um25c), loop: loop, link: "/no-such-folder/meter")
            await #expect(throws: Errno(ENOENT)) { try await port.start() }
            #expect(await port.path == nil)
        }
    }

    /// Answers each request with how many there have been since it was switched on.
    private struct Counter: SimulatedMeter {
        let model = ModelName.um25c
        var faults = SimulatorFaults.none
        var count: UInt8 = 0
        var nextDue: Duration? { nil }

        mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
            count += 1
            return [[count]]
        }

        mutating func due(at time: Duration) -> [[UInt8]] { [] }

        mutating func powerCycle() { count = 0 }
    }
}
