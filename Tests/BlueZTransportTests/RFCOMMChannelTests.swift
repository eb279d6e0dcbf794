import Domain
import Gateway
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

@testable import BlueZTransport

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

    /// A channel of an A3-B opens and stays silent: the other comes first the next time, and stays first as long as the meter
    /// answers there. The port that a meter tells is taken whatever happened.
    @Test func silentChannel_isTriedLast_theNextTime() async throws {
        try await withLoop { loop in
            let meters = Mutex<[FileDescriptor]>([])
            let told = Mutex<UInt8?>(nil)
            let sockets = ScriptedSockets(search: { _ throws(Errno) in told.withLock { $0 } }) { _, _ throws(Errno) in
                guard let pair = try? radioPair(SOCK_STREAM) else { throw Errno(EMFILE) }
                meters.withLock { $0.append(pair.1) }
                return pair.0
            }
            let opener = RadioChannelOpener(loop: loop, slots: ScriptedSlots(), sockets: sockets, limits: .patient)
            func link(answering: Bool) async throws {
                let probe = try await ChannelProbe(on: loop) {
                    opener.open(.spp(.meter), as: LineSettings(baudRate: 9600), handle: $0)
                }
                #expect(await probe.next()?.isOpened == true)
                if answering {
                    _ = try meters.withLock { try $0.last?.write(all: [1]) }
                    #expect(await probe.bytes(1) == [1])
                }
                try await probe.close()
            }

            try await link(answering: false)
            #expect(sockets.channels == [1])
            try await link(answering: true)
            try await link(answering: true)
            #expect(sockets.channels == [1, 2, 2])
            // Then it is silent there, too, and the first is as good as any.
            try await link(answering: false)
            try await link(answering: true)
            #expect(sockets.channels == [1, 2, 2, 2, 1])
            try await link(answering: false)
            told.withLock { $0 = 1 }
            try await link(answering: false)
            #expect(sockets.channels == [1, 2, 2, 2, 1, 1, 1])
            meters.withLock { for meter in $0 { meter.close() } }
        }
    }

    /// Of more meters than are remembered, the later ones are tried in the usual order.
    @Test func silentChannels_areRememberedForSoManyMeters() {
        let silent = SilentChannels()
        for bits in 0..<UInt64(SilentChannels.metersMax + 1) {
            silent.ended(1, of: MACAddress(bits: bits), wasHeard: false)
        }
        func order(_ bits: Int) -> [UInt8] { silent.order([1, 2, 3], for: MACAddress(bits: UInt64(bits))) }
        #expect(order(0) == [2, 3, 1])
        #expect(order(SilentChannels.metersMax - 1) == [2, 3, 1])
        #expect(order(SilentChannels.metersMax) == [1, 2, 3])
        // A known one may still change its mind, and makes room when it answers.
        silent.ended(2, of: MACAddress(bits: 0), wasHeard: false)
        #expect(order(0) == [1, 3, 2])
        silent.ended(1, of: MACAddress(bits: 0), wasHeard: true)
        #expect(order(0) == [1, 3, 2])
        silent.ended(2, of: MACAddress(bits: 0), wasHeard: true)
        #expect(order(0) == [1, 2, 3])
        silent.ended(1, of: MACAddress(bits: UInt64(SilentChannels.metersMax)), wasHeard: false)
        #expect(order(SilentChannels.metersMax) == [2, 3, 1])
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
