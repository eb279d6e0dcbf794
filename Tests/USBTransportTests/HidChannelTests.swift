import Domain
import Gateway
import Glibc
import LinuxIO
import MeterTestKit
import Testing

@testable import USBTransport

@Suite(.timeLimit(.minutes(10)))
struct HidChannelTests {
    /// As a raw HID node: packets, and writes that wait.
    private func open(_ link: SocketLink, on loop: IOLoop) async throws -> ChannelProbe {
        let probe = try await ChannelProbe(on: loop) { handle in
            HidChannel(DescriptorChannel.open(link, on: loop, stallLimit: .seconds(3600), handle: handle))
        }
        #expect(await probe.next()?.isOpened == true)
        return probe
    }

    @Test func report_isWrittenWhole_behindAZero() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let probe = try await open(SocketLink(ours, .packets, writesBlock: true), on: loop)
            try await probe.send([0xAA, 0x81])
            let written = try await theirs.nextPackets(1, on: loop)
            #expect(written == [[0, 0xAA, 0x81] + [UInt8](repeating: 0, count: 62)])

            try theirs.write(all: [UInt8](repeating: 7, count: 64))
            #expect(await probe.next()?.bytes == [UInt8](repeating: 7, count: 64))
            try await probe.close()
        }
    }

    @Test(arguments: [(0, []), (1, [65]), (64, [65]), (65, [65, 65])] as [(Int, [Int])])
    func bytes_fillReports(count: Int, lengths: [Int]) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 + 1) }
        let writes = HidReport.writes(carrying: bytes)
        #expect(writes.map(\.count) == lengths)
        #expect(writes.allSatisfy { $0.first == 0 })
        #expect(writes.flatMap { $0.dropFirst() }.starts(with: bytes))
    }

    @Test func fiftyChannels_unpluggedAtOnce_areEachLostOnce_andLeaveNothingOpen() async throws {
        try await withLoop { loop in
            var meters: [(ours: FileDescriptor, theirs: FileDescriptor, link: SocketLink, probe: ChannelProbe)] = []
            for _ in 0..<50 {
                let (ours, theirs) = try packetSocketPair()
                let link = SocketLink(ours, .packets, writesBlock: true)
                meters.append((ours, theirs, link, try await open(link, on: loop)))
            }
            for meter in meters { try await meter.probe.send([0xAA]) }
            for meter in meters { meter.theirs.close() }
            for meter in meters {
                #expect(await meter.probe.next()?.failure?.code == .lost)
                await meter.link.ended()
                #expect(meter.ours.raw == -1)
                #expect(meter.probe.eventCount == 2)
            }
        }
    }

    @Test(arguments: [
        ("/dev/no-such-hidraw", ChannelFailure.Code.missing), ("/dev/null", .unsuitable),
        ("/etc/hostname", .unsuitable),
    ])
    func whatIsNoMeter_isNotWrittenTo(path: String, code: ChannelFailure.Code) async throws {
        try await withLoop { loop in
            let opener = HidChannelOpener(loop: loop)
            let probe = try await ChannelProbe(on: loop) {
                opener.open(.hid(path: path), as: LineSettings(), handle: $0)
            }
            let failure = await probe.next()?.failure
            #expect(failure?.code == code)
            #expect(failure?.message.contains(path) == true)
        }
    }

    @Test func losses_sayWhatToDo() {
        let link = HidLink(path: "/dev/hidraw3", devices: .builtIn, isDeclared: false, writeGap: .zero)
        for code in [EIO, ENODEV] { #expect(link.failure(losing: Errno(code)).code == .lost) }
        #expect(link.failure(losing: nil).message.contains("/dev/hidraw3 is gone"))
        #expect(link.failure(losing: .timedOut).code == .stalled)
    }
}
