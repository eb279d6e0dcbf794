import Domain
import Gateway
import Glibc
import LinuxIO
import MeterTestKit
import Testing

@testable import USBTransport

@Suite(.timeLimit(.minutes(10)))
struct BulkChannelTests {
    private func open(
        _ port: FakeBulkPort, on loop: IOLoop, stallLimit: Duration = .seconds(3600),
        farewellLimit: Duration = .seconds(3600)
    ) async throws -> ChannelProbe {
        let probe = try await ChannelProbe(on: loop) { handle in
            BulkChannel.open(
                "the meter", on: loop, stallLimit: stallLimit, farewellLimit: farewellLimit, handle: handle
            ) { port }
        }
        #expect(await probe.next()?.isOpened == true)
        return probe
    }

    @Test func bytes_goAndCome_inOrder_andNothingIsLostMeanwhile() async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            let probe = try await open(port, on: loop)
            for number in 0..<40 as Range<UInt8> { port.say([number]) }
            for number in 0..<40 as Range<UInt8> { #expect(await probe.next()?.bytes == [number]) }
            for number in 0..<40 as Range<UInt8> { try await probe.send([number, 1]) }
            // The last one has gone when the answer to it comes.
            port.say([0xFF])
            #expect(await probe.next()?.bytes == [0xFF])
            try await probe.close()
            await port.closed()
            #expect(port.sent == (0..<40).map { [$0, 1] })
        }
    }

    /// An answer that fills its packets is followed by one without bytes (USB 2.0, 5.8.3).
    @Test func emptyPacket_isNoBytes() async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            let probe = try await open(port, on: loop)
            port.say([])
            port.say([7])
            #expect(await probe.next()?.bytes == [7])
            try await probe.close()
        }
    }

    @Test func oneTransfer_isUnderWayAtATime_andAStallEndsTheLink() async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            port.takes(false)
            let probe = try await open(port, on: loop, stallLimit: .milliseconds(50))
            try await probe.send([1])
            try await probe.send([2])
            #expect(await probe.next()?.failure?.code == .stalled)
            #expect(port.sent == [[1]])
            await port.closed()
        }
    }

    @Test func unplugged_isLostOnce() async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            let probe = try await open(port, on: loop)
            port.go()
            #expect(await probe.next()?.failure?.code == .lost)
            await port.closed()
            #expect(probe.eventCount == 2)
        }
    }

    @Test(arguments: [ESHUTDOWN, EPROTO, EOVERFLOW])
    func transferThatFails_endsTheLink(code: Int32) async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            let probe = try await open(port, on: loop)
            port.fail(isInput: true, Errno(code))
            #expect(await probe.next()?.failure?.code == .lost)
        }
    }

    @Test func halt_isCleared_butNotForEver() async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            let probe = try await open(port, on: loop)
            for round in 1...3 as ClosedRange<UInt8> {
                port.fail(isInput: true, Errno(EPIPE))
                port.say([round])
                #expect(await probe.next()?.bytes == [round])
            }
            #expect(port.cleared == [true, true, true])
            for _ in 1...4 { port.fail(isInput: false, Errno(EPIPE)) }
            #expect(await probe.next()?.failure?.code == .lost)
            #expect(port.cleared == [true, true, true, false, false, false])
        }
    }

    @Test func closing_waitsForWhatGoesOut() async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            port.takes(false)
            let probe = try await open(port, on: loop)
            try await probe.send([1])
            try await probe.send([2])
            try await probe.close()
            #expect(!port.isClosed)
            port.takes(true)
            await port.closed()
            #expect(port.sent == [[1], [2]])
            #expect(probe.eventCount == 1)
        }
    }

    @Test func closedWhileItOpens_leavesNothingOpen() async throws {
        try await withLoop { loop in
            let port = try FakeBulkPort()
            let (gate, opener) = try packetSocketPair()
            let probe = try await ChannelProbe(on: loop) { handle in
                BulkChannel.open("the meter", on: loop, handle: handle) {
                    _ = try? gate.awaitInput(for: nil)
                    return port
                }
            }
            try await probe.close()
            try opener.write(all: [1])
            await port.closed()
            #expect(probe.eventCount == 0)
        }
    }

    @Test(arguments: [
        ("/dev/no-such-usb", ChannelFailure.Code.missing), ("/dev/null", .unsuitable), ("/etc/hostname", .unsuitable),
    ])
    func whatIsNoMeter_isNotTouched(path: String, code: ChannelFailure.Code) async throws {
        try await withLoop { loop in
            let opener = BulkChannelOpener(loop: loop)
            let probe = try await ChannelProbe(on: loop) {
                opener.open(.bulk(path: path), as: LineSettings(), handle: $0)
            }
            let failure = await probe.next()?.failure
            #expect(failure?.code == code)
            #expect(failure?.message.contains(path) == true)
        }
    }
}
