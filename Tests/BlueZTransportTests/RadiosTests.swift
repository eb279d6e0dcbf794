import BlueZTransport
import BluetoothCore
import Domain
import Gateway
import GatewayAPI
import Glibc
import LinuxIO
import MeterCodec
import MeterTestKit
import Synchronization
import Testing

struct RadiosTests {
    private let meter = RadioAddress(MACAddress(bits: 0x0011_2233_4455), .lePublic)
    private let named: [UInt8] = [6, 0x09] + Array("UM25C".utf8)
    private let adapter: UInt64 = 0x001A_7DDA_7113

    private func adapter(_ manner: FakeKernel.Manner = .good, hearing: Bool = true) -> FakeKernel.Adapter {
        var adapter = FakeKernel.Adapter(adapter, manner: manner)
        if hearing { adapter.devices = [(meter, -60, named)] }
        return adapter
    }

    private var link: RadioLink {
        RadioLink(address: meter.address, isRandom: false, adapter: MACAddress(bits: adapter))
    }

    // MARK: Discovery

    @Test func meterThatIsHeard_appears_withItsLink() async throws {
        try await withRadios([0: adapter()]) { bench in
            let event = await bench.next()
            #expect(
                event
                    == .appeared(
                        Sighting(
                            id: .mac(meter.address), model: .um25c, name: "UM25C", link: .ble(link), rssi: -60)))
            let status = await bench.radios.adapters()
            #expect(status.map(\.name) == ["hci0"])
            #expect(status.first?.state == .searching)
            #expect(status.first?.heard == 1)
            #expect(status.first?.error == nil)
        }
    }

    @Test func classicMeter_appears_overSPP_andItsNameIsAskedFor() async throws {
        let classic = RadioAddress(meter.address, .classic)
        try await withRadios([0: adapter(hearing: false)]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            try await bench.perform { $0.hear(classic, rssi: -50, [4, 0x0D, 4, 5, 0x1F], flags: 1) }
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0025 && $0.parameters.last == 0 } }
            try await bench.perform { $0.hear(classic, rssi: 0, named) }
            guard case .appeared(let sighting)? = await bench.next() else {
                Issue.record("nothing appeared")
                return
            }
            #expect(sighting.link == .spp(link))
            #expect(sighting.model == .um25c)
        }
    }

    /// An Atorch by its own words (syssi/esphome-atorch-dl24 issue 10), and one whose address will not last.
    @Test func whatIsNotShown_isCounted_andListedWithItsReason() async throws {
        let atorch = RadioAddress(try #require(MACAddress("41:B8:12:0A:A8:37")), .lePublic)
        let passing = RadioAddress(MACAddress(bits: 0x7A_0000_0000_01), .leRandom)
        var crowd = adapter(hearing: false)
        let name: [UInt8] = [9, 0x09] + Array("DL24_BLE".utf8)
        crowd.devices = [(passing, -70, named), (atorch, -60, name)]
        try await withRadios([0: crowd]) { bench in
            let sighting = await bench.next()?.appeared
            #expect(sighting?.id == .mac(atorch.address))
            #expect(sighting?.model == .dl24)
            let status = await bench.radios.adapters().first
            #expect(status?.heard == 2)
            #expect(status?.dropped == 1)
            let others = await bench.radios.others()
            #expect(others.map(\.address) == ["7A:00:00:00:00:01"])
            #expect(others.first?.looks_like_meter == true)
            #expect(others.first?.reason.hasPrefix("its address changes") == true)
        }
    }

    @Test func support_hasWhatMetersAnnounce_andWhatWasAskedOfTheKernel() async throws {
        var crowd = adapter()
        crowd.devices.append((RadioAddress(MACAddress(bits: 0x0066_7788_99AA), .lePublic), -70, []))
        try await withRadios([0: crowd]) { bench in
            _ = await bench.next()
            let support = await bench.radios.support()
            #expect(support.advertisements.map(\.address) == ["\(meter.address)"])
            #expect(support.advertisements.first?.data == [Hex.encode(named)])
            #expect(support.adapters.map(\.name) == ["hci0"])
            #expect(support.adapters.first?.reset == nil)
            #expect(support.management.contains { $0.dir == "out" && $0.words == "command 0x0023" })
            #expect(support.management.contains { $0.dir == "in" && $0.words == "discovering: on" })
            #expect(!support.management.contains { $0.words.contains("99:AA") })
        }
    }

    @Test func busyAdapter_searches_withAnothersDiscovery() async throws {
        try await withRadios([0: adapter(.busy)]) { bench in
            #expect(await bench.next()?.appeared?.model == .um25c)
            let status = await bench.radios.adapters().first
            #expect(status?.state == .searching)
            #expect(status?.discovery == .another)
        }
    }

    @Test func discoveryThatEnds_isStartedAgain() async throws {
        try await withRadios([0: adapter()]) { bench in
            _ = await bench.next()
            // Soon, in this test's times, an end is an ordinary one.
            try await bench.perform { $0.endDiscovery() }
            await bench.kernel.receives { $0.count { $0.opcode == 0x0023 } == 2 }
        }
    }

    @Test func unprivilegedProgram_isForbidden_andSaysWhatIsMissing() async throws {
        try await withRadios([0: adapter(.unprivileged)]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            let status = try await bench.status { $0.state == .forbidden }
            #expect(status.error?.contains("CAP_NET_ADMIN") == true)
        }
    }

    @Test func secondAdapter_isKnownByItsAddress() async throws {
        var second = adapter()
        second.info.address = MACAddress(bits: 0x0099)
        try await withRadios([0: adapter(), 3: second]) { bench in
            let links = [await bench.next()?.appeared?.link, await bench.next()?.appeared?.link]
            #expect(links.contains(.ble(link)))
            #expect(
                links.contains(
                    .ble(RadioLink(address: meter.address, isRandom: false, adapter: MACAddress(bits: 0x0099)))))
        }
    }

    // MARK: Coming and going

    @Test func adapterThatIsUnplugged_isMissed_andItsMetersVanish() async throws {
        try await withRadios([0: adapter()]) { bench in
            _ = await bench.next()
            try await bench.perform { $0.unplug(0) }
            guard case .vanished? = await bench.next() else {
                Issue.record("the meter did not vanish")
                return
            }
            let status = await bench.radios.adapters()
            #expect(status.map(\.state) == [.gone])
            #expect(status.first?.name == nil)
            let again = adapter()
            try await bench.perform { $0.plugIn(1, again) }
            #expect(await bench.next()?.appeared?.link == .ble(link))
            #expect(await bench.radios.adapters().map(\.name) == ["hci1"])
        }
    }

    @Test func channelThatIsLost_isOpenedAgain() async throws {
        try await withRadios([0: adapter()]) { bench in
            _ = await bench.next()
            try await bench.perform { $0.end() }
            guard case .vanished? = await bench.next() else {
                Issue.record("the meter did not vanish")
                return
            }
            #expect(await bench.next()?.appeared != nil)
        }
    }

    @Test func kernelWithoutBluetooth_isSaidOnce_andHasNoAdapters() async throws {
        let book = LogBook()
        try await withLoop { loop in
            var configuration = Radios.Configuration()
            configuration.reopenInterval = .milliseconds(1)
            let (tries, continuation) = AsyncStream.makeStream(of: Void.self)
            configuration.openSocket = { () throws(Errno) in
                continuation.yield()
                throw Errno(EAFNOSUPPORT)
            }
            let radios = Radios(loop: loop, configuration: configuration, logger: book.logger)
            let running = Task { await radios.run { _ in } }
            var count = 0
            for await _ in tries {
                count += 1
                if count == 5 { break }
            }
            #expect(await radios.adapters().isEmpty)
            running.cancel()
            await running.value
        }
        #expect(book.entries(saying: "kernel has no Bluetooth").count == 1)
    }

    // MARK: Health

    @Test func silentScanner_climbsTheLadder() async throws {
        var timing = AdapterTiming()
        timing.silenceLimitNever = .milliseconds(20)
        try await withRadios([0: adapter(hearing: false)], timing: timing) { bench in
            await bench.kernel.receives { commands in
                commands.contains { $0.opcode == 0x0005 && $0.parameters == [0] }
                    && commands.contains { $0.opcode == 0x0005 && $0.parameters == [1] }
            }
            let status = try await bench.status { $0.state == .failed }
            #expect(status.error?.contains("heard no device") == true)
            #expect(status.recoveries >= 2)
            let meter = meter, named = named
            try await bench.perform { $0.hear(meter, rssi: -60, named) }
            _ = await bench.next()
            #expect(try await bench.status { $0.state != .failed }.error == nil)
            #expect(bench.book.entries(saying: "adapter recovery started").count >= 2)
        }
    }

    /// It begins to search only once somebody follows, so that no step comes before.
    @Test func steps_areToldToWhoeverFollows() async throws {
        var timing = AdapterTiming()
        timing.silenceLimitNever = .milliseconds(20)
        let remedies = Mutex<[AdapterRemedy]>([])
        let changes = ChangeMarks()
        try await withRadios([0: adapter(hearing: false)], timing: timing, search: .onDemand) { bench in
            _ = try await bench.status { $0.state == .idle }
            await bench.radios.follow {
                RadioDemand(missing: [.ble: 1])
            } remedied: { remedy in
                remedies.withLock { $0.append(remedy) }
            } changed: {
                changes.mark(.host)
            }
            let status = try await bench.status { $0.state == .failed }
            #expect(!changes.isEmpty)
            let told = remedies.withLock { $0 }
            #expect(told.map(\.words) == ["discovery is restarted", "the adapter is switched off and on"])
            #expect(told.allSatisfy { "\($0.adapter)" == status.address && $0.cause.contains("heard no device") })
        }
    }

    @Test func muteAdapter_isLookedAfter() async throws {
        var timing = AdapterTiming()
        timing.answerLimit = .milliseconds(5)
        timing.powerLimit = .milliseconds(5)
        timing.retryMax = .milliseconds(5)
        try await withRadios([0: adapter(.mute)], timing: timing) { bench in
            let status = try await bench.status { $0.state == .failed }
            #expect(status.address == "unknown")
            #expect(status.error?.contains("did not answer") == true)
        }
    }

    // MARK: Links and pairing

    @Test func attempt_letsDiscoveryRest_andPairsWithThePIN() async throws {
        try await withRadios([0: adapter()]) { bench in
            _ = await bench.next()
            let link = link
            let radios = bench.radios
            #expect(try await bench.loop.perform { radios.take(link, over: .spp) } == nil)
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0024 } }
            #expect(try await bench.status { $0.state == .idle }.links == 1)
            let device = RadioAddress(meter.address, .classic)
            try await bench.perform { $0.askForPIN(device) }
            await bench.kernel.receives {
                $0.contains { $0.opcode == 0x0016 && $0.parameters[7..<12] == [4, 0x31, 0x32, 0x33, 0x34] }
            }
            try await bench.loop.perform { radios.linkUp(link, over: .spp) }
            await bench.kernel.receives { $0.count { $0.opcode == 0x0023 } == 2 }
            try await bench.loop.perform { radios.giveBack(link, over: .spp) }
            #expect(await radios.adapters().first?.links == 0)
        }
    }

    /// What the kernel tells others when bluetoothd starts (seen in the laboratory, with 5.66).
    @Test func bluetoothdThatStarts_endsOurRound() async throws {
        try await withRadios([0: adapter()], rest: .seconds(600)) { bench in
            _ = await bench.next()
            let one = meter
            try await bench.perform { $0.tell(0x0015, 0, [0x55, 0x44, 0x33, 0x22, 0x11, 0, one.kind.rawValue]) }
            let last = try await bench.loop.perform { bench.kernel.received.last?.opcode }
            #expect(last == 0x0023)
            try await bench.perform { $0.tell(0x0015, 0, [0, 0, 0, 0, 0, 0, 0]) }
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0024 } }
        }
    }

    /// Whatever else waits for the adapter, and before the connect.
    @Test func attemptOverLE_loadsASupervisionTimeout_pastAnAdapterThatDoesNotAnswer() async throws {
        try await withRadios([0: adapter()]) { bench in
            _ = await bench.next()
            let link: RadioLink = link
            let random = RadioLink(address: meter.address, isRandom: true, adapter: link.adapter)
            let radios: Radios = bench.radios
            try await bench.perform { (kernel: FakeKernel) in kernel.adapters[0]?.manner = .mute }
            _ = try await bench.loop.perform { radios.take(link, over: .ble) }
            _ = try await bench.loop.perform { radios.take(random, over: .ble) }
            _ = try await bench.loop.perform { radios.take(link, over: .spp) }
            await bench.kernel.receives { $0.count { $0.opcode == 0x0035 } == 2 }
            let loaded = try await bench.loop.perform {
                bench.kernel.received.filter { $0.opcode == 0x0035 }.map(\.parameters)
            }
            let device: [UInt8] = [0x55, 0x44, 0x33, 0x22, 0x11, 0x00]
            // 30 to 50 ms, no latency, 8 s.
            let parameters: [UInt8] = [0x18, 0, 0x28, 0, 0, 0, 0x20, 0x03]
            let bodies: [[UInt8]] = [1, 2].map { kind in [1, 0] + device + [kind] + parameters }
            #expect(loaded == bodies)
        }
    }

    @Test func loadedParameters_thatAreRefused_keepNoLinkFromBeingMade() async throws {
        try await withRadios([0: adapter(.unprivileged)]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            _ = try await bench.status { $0.state == .forbidden }
            let (link, radios) = (link, bench.radios)
            let refusal = try await bench.loop.perform { radios.take(link, over: .ble) }
            #expect(refusal == nil)
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0035 } }
            #expect(await bench.radios.adapters().first?.links == 1)
        }
    }

    // MARK: What meters and people need

    @Test func searchOnDemand_beginsWhenAMeterIsMissing_andEndsWhenNoneIs() async throws {
        let isMissing = Mutex(false)
        try await withRadios([0: adapter()], search: .onDemand) { bench in
            _ = try await bench.status { $0.state == .idle }
            let before = try await bench.loop.perform { bench.kernel.received.map(\.opcode) }
            #expect(!before.contains(0x0023))
            await bench.radios.follow {
                RadioDemand(missing: isMissing.withLock { $0 } ? [.ble: 1] : [:])
            } remedied: {
                _ in
            } changed: {
            }
            isMissing.withLock { $0 = true }
            await bench.radios.demandChanged()
            #expect(await bench.next()?.appeared?.model == .um25c)
            #expect(try await bench.status { $0.state == .searching }.error == nil)
            isMissing.withLock { $0 = false }
            await bench.radios.demandChanged()
            await bench.kernel.receives { $0.last?.opcode == 0x0024 }
            #expect(try await bench.status { $0.state == .idle }.error == nil)
        }
    }

    @Test func personWhoLooks_isHeard_thoughNothingIsMissing() async throws {
        try await withRadios([0: adapter()], search: .onDemand) { bench in
            _ = try await bench.status { $0.state == .idle }
            await bench.radios.sought()
            #expect(await bench.next()?.appeared?.model == .um25c)
            let asked = try await bench.loop.perform { bench.kernel.received }
            #expect(asked.contains { $0.opcode == 0x0023 && $0.parameters == [7] })
        }
    }

    @Test func strangerWhoWantsToPair_getsNoAnswerFromUs() async throws {
        try await withRadios([0: adapter()]) { bench in
            _ = await bench.next()
            let device = RadioAddress(MACAddress(bits: 99), .classic)
            try await bench.perform { kernel in
                kernel.askForPIN(device)
                kernel.endDiscovery()
            }
            await bench.kernel.receives { $0.count { $0.opcode == 0x0023 } == 2 }
            let opcodes = try await bench.loop.perform { bench.kernel.received.map(\.opcode) }
            #expect(!opcodes.contains(0x0016) && !opcodes.contains(0x0017))
        }
    }

    @Test func missingAdapter_grantsNoLink() async throws {
        try await withRadios([0: adapter()]) { bench in
            _ = await bench.next()
            let radios = bench.radios
            let other = RadioLink(address: meter.address, isRandom: false, adapter: MACAddress(bits: 5))
            let failure = try await bench.loop.perform { radios.take(other, over: .ble) }
            #expect(failure?.code == .adapter)
        }
    }

    @Test func malformedPackets_areSaid_andDoNoHarm() async throws {
        try await withRadios([0: adapter(hearing: false)]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            let meter = meter, named = named
            try await bench.perform { kernel in
                kernel.send([1, 2, 3])
                kernel.send([0x12, 0, 0, 0, 9, 0, 1])
                kernel.hear(meter, rssi: -60, named)
            }
            #expect(await bench.next()?.appeared != nil)
            #expect(bench.book.entries(saying: "malformed Bluetooth packet ignored").count == 2)
        }
    }

    @Test func end_leavesTheAdapterQuiet_andNothingBehind() async throws {
        try await withLoop { loop in
            let (kernel, socket) = try FakeKernel.make(on: loop)
            let adapter = adapter()
            try await loop.perform {
                kernel.adapters = [0: adapter]
                try kernel.begin()
            }
            var configuration = Radios.Configuration()
            configuration.openSocket = { socket }
            let radios = Radios(loop: loop, configuration: configuration, logger: LogBook().logger)
            let running = Task { await radios.run { _ in } }
            await kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            running.cancel()
            await running.value
            await kernel.receives { $0.last?.opcode == 0x0024 }
            #expect(socket.raw == -1)
        }
    }
}

extension SightingEvent {
    var appeared: Sighting? { if case .appeared(let sighting) = self { sighting } else { nil } }
}
