import BlueZTransport
import Gateway
import Glibc
import IOPorts
import LinuxIO
import MeterModel
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RFCOMMChannelTests {
    @Test func port_isTheOneThatTheMeterTells() async throws {
        try await withLoop { loop in
            let (host, meter) = try radioPair(SOCK_STREAM)
            let sockets = ScriptedSockets(search: { _ throws(Errno) in 7 }) { _, _ throws(Errno) in host }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, slots)
            #expect(await probe.next()?.isOpened == true)
            #expect(sockets.channels == [7])

            try meter.write(all: [1, 2, 3])
            #expect(await probe.bytes(3) == [1, 2, 3])
            try await probe.close()
            #expect(slots.calls == ["take spp", "up spp", "back spp"])
            try await sockets.allClosed()
        }
    }

    @Test(arguments: [Int32?.none, ECONNREFUSED, ECONNRESET, EPROTO])
    func meterThatTellsOfNoPort_isTriedOnTheUsualOnes(reason: Int32?) async throws {
        try await withLoop { loop in
            let (host, _) = try radioPair(SOCK_STREAM)
            let sockets = ScriptedSockets(search: { _ throws(Errno) in
                if let reason { throw Errno(reason) }
                return nil
            }) { _, channel throws(Errno) in
                guard channel == 2 else { throw Errno(ECONNREFUSED) }
                return host
            }
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets)
            #expect(await probe.next()?.isOpened == true)
            #expect(sockets.channels == [1, 2])
            try await probe.close()
        }
    }

    @Test func meterWithoutAnyPort_isUnsuitable_onceAllWereTried() async throws {
        try await withLoop { loop in
            let sockets = ScriptedSockets { _, _ throws(Errno) in throw Errno(ECONNREFUSED) }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, slots)
            #expect(await probe.next()?.failure?.code == .unsuitable)
            #expect(sockets.channels == [1, 2])
            #expect(slots.calls == ["take spp", "back spp"])
            #expect(probe.eventCount == 1)
        }
    }

    @Test(arguments: [
        (EHOSTDOWN, ChannelFailure.Code.unreachable), (ETIMEDOUT, .unreachable), (EHOSTUNREACH, .adapter),
    ])
    func meterThatIsNotThere_isNotTriedOnEachChannel(reason: Int32, code: ChannelFailure.Code) async throws {
        try await withLoop { loop in
            let sockets = ScriptedSockets(search: { _ throws(Errno) in throw Errno(reason) }) { _, _ throws(Errno) in
                throw Errno(EIO)
            }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, slots)
            #expect(await probe.next()?.failure?.code == code)
            #expect(sockets.channels.isEmpty)
            #expect(slots.calls == ["take spp", "back spp"])
        }
    }

    @Test func closing_endsTheSearch_andNothingIsSaid() async throws {
        try await withLoop { loop in
            let (searching, reportSearching) = AsyncStream.makeStream(of: Void.self)
            let (ended, reportEnded) = AsyncStream.makeStream(of: Void.self)
            let sockets = ScriptedSockets(search: { cancel throws(Errno) in
                reportSearching.finish()
                var wait = pollfd(fd: cancel.raw, events: Int16(POLLIN), revents: 0)
                try Errno.check { poll(&wait, 1, -1) }
                reportEnded.finish()
                throw Errno(ECANCELED)
            }) { _, _ throws(Errno) in throw Errno(EIO) }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, slots)
            for await _ in searching {}
            try await probe.close()
            for await _ in ended {}
            try await loop.perform {}
            #expect(probe.eventCount == 0)
            #expect(sockets.channels.isEmpty)
            #expect(slots.calls == ["take spp", "back spp"])
        }
    }

    @Test func connectThatTakesTooLong_isUnreachable() async throws {
        try await withLoop { loop in
            let (host, meter) = try deafSocket()
            let sockets = ScriptedSockets(search: { _ throws(Errno) in 1 }) { _, _ throws(Errno) in host }
            var limits = RadioLimits.patient
            limits.connect = .milliseconds(20)
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, limits: limits)
            #expect(await probe.next()?.failure?.code == .unreachable)
            try await sockets.allClosed()
            meter.close()
        }
    }

    @Test func search_begins_onceWhoeverAnswersPINsIsReady() async throws {
        try await withLoop { loop in
            let sockets = ScriptedSockets { _, _ throws(Errno) in throw Errno(ECONNREFUSED) }
            let why = ChannelFailure(.busy, "Somebody else said no.")
            let slots = ScriptedSlots(explanation: why, isSlow: true)
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, slots)
            try await loop.perform {}
            #expect(sockets.channels.isEmpty)
            try await loop.perform { slots.letGoOn() }
            #expect(await probe.next()?.failure == why)
            #expect(sockets.channels == [1, 2])
            #expect(slots.calls == ["take spp", "back spp"])
        }
    }

    @Test func closing_whileNobodyIsReadyYet_beginsNothing() async throws {
        try await withLoop { loop in
            let sockets = ScriptedSockets { _, _ throws(Errno) in throw Errno(ECONNREFUSED) }
            let slots = ScriptedSlots(isSlow: true)
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, slots)
            try await probe.close()
            try await loop.perform { slots.letGoOn() }
            try await loop.perform {}
            #expect(probe.eventCount == 0)
            #expect(sockets.channels.isEmpty)
            #expect(slots.calls == ["take spp", "back spp"])
        }
    }

    @Test func vanishedMeter_isLost() async throws {
        try await withLoop { loop in
            let (host, meter) = try radioPair(SOCK_STREAM)
            let sockets = ScriptedSockets(search: { _ throws(Errno) in 1 }) { _, _ throws(Errno) in host }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.spp(.meter), on: loop, sockets, slots)
            #expect(await probe.next()?.isOpened == true)
            meter.close()
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .lost)
            #expect(failure.message.contains("00:15:A5:00:05:92"))
            #expect(slots.calls.last == "back spp")
            try await sockets.allClosed()
        }
    }
}
