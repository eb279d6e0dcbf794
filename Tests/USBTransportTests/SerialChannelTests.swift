import Domain
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

@testable import USBTransport

@Suite(.timeLimit(.minutes(10)))
struct SerialChannelTests {
    @Test func bytes_passBothWays() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let probe = try await ChannelProbe(terminal.path, on: loop)
            #expect(await probe.next()?.isOpened == true)

            try terminal.master.write(all: [1, 2, 3])
            let event = await probe.next()
            #expect(event?.bytes == [1, 2, 3])

            try await probe.send([0xF0])
            let sent = try await readAll(1, from: terminal, on: loop)
            #expect(sent == [0xF0])
            try await probe.close()
        }
    }

    @Test func handler_isNotCalledBeforeOpenReturns() async throws {
        try await withLoop { loop in
            let order = Mutex<[String]>([])
            let (done, report) = AsyncStream.makeStream(of: Void.self)
            let channel = try await loop.perform {
                let opener = SerialChannelOpener(loop: loop)
                let channel = opener.open(.serial(path: "/dev/no-such-meter"), as: LineSettings(baudRate: 9600)) {
                    event in
                    order.withLock { $0.append(event.failure?.code.rawValue ?? "other") }
                    report.yield()
                }
                order.withLock { $0.append("returned") }
                return channel
            }
            for await _ in done { break }
            #expect(order.withLock { $0 } == ["returned", "missing"])
            // Of no effect, and harmless.
            try await loop.perform {
                channel.send([1])
                channel.close()
                channel.close()
            }
        }
    }

    @Test func bytesSentWhileOpening_goOutOnceOpen() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let (events, report) = AsyncStream.makeStream(of: ChannelEvent.self)
            let channel = try await loop.perform {
                let opener = SerialChannelOpener(loop: loop)
                let channel = opener.open(.serial(path: terminal.path), as: LineSettings(baudRate: 9600)) {
                    report.yield($0)
                }
                channel.send([7, 8])
                return channel
            }
            // The port opens on a thread of its own, and until then there is no peer: reading would only meet EIO.
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next()?.isOpened == true)
            let sent = try await readAll(2, from: terminal, on: loop)
            #expect(sent == [7, 8])
            try await loop.perform { channel.close() }
        }
    }

    @Test func portInUse_isBusy() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let first = try await ChannelProbe(terminal.path, on: loop)
            #expect(await first.next()?.isOpened == true)
            let second = try await ChannelProbe(terminal.path, on: loop)
            #expect(await second.next()?.failure?.code == .busy)
            try await first.close()
        }
    }

    @Test func unpluggedPort_isLost_once() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let probe = try await ChannelProbe(terminal.path, on: loop)
            #expect(await probe.next()?.isOpened == true)

            terminal.close()

            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .lost)
            #expect(failure.message.contains(terminal.path))
            try await probe.send([1])
            try await loop.perform {}
            #expect(probe.eventCount == 2)
        }
    }

    @Test func sendOnAnUnpluggedPort_tellsAtTheNextTurn_notWithinSend() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let (events, report) = AsyncStream.makeStream(of: ChannelEvent.self)
            let isSending = Mutex(false)
            let calledWithinSend = Mutex(false)
            let channel = try await loop.perform {
                SerialChannelOpener(loop: loop).open(.serial(path: terminal.path), as: LineSettings(baudRate: 9600)) {
                    event in
                    if isSending.withLock({ $0 }) { calledWithinSend.withLock { $0 = true } }
                    report.yield(event)
                }
            }
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next()?.isOpened == true)
            try await loop.perform {
                terminal.close()
                isSending.withLock { $0 = true }
                channel.send([1])
                isSending.withLock { $0 = false }
            }
            #expect(await iterator.next()?.failure?.code == .lost)
            #expect(!calledWithinSend.withLock { $0 })
        }
    }

    @Test func longMessage_arrivesWhole_whenThePeerReadsSlowly() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let probe = try await ChannelProbe(terminal.path, on: loop)
            #expect(await probe.next()?.isOpened == true)
            // More than a pseudo-terminal holds, so that some of it has to wait.
            let message = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

            try await probe.send(message)

            let arrived = try await readAll(message.count, from: terminal, on: loop)
            #expect(arrived.count == message.count)
            #expect(zip(arrived, message).allSatisfy { $0 == $1 })
            try await probe.close()
        }
    }

    @Test func portThatTakesNothing_isStalled_afterTheLimit() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let probe = try await ChannelProbe(terminal.path, on: loop, stallLimit: .milliseconds(20))
            #expect(await probe.next()?.isOpened == true)
            try await probe.send([UInt8](repeating: 0, count: 60_000))
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .stalled)
            #expect(failure.message.contains("Unplug"))
        }
    }

    @Test func queueThatRunsOver_isStalled_atOnce() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let probe = try await ChannelProbe(terminal.path, on: loop, stallLimit: .seconds(3600))
            #expect(await probe.next()?.isOpened == true)
            for _ in 0..<4 { try await probe.send([UInt8](repeating: 0, count: 60_000)) }
            #expect(await probe.next()?.failure?.code == .stalled)
        }
    }

    @Test func closedChannel_saysNothingMore_andFreesThePort() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let probe = try await ChannelProbe(terminal.path, on: loop)
            #expect(await probe.next()?.isOpened == true)
            // Ready in the same turn in which it is closed.
            try terminal.master.write(all: [1])
            try await probe.close()
            terminal.close()
            try await loop.perform {}
            try await loop.perform {}
            #expect(probe.eventCount <= 2)
            let countAfterClose = probe.eventCount
            try await loop.perform {}
            #expect(probe.eventCount == countAfterClose)
        }
    }

    @Test func closeBeforeOpen_opensNothing() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            try await terminal.peerLeaves(on: loop)
            let called = Mutex(false)
            try await loop.perform {
                let opener = SerialChannelOpener(loop: loop)
                opener.open(.serial(path: terminal.path), as: LineSettings(baudRate: 9600)) { _ in
                    called.withLock { $0 = true }
                }.close()
            }
            try await loop.perform {}
            #expect(!called.withLock { $0 })
            #expect(!terminal.hasPeer)
        }
    }

    /// Reads what the channel wrote, as it comes.
    private func readAll(_ count: Int, from terminal: PseudoTerminal, on loop: IOLoop) async throws -> [UInt8] {
        let (pieces, report) = AsyncStream.makeStream(of: [UInt8].self)
        try await loop.perform {
            try loop.register(terminal.master, .readable) { _ in
                var bytes = [UInt8](repeating: 0, count: 1000)
                do {
                    // Nothing there after all: a terminal that is ready need not be so when it is read.
                    guard let read = try bytes.withUnsafeMutableBytes({ try terminal.master.read(into: $0) }) else {
                        return
                    }
                    report.yield(Array(bytes.prefix(read)))
                } catch {
                    // Ends the stream, and the test with too few bytes.
                    loop.unregister(terminal.master)
                    report.finish()
                }
            }
        }
        var all: [UInt8] = []
        for await piece in pieces {
            all += piece
            if all.count >= count { break }
        }
        try await loop.perform { loop.unregister(terminal.master) }
        return all
    }
}
