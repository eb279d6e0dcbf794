import BlueZTransport
import Domain
import Glibc
import LinuxIO
import MeterCodec
import MeterSimulator
import MeterTestKit
import SimulatedPeripheral
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct GATTSerialChannelTests {
    // MARK: A meter

    @Test(arguments: [
        (Int?.none, [Int]?.none), (23, nil), (517, nil), (23, [1]), (100, [20]), (517, [1, 19, 3, 60, 7]),
    ])
    func um25c_isReadToADecodedBlock(mtu: Int?, pieces: [Int]?) async throws {
        try await withLoop { loop in
            let sockets = radio(on: loop) { SimulatedRadio($0, .um, mtu: mtu, pieces: pieces, on: loop) }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, slots)
            #expect(await probe.next()?.isOpened == true)

            for _ in 0..<3 {
                try await probe.send([0xF0])
                let block = await probe.bytes(130)
                let readings = try decoded(block)
                let voltage = try #require(readings.first?[.voltage])
                #expect((4.0...24.0).contains(voltage))
            }

            try await probe.close()
            #expect(slots.calls == ["take ble", "up ble", "back ble"])
            try await sockets.allClosed()
        }
    }

    @Test(arguments: [SimulatedPeripheral.Layout.um, .twoServices, .dxBT24, .atorch])
    func eachLayout_carriesBytesBothWays(layout: SimulatedPeripheral.Layout) async throws {
        try await withLoop { loop in
            let sockets = radio(on: loop) { SimulatedRadio($0, layout, on: loop) }
            let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets)
            #expect(await probe.next()?.isOpened == true)
            try await probe.send([0xF0])
            #expect(await probe.bytes(130).count == 130)
            try await probe.close()
        }
    }

    @Test func fiftyLinks_runOnOneLoop() async throws {
        try await withLoop { loop in
            let sockets = radio(on: loop) { SimulatedRadio($0, .um, on: loop) }
            var probes: [ChannelProbe] = []
            for number in 0..<50 {
                var link = RadioLink.meter
                link.address = MACAddress(bits: 0x00_15A5_000000 + UInt64(number))
                probes.append(try await ChannelProbe(.ble(link), on: loop, sockets))
            }
            for probe in probes { #expect(await probe.next()?.isOpened == true) }
            #expect(try sockets.openCount == 50)

            for _ in 0..<3 {
                for probe in probes { try await probe.send([0xF0]) }
                for probe in probes { #expect(await probe.bytes(130).count == 130) }
            }

            for probe in probes { try await probe.close() }
            try await sockets.allClosed()
        }
    }

    // MARK: No meter, or none any more

    @Test func stranger_isUnsuitable_withItsServices() async throws {
        try await withLoop { loop in
            let sockets = radio(on: loop) { SimulatedRadio($0, .stranger, on: loop) }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, slots)
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .unsuitable)
            #expect(failure.message.contains("00:15:A5:00:05:92"))
            #expect(failure.message.contains("180D"))
            #expect(slots.calls.last == "back ble")
            try await sockets.allClosed()
        }
    }

    /// After each number of packets: while services are looked for, before the subscription, in the midst of a block.
    @Test func meterThatVanishes_isLost_whereverItWas() async throws {
        try await withLoop { loop in
            for packets in 0..<18 {
                let sockets = radio(on: loop) { SimulatedRadio($0, .um, packets: packets, on: loop) }
                let slots = ScriptedSlots()
                let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, slots)
                var failure: ChannelFailure?
                while failure == nil, let event = await probe.next() {
                    failure = event.failure
                    if event.isOpened {
                        try await probe.send([0xF0])
                        try await probe.send([0xF0])
                    }
                }
                #expect(failure?.code == .lost, "after \(packets) packets")
                #expect(slots.calls == ["take ble", "up ble", "back ble"])
                try await sockets.allClosed()
            }
        }
    }

    @Test func silentMeter_isUnreachable_afterTheSetUpLimit() async throws {
        try await withLoop { loop in
            let (host, meter) = try radioPair()
            let sockets = ScriptedSockets { _, _ throws(Errno) in host }
            var limits = RadioLimits.patient
            limits.setUp = .milliseconds(20)
            let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, limits: limits)
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .unreachable)
            #expect(failure.message.contains("agreeing on a packet length"))
            try await sockets.allClosed()
            meter.close()
        }
    }

    @Test func connectThatTakesTooLong_isUnreachable_withWhatToDo() async throws {
        try await withLoop { loop in
            let (host, meter) = try deafSocket()
            let sockets = ScriptedSockets { _, _ throws(Errno) in host }
            let slots = ScriptedSlots()
            var limits = RadioLimits.patient
            limits.connect = .milliseconds(20)
            let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, slots, limits: limits)
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .unreachable)
            #expect(failure.message.contains("connected to a phone"))
            #expect(slots.calls == ["take ble", "back ble"])
            try await sockets.allClosed()
            meter.close()
        }
    }

    @Test func socketThatIsRefused_saysWhy_andGivesTheSlotBack() async throws {
        try await withLoop { loop in
            let sockets = ScriptedSockets { _, _ throws(Errno) in throw Errno(EBUSY) }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, slots)
            let failure = try #require(await probe.next()?.failure)
            #expect(failure.code == .busy)
            #expect(failure.message.contains("bluetoothctl disconnect 00:15:A5:00:05:92"))
            #expect(slots.calls == ["take ble", "back ble"])
        }
    }

    @Test(arguments: [LinkAddress.ble(.meter), .spp(.meter)])
    func adapterThatBearsNoMore_makesNoSocket(link: LinkAddress) async throws {
        try await withLoop { loop in
            let sockets = ScriptedSockets { _, _ throws(Errno) in throw Errno(EIO) }
            let slots = ScriptedSlots(refusal: ChannelFailure(.adapter, "It is full."))
            let probe = try await ChannelProbe(link, on: loop, sockets, slots)
            #expect(await probe.next()?.failure == ChannelFailure(.adapter, "It is full."))
            #expect(slots.calls == ["take \(link.transport.rawValue)"])
            #expect(sockets.channels.isEmpty)
        }
    }

    /// Rubbish from the first packet on: it ends in a failure or in an open link, never in a hang or a leak.
    @Test(arguments: 0..<UInt64(30))
    func rubbish_leaksNothing(seed: UInt64) async throws {
        try await withLoop { loop in
            let (host, meter) = try radioPair()
            let sockets = ScriptedSockets { _, _ throws(Errno) in host }
            let slots = ScriptedSlots()
            let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, slots)
            var noise = SplitMix64(seed: seed)
            for _ in 0..<50 {
                let packet = noise.bytes(1 + Int(noise.bytes(1)[0]) % 40)
                // Fails once the host has given up, which is what is hoped for.
                _ = try? meter.write(packet: packet)
            }
            meter.close()
            var failure: ChannelFailure?
            while failure == nil, let event = await probe.next() { failure = event.failure }
            #expect(failure != nil, "seed \(seed)")
            #expect(slots.calls.last == "back ble")
            try await sockets.allClosed()
        }
    }

    // MARK: The contract of a channel

    @Test func closedChannel_isSilent_atEachStep() async throws {
        try await withLoop { loop in
            // Before the socket is made, while it connects, while services are looked for.
            let (deaf, deafMeter) = try deafSocket()
            let (silent, silentMeter) = try radioPair()
            for host in [deaf, silent] {
                let sockets = ScriptedSockets { _, _ throws(Errno) in host }
                let slots = ScriptedSlots()
                let probe = try await ChannelProbe(.ble(.meter), on: loop, sockets, slots)
                try await eventually("a link is tried") { !sockets.channels.isEmpty }
                try await probe.close()
                try await probe.close()
                try await probe.send([1])
                try await loop.perform {}
                #expect(probe.eventCount == 0)
                #expect(slots.calls.first == "take ble")
                #expect(slots.calls.count { $0 == "back ble" } == 1)
                try await eventually("the socket is closed") { host.raw < 0 }
            }
            deafMeter.close()
            silentMeter.close()
        }
    }

    @Test func handler_mayCloseTheChannel() async throws {
        try await withLoop { loop in
            let sockets = radio(on: loop) { SimulatedRadio($0, .um, on: loop) }
            let slots = ScriptedSlots()
            let box = Mutex<(any ByteChannel)?>(nil)
            let (closed, report) = AsyncStream.makeStream(of: Void.self)
            try await loop.perform {
                let opener = RadioChannelOpener(loop: loop, slots: slots, sockets: sockets, limits: .patient)
                let channel = opener.open(.ble(.meter), as: LineSettings()) { event in
                    guard case .opened = event else { return }
                    box.withLock { $0 }?.close()
                    report.finish()
                }
                box.withLock { $0 = channel }
            }
            for await _ in closed {}
            #expect(slots.calls == ["take ble", "up ble", "back ble"])
            try await loop.perform {}
            try await sockets.allClosed()
        }
    }

    // MARK: Support

    private func radio(
        on loop: IOLoop, _ make: @escaping @Sendable (FileDescriptor) -> SimulatedRadio
    ) -> ScriptedSockets {
        ScriptedSockets { _, _ throws(Errno) in
            let (host, meter) = try radioPair()
            _ = make(meter)
            return host
        }
    }

    private func decoded(_ block: [UInt8]) throws -> [Reading] {
        var driver = try #require(MeterCatalogue.standard.driver(for: .um25c, over: .ble))
        var readings: [Reading] = []
        driver.receive(block) { event in
            guard case .frame(let frame) = event else { return }
            frame.forEachReading { readings.append($0) }
        }
        return readings
    }
}
