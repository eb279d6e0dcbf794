import Domain
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

/// What `SerialChannelTests` does not reach: packets, writes that wait, and connecting.
@Suite(.timeLimit(.minutes(10)))
struct DescriptorChannelTests {
    @Test(arguments: [false, true])
    func packets_keepTheirBounds_bothWays(writesBlock: Bool) async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let probe = try await ChannelProbe(SocketLink(ours, .packets, writesBlock: writesBlock), on: loop)
            #expect(await probe.next()?.isOpened == true)

            for packet in [[1, 2, 3], [], [4]] as [[UInt8]] { try await probe.send(packet) }
            #expect(try await theirs.nextPackets(2, on: loop) == [[1, 2, 3], [4]])

            try theirs.write(all: [5, 6])
            try theirs.write(all: [7])
            #expect(await probe.next()?.bytes == [5, 6])
            #expect(await probe.next()?.bytes == [7])
            try await probe.close()
        }
    }

    /// Several are read at one wake.
    @Test func packetsThatAreThereAtOnce_comeInOrder_andThenTheEnd() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            for number in UInt8(0)..<20 { try theirs.write(all: [number]) }
            theirs.close()
            let probe = try await ChannelProbe(SocketLink(ours, .packets), on: loop)
            #expect(await probe.next()?.isOpened == true)
            for number in UInt8(0)..<20 { #expect(await probe.next()?.bytes == [number]) }
            #expect(await probe.next()?.failure != nil)
        }
    }

    @Test func channelClosedByAPacket_tellsOfNoneThatCameWithIt() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            for number in UInt8(0)..<20 { try theirs.write(all: [number]) }
            let channel = Mutex((any ByteChannel)?.none)
            let told = Mutex([UInt8]())
            try await loop.perform {
                let opened = DescriptorChannel.open(SocketLink(ours, .packets), on: loop) { event in
                    guard let byte = event.bytes?.first else { return }
                    told.withLock { $0.append(byte) }
                    if byte == 2 { channel.withLock { $0 }?.close() }
                }
                channel.withLock { $0 = opened }
            }
            while told.withLock({ $0.last }) != 2 { try await loop.perform {} }
            // The packet is told of before the channel is closed; by now that has returned.
            try await loop.perform {}
            #expect(ours.raw == -1)
            #expect(told.withLock { $0 } == [0, 1, 2])
            theirs.close()
        }
    }

    @Test(arguments: [false, true])
    func packetsThatMustWait_arriveInOrder(writesBlock: Bool) async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let probe = try await ChannelProbe(SocketLink(ours, .packets, writesBlock: writesBlock), on: loop)
            #expect(await probe.next()?.isOpened == true)
            // More packets than a socket holds while nobody reads.
            let packets = (0..<1000).map { [UInt8(truncatingIfNeeded: $0), UInt8($0 / 256)] }
            for packet in packets { try await probe.send(packet) }
            #expect(try await theirs.nextPackets(packets.count, on: loop) == packets)
            try await probe.close()
        }
    }

    /// Each goes out by itself, after the line was left alone.
    @Test func gapBetweenWrites_endsByItself() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let link = SocketLink(ours, .packets, writesBlock: true, writeGap: .milliseconds(2))
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.isOpened == true)
            for number in UInt8(1)...5 { try await probe.send([number]) }
            #expect(try await theirs.nextPackets(5, on: loop) == [[1], [2], [3], [4], [5]])
            try await probe.close()
        }
    }

    /// The first may go at once, the second waits, whether it was there when the first was written or came later. The line
    /// has not stalled, and closing it leaves no timer behind.
    @Test(arguments: [false, true])
    func lineLeftAlone_getsNothing_andHasNotStalled(comesLater: Bool) async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let link = SocketLink(ours, .packets, writesBlock: true, writeGap: .seconds(3600))
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.isOpened == true)
            try await probe.send([1])
            if !comesLater { try await probe.send([2]) }
            #expect(try await theirs.nextPackets(1, on: loop) == [[1]])
            if comesLater { try await probe.send([2]) }
            // A write is by a thread of its own: one that would not wait has long been there.
            for _ in 0..<100 { try await loop.perform {} }
            var byte = UInt8(0)
            #expect(try withUnsafeMutableBytes(of: &byte) { try theirs.read(into: $0) } == nil)
            #expect(probe.eventCount == 1)
            try await probe.close()
            await link.ended()
            #expect(ours.raw == -1)
        }
    }

    @Test func packetsThatNobodyTakes_stall() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let probe = try await ChannelProbe(SocketLink(ours, .packets), on: loop, stallLimit: .milliseconds(20))
            #expect(await probe.next()?.isOpened == true)
            for _ in 0..<1000 { try await probe.send([1]) }
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .stalled)
            #expect(failure.message.hasPrefix("the test has taken no byte for 0.02 seconds. Do something."))
            theirs.close()
        }
    }

    /// As a raw HID device does that takes no report: the write does not come back for seconds.
    @Test func writeThatHangs_holdsUpNoLoop_andKeepsItsDescriptorUntilItIsOver() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair(writesBlock: true)
            try ours.fill()
            let link = SocketLink(ours, .packets, writesBlock: true)
            let probe = try await ChannelProbe(link, on: loop, stallLimit: .milliseconds(20))
            #expect(await probe.next()?.isOpened == true)

            try await probe.send([1])

            #expect(await probe.next()?.failure?.code == .stalled)
            try await loop.perform {}
            #expect(ours.raw >= 0)
            theirs.close()  // The write ends.
            await link.ended()
            #expect(ours.raw == -1)
        }
    }

    @Test func closeWhileAWriteHangs_closesOnceItIsOver() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair(writesBlock: true)
            try ours.fill()
            let link = SocketLink(ours, .packets, writesBlock: true)
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.isOpened == true)
            try await probe.send([1])

            try await probe.close()
            theirs.close()

            await link.ended()
            #expect(ours.raw == -1)
            #expect(probe.eventCount == 1)
        }
    }

    @Test func otherEndThatCloses_isLost_withTheTransportsWords() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let probe = try await ChannelProbe(SocketLink(ours, .packets), on: loop)
            #expect(await probe.next()?.isOpened == true)
            theirs.close()
            let failure = await probe.next()?.failure
            #expect(failure == ChannelFailure(.lost, "the test: it ended"))
        }
    }

    @Test func connect_thatTakesATurn_opensAndSendsWhatWaited() async throws {
        try await withLoop { loop in
            let server = try LocalServer(backlog: 8)
            let probe = try await ChannelProbe(SocketLink(connectingTo: server), on: loop)
            try await probe.send([1, 2])
            #expect(await probe.next()?.isOpened == true)
            let accepted = try server.accept()
            #expect(try await accepted.nextPackets(1, on: loop) == [[1, 2]])
            try await probe.close()
        }
    }

    @Test func connect_thatIsRefused_saysWhy() async throws {
        try await withLoop { loop in
            // Deaf at first, so that the answer comes when it is waited for: at the second attempt, after a second.
            let server = try LocalServer(backlog: 0)
            let crowd = try server.fill()
            let link = SocketLink(connectingTo: server)
            let probe = try await ChannelProbe(link, on: loop)
            await link.begun()
            server.close()
            let failure = await probe.next()?.failure
            crowd.forEach { $0.close() }
            #expect(failure?.code == .unreachable)
            #expect(failure?.message.contains("refused") == true)
            #expect(probe.eventCount == 1)
        }
    }

    @Test func connect_thatNobodyAnswers_isGivenUpAtItsLimit() async throws {
        try await withLoop { loop in
            let server = try LocalServer(backlog: 0)
            let crowd = try server.fill()
            let link = SocketLink(connectingTo: server, limit: .milliseconds(20))
            let probe = try await ChannelProbe(link, on: loop)
            let failure = await probe.next()?.failure
            #expect(failure == ChannelFailure(.unreachable, "the test does not answer (\(ETIMEDOUT))"))
            await link.ended()
            crowd.forEach { $0.close() }
        }
    }

    @Test func closeWhileConnecting_saysNothing_andClosesTheSocket() async throws {
        try await withLoop { loop in
            let server = try LocalServer(backlog: 0)
            let crowd = try server.fill()
            let link = SocketLink(connectingTo: server)
            let probe = try await ChannelProbe(link, on: loop)
            await link.begun()
            try await probe.close()
            await link.ended()
            #expect(probe.eventCount == 0)
            crowd.forEach { $0.close() }
        }
    }

    @Test func linkThatCannotBeOpened_saysSo_once() async throws {
        try await withLoop { loop in
            let link = SocketLink { () throws(ChannelFailure) in throw ChannelFailure(.adapter, "no adapter") }
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.failure == ChannelFailure(.adapter, "no adapter"))
            try await probe.send([1])
            try await probe.close()
            try await loop.perform {}
            #expect(probe.eventCount == 1)
        }
    }

    // MARK: Lingering

    @Test func closeAfterAPause_goesOnReading_andSaysNothing() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let link = SocketLink(ours, .packets)
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.isOpened == true)

            try await probe.close(after: .seconds(3600))
            for _ in 0..<5 { try theirs.write(all: [1]) }
            try await probe.close()  // Of no effect.
            try await loop.perform {}
            #expect(ours.raw >= 0)
            #expect(probe.eventCount == 1)
            theirs.close()
            await link.ended()
            #expect(ours.raw == -1)
        }
    }

    @Test func loopThatShutsDown_waitsForAChannelThatLingers() async throws {
        let (ours, theirs) = try packetSocketPair()
        let link = SocketLink(ours, .packets)
        try await withLoop { loop in
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.isOpened == true)
            try await probe.close(after: .milliseconds(50))
        }
        #expect(ours.raw == -1)
        theirs.close()
    }

    @Test func unpluggedWhileLingering_closesAtOnce() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let link = SocketLink(ours, .packets)
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.isOpened == true)
            try await probe.close(after: .seconds(3600))
            theirs.close()
            await link.ended()
            #expect(probe.eventCount == 1)
        }
    }

    @Test func bytesSentBeforeLingering_stillGoOut() async throws {
        try await withLoop { loop in
            let (ours, theirs) = try packetSocketPair()
            let link = SocketLink(ours, .packets, writesBlock: true)
            let probe = try await ChannelProbe(link, on: loop)
            #expect(await probe.next()?.isOpened == true)
            for packet in [[1], [2], [3]] as [[UInt8]] { try await probe.send(packet) }
            try await probe.close(after: .seconds(3600))
            #expect(try await theirs.nextPackets(3, on: loop) == [[1], [2], [3]])
            theirs.close()
            await link.ended()
        }
    }
}
