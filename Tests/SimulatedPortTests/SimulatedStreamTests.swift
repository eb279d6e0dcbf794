import Domain
import Glibc
import LinuxIO
import MeterCodec
import MeterSimulator
import MeterTestKit
import SimulatedPort
import Testing

struct SimulatedStreamTests {
    /// Runs a meter over two pipes until its input ends, and gives what it said. What is asked fits a pipe.
    private func play(
        _ meter: any SimulatedMeter, hearing input: [UInt8], as form: StreamFraming.Form
    ) throws -> [UInt8] {
        let (asked, said) = (try Pipe(), try Pipe())
        try asked.writing.writeAll(input)
        asked.writing.close()
        var stream = SimulatedStream(meter: meter, from: asked.reading, to: said.writing, as: form)

        try stream.run()

        said.writing.close()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { buffer.deallocate() }
        let count = try said.reading.read(into: buffer) ?? 0
        return Array(buffer.prefix(count))
    }

    @Test func answers_comeAsTheMeterWritesThem() throws {
        let meter = SimulatedTC66(model: .tc66)
        var framing = StreamFraming(.framed)

        let said = try play(meter, hearing: framing.wrap(Array("query".utf8) + Array("getva".utf8)), as: .framed)

        #expect(framing.unwrap(said).map(\.count) == [4, 64, 64, 64])
    }

    @Test func rawBytes_areTheMetersAndNothingElse() throws {
        let said = try play(SimulatedUM(model: .um25c), hearing: [0xF0], as: .raw)

        var decoder = UMDecoder()
        decoder.append(said)
        #expect(said.count == UMBlock.length)
        guard case .frame(.um) = decoder.next() else {
            Issue.record("no block")
            return
        }
    }

    @Test func whatAMeterSaysByItself_isSaid_whileNothingIsAsked() async throws {
        let (asked, said) = (try Pipe(), try Pipe())
        let meter = SimulatedAtorch(model: .atorchUSB, period: .milliseconds(10))
        // Both block, so each has a thread of its own: tests share those of tasks.
        async let run = onThread {
            Result {
                var stream = SimulatedStream(meter: meter, from: asked.reading, to: said.writing, as: .raw)
                try stream.run()
            }
        }

        // Its input ends on the same thread: by the time that a busy machine came back to this task, the meter would
        // have filled the pipe, and would wait for ever for somebody who reads.
        let isSaid = await onThread {
            Result {
                defer { asked.writing.close() }
                return try said.reading.awaitInput(for: nil)
            }
        }
        try await run.get()

        #expect(try isSaid.get())
    }

    @Test func input_isAwaited_noLongerThanPatienceLasts() throws {
        let pipe = try Pipe()

        #expect(try !pipe.reading.awaitInput(for: .milliseconds(1)))
        try pipe.writing.writeAll([1])
        #expect(try pipe.reading.awaitInput(for: nil))
    }

    private func onThread<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            BackgroundThread.run { continuation.resume(returning: body()) }
        }
    }

    private struct Pipe: Sendable {
        let reading: FileDescriptor
        let writing: FileDescriptor

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            reading = FileDescriptor(owning: ends[0])
            writing = FileDescriptor(owning: ends[1])
        }
    }
}
