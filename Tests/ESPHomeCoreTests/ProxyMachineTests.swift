import BluetoothCore
import Domain
import ESPHomeCore
import MeterCodec
import SimulatedPort
import Testing

struct ProxyMachineTests {
    @Test(arguments: [ProxyBench.key, nil])
    func proxy_isHeard_andBearsALink_inBothFramings(key: [UInt8]?) {
        var bench = ProxyBench(key: key, nodeKey: key)
        bench.begin()
        bench.run(.seconds(2))
        #expect(bench.state() == .searching)
        #expect(bench.machine.trouble == nil)
        #expect(bench.heard == [ProxyBench.meter: -61, ProxyBench.other: -61])
        #expect(bench.machine.info?.address == MACAddress(bits: 0x02_00_00_E5_32_03))

        bench.connect()
        #expect(bench.machine.linkCount == 1)
        guard case .up(let database, let mtu) = bench.events.last else { return #expect(Bool(false)) }
        #expect(mtu == 23)
        #expect(GATTSerialProfile(database)?.shape == .oneCharacteristic)
        #expect(bench.frames(through: database, mtu: mtu) > 0)

        bench.leave()
        bench.run(.seconds(1))
        #expect(bench.machine.linkCount == 0)
        #expect(bench.machine.refusal(of: ProxyBench.meter) == nil)
    }

    @Test func randomAddress_isConnectedToAsSuch() {
        var bench = ProxyBench()
        bench.begin()
        bench.run(.seconds(1))
        bench.connect(ProxyBench.other)
        #expect(bench.events.contains { if case .up = $0 { true } else { false } })
    }

    /// What each fault comes to: the state after two minutes, and what a person reads.
    @Test(
        arguments: [
            (nil, ProxyBench.key, [], "garage.local encrypts"), (ProxyBench.key, nil, [], "garage.local has no key"),
            ([UInt8](repeating: 9, count: 32), ProxyBench.key, [], "garage.local has another key"),
            (ProxyBench.key, ProxyBench.key, [.rejects], "refused the connection: Too many connections"),
            (nil, nil, [.oversized], "a number of more than four bytes"),
            (nil, nil, [.halfFrame], "did not tell about itself within 30s"),
        ] as [([UInt8]?, [UInt8]?, Set<SimulatedProxy.Fault>, String)])
    func faultOfTheConnection_isSaid_andTriedAgain(
        key: [UInt8]?, nodeKey: [UInt8]?, faults: Set<SimulatedProxy.Fault>, words: String
    ) {
        var bench = ProxyBench(key: key, nodeKey: nodeKey, faults: faults)
        bench.begin()
        bench.run(.seconds(180))
        #expect(bench.state() == .failed)
        #expect(bench.machine.trouble?.contains(words) == true, "\(bench.machine.trouble ?? "")")
        #expect((2...10).contains(bench.machine.recoveries))
        #expect(bench.heard.isEmpty)
    }

    /// Names and addresses are compared before the node is trusted and after, and a node that cannot serve is refused.
    @Test func nodeThatIsAnother_orCannot_isRefused() {
        let cases: [(NodeSettings, (inout SimulatedProxy.Options) -> Void, String)] = [
            (NodeSettings(host: "x", name: "attic"), { _ in }, "x is called \"simulated-proxy\""),
            (NodeSettings(host: "x", mac: MACAddress(bits: 5)), { _ in }, "x has the address"),
            (NodeSettings(host: "x"), { $0.features = 0 }, "x runs ESPHome 2026.6.5 without a Bluetooth proxy"),
            (NodeSettings(host: "x"), { $0.features = 7 }, "x runs ESPHome 2026.6.5, whose Bluetooth proxy is too old"),
        ]
        for (node, change, words) in cases {
            for key in [ProxyBench.key, nil] {
                var bench = ProxyBench(key: key, nodeKey: key, node: node, change)
                bench.begin()
                bench.run(.seconds(5))
                #expect(bench.state() == .failed)
                let told = bench.machine.trouble ?? ""
                #expect(told.hasPrefix(words) && !told.hasSuffix(".."), "\(told)")
                #expect(bench.heard.isEmpty)
            }
        }
    }

    @Test func passiveProxy_listens_andRefusesLinks() {
        var bench = ProxyBench { $0.features = 97 }
        bench.begin()
        bench.run(.seconds(2))
        #expect(bench.state() == .searching)
        #expect(!bench.heard.isEmpty)
        #expect(bench.machine.refusal(of: ProxyBench.meter)?.message.contains("active: true") == true)
    }

    @Test func proxyOfAnotherClient_isSaid_getsNoConnect_andIsTakenOnceItIsFree() {
        var bench = ProxyBench(key: nil, nodeKey: nil)
        let other = bench.stranger()
        bench.begin()
        bench.run(.seconds(15))
        #expect(bench.state() == .failed)
        #expect(bench.machine.trouble?.contains("probably Home Assistant") == true)
        #expect(bench.machine.refusal(of: ProxyBench.meter) != nil)
        bench.run(.seconds(200))
        #expect(bench.heard.isEmpty)

        bench.proxy.ended(other)
        bench.run(.seconds(75))
        #expect(bench.state() == .searching)
        #expect(!bench.heard.isEmpty)
        #expect(bench.machine.recoveries == 0)
    }

    @Test func lostProxy_costsItsLinks_andComesBack() {
        var bench = ProxyBench()
        bench.begin()
        bench.run(.seconds(2))
        bench.connect()
        bench.isReachable = false
        bench.atProxy { $0.reboot() }
        #expect(bench.events.last == .down(.proxyGone))
        #expect(bench.state() == .recovering)
        bench.run(.seconds(90))
        #expect(bench.state() == .failed)
        #expect(bench.machine.trouble == "garage.local cannot be reached. meterd connects again.")

        bench.isReachable = true
        bench.run(.seconds(70))
        #expect(bench.state() == .searching)
        // Each outage is noted once, however long it lasts.
        #expect(bench.notes.count == 2)
        #expect(bench.notes.last == .noteRecovered)
        bench.connect()
        #expect(bench.events.contains { if case .up = $0 { true } else { false } })
    }

    @Test func nodeThatIsSilent_isAsked_andGivenUp() {
        var bench = ProxyBench(faults: [.pingIgnored])
        bench.begin()
        // Advertisements count as life.
        bench.run(.seconds(300))
        #expect(bench.machine.recoveries == 0)
        bench.connect()
        bench.connect(ProxyBench.other)
        // Nothing more is heard now.
        bench.run(.seconds(100))
        #expect(bench.machine.recoveries == 1)
    }

    @Test(
        arguments: [
            // Within the 30 s that a session gives to an attempt, so that it hears the reason.
            ([.servicesCut], [.noServices], 10), ([.silent], [.timedOut], 21), ([.noMTU], [], 35),
            ([.notEstablished], [.failed(62)], 1),
        ] as [(Set<SimulatedProxy.Fault>, [ProxyLinkEnd], Int)])
    func linkThatFails_isToldOnce_andItsSlotComesBack(
        faults: Set<SimulatedProxy.Fault>, ends: [ProxyLinkEnd], seconds: Int
    ) {
        var bench = ProxyBench(faults: faults)
        bench.begin()
        bench.run(.seconds(1))
        bench.connect()
        bench.run(.seconds(seconds))
        let found = bench.events.compactMap { event -> ProxyLinkEnd? in
            if case .down(let end) = event { end } else { nil }
        }
        #expect(found == ends)
        if ends.isEmpty { bench.leave() }
        bench.run(.seconds(25))
        bench.proxy.options.faults = []
        bench.connect()
        guard case .up(_, let mtu) = bench.events.last else { return #expect(Bool(false)) }
        #expect(mtu == 23)
        #expect(bench.machine.linkCount == 1)
    }

    @Test func slots_areCounted_andOneThatIsNeverFree_isNotUsed() {
        var bench = ProxyBench(faults: [.slotKept]) { $0.slots = 1 }
        bench.begin()
        bench.run(.seconds(1))
        bench.connect()
        #expect(bench.machine.refusal(of: ProxyBench.other)?.isFull == true)
        bench.atProxy { $0.loseMeter(ProxyBench.meter) }
        #expect(bench.events.last == .down(.lost(8)))
        bench.run(.seconds(1))
        #expect(bench.machine.refusal(of: ProxyBench.other)?.isFull == true)
        #expect(bench.machine.linkCount == 0)
        // Asked all the same, it waits for its turn and is then told.
        bench.connect(ProxyBench.other)
        bench.run(.seconds(45))
        #expect(bench.events.last == .down(.noSlot))
    }

    /// What is sealed is numbered: it goes out in turn, although the first link's owner speaks while the proxy is told to
    /// connect to the second.
    @Test func linksThatAreWantedAtOnce_areMadeInTurn() {
        var bench = ProxyBench()
        bench.speaksAtOnce = true
        bench.begin()
        bench.run(.seconds(1))
        bench.atOnce {
            $0.connect()
            $0.connect(ProxyBench.other)
        }
        bench.run(.seconds(1))
        #expect(bench.machine.linkCount == 2)
        #expect(bench.machine.recoveries == 0)
        let names = bench.events.count { $0 == .packet(ATTPDU.readResponse(Array("UM25C".utf8)).bytes) }
        #expect(names == 2)
    }

    @Test func errorInPlaceOfAnAnswer_reachesWhoAsked() throws {
        var bench = ProxyBench(faults: [.gattError])
        bench.begin()
        bench.run(.seconds(1))
        bench.connect()
        bench.send(ATTPDU.writeRequest(handle: 10, value: [0xF0]).bytes)
        let error = ATTPDU.errorResponse(to: 0x12, handle: 10, error: ATTErrorCode(rawValue: 133))
        #expect(bench.events.last == .packet(error.bytes))
        bench.send(ATTPDU.readRequest(handle: 3).bytes)
        #expect(bench.events.last == .packet(ATTPDU.readResponse(Array("UM25C".utf8)).bytes))
        // A request that was lost in the proxy costs an answer, and not the link.
        bench.proxy.options.faults = [.congested]
        bench.send(ATTPDU.writeRequest(handle: 10, value: [0xF0]).bytes)
        #expect(bench.events.last == .packet(ATTPDU.writeResponse.bytes))
    }

    /// A proxy that outlives a broken connection may keep its links. Nobody else would end them.
    @Test func linkOfAnEarlierConnection_isEnded_andMadeAnew() {
        var bench = ProxyBench(faults: [.linksKept, .pingIgnored])
        bench.begin()
        bench.run(.seconds(1))
        bench.connect()
        bench.connect(ProxyBench.other)
        bench.run(.seconds(95))
        #expect(bench.machine.recoveries == 1)
        #expect(bench.machine.linkCount == 0)
        #expect(bench.proxy.allocated.isEmpty)
        bench.connect()
        #expect(bench.machine.linkCount == 1)
    }

    @Test func endThatTheProxyDoesNotTell_isSeenInItsSlots() {
        var bench = ProxyBench()
        bench.begin()
        bench.run(.seconds(1))
        bench.connect()
        bench.atProxy { $0.loseMeter(ProxyBench.meter, isTold: false) }
        #expect(bench.events.last == .down(.lost(0)))
        #expect(bench.machine.linkCount == 0)
    }

    @Test func activeSearch_isAskedForWhileMetersAreSought_andTakenBack() {
        var bench = ProxyBench()
        bench.begin()
        bench.run(.seconds(1))
        #expect(bench.proxy.mode == 0)
        bench.demand(true)
        #expect(bench.proxy.mode == 1)
        bench.demand(false)
        #expect(bench.proxy.mode == 0)
        bench.demand(true)
        bench.farewell()
        #expect(bench.proxy.lastMode == 0)
        #expect(bench.machine.linkCount == 0)
    }

    /// Whatever happens in whatever order: once it is over, every slot is free, each link was ended once, and the proxy works.
    @Test(arguments: 1...12)
    func randomLife_leaksNoSlot(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var bench = ProxyBench(key: seed % 2 == 0 ? nil : ProxyBench.key, nodeKey: seed % 2 == 0 ? nil : ProxyBench.key)
        let faults: [SimulatedProxy.Fault] = [.silent, .servicesCut, .gattError, .noMTU, .pingIgnored]
        bench.speaksAtOnce = true
        bench.begin()
        for _ in 0..<150 {
            let meter = Bool.random(using: &random) ? ProxyBench.meter : ProxyBench.other
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: bench.connect(meter)
            case 2: bench.leave(meter)
            case 3: bench.atProxy { $0.loseMeter(meter) }
            case 4: bench.atProxy { $0.reboot() }
            case 5: bench.isReachable.toggle()
            case 6: bench.proxy.options.faults = Set(faults.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
            default:
                bench.atOnce {
                    $0.connect(); $0.connect(ProxyBench.other)
                }
            }
            bench.run(.milliseconds(Int.random(in: 0...40_000, using: &random)))
        }
        (bench.proxy.options.faults, bench.isReachable) = ([], true)
        bench.leave()
        bench.leave(ProxyBench.other)
        bench.run(.seconds(200))
        #expect(bench.state() == .searching, "\(bench.machine.trouble ?? "")")
        #expect(bench.machine.linkCount == 0)
        #expect(bench.proxy.allocated.isEmpty)
        let ups = bench.events.count { if case .up = $0 { true } else { false } }
        #expect(ups > 5)
        bench.connect()
        #expect(bench.machine.refusal(of: ProxyBench.other) == nil)
    }

    /// Reboots, outages of the network, other clients, full slots, errors, lost links and a person's disconnects: no slot is
    /// lost, no connect goes to a proxy that another client has, and each byte of a meter is accounted for.
    @Test(arguments: [1, 2, 3])
    func randomDay_losesNoSlotAndNoReading(seed: UInt64) {
        var day = ProxyDay(seed: seed)
        day.run(.seconds(24 * 3600))
        #expect(day.findings.isEmpty, "seed \(seed)")
        let tally = day.tally
        #expect(tally.troubles.count == 10 && tally.ups > 100 && tally.frames > 2000, "\(tally)")
        let ends: Set<ProxyLinkEnd> = [.noSlot, .timedOut, .failed(62), .noServices, .lost(8), .lost(0), .proxyGone]
        #expect(tally.ends.intersection(ends).count >= 4, "seed \(seed): \(tally.ends)")
    }

    @Test(arguments: ProxyDay.Bug.allCases)
    func bugThatIsPutIn_isFound(bug: ProxyDay.Bug) {
        var day = ProxyDay(seed: 1, bug: bug)
        day.run(.seconds(24 * 3600))
        #expect(!day.findings.isEmpty)
    }

    /// Anything at all may come from a node: it ends in a state that has words, and time goes on.
    @Test func randomBytes_neverTrap() {
        var random = SplitMix64(seed: 0xE5)
        for round in 0..<300 {
            var machine = ProxyMachine(NodeSettings(host: "x"))
            var now = MonotonicTime.origin
            _ = machine.begin()
            let security: APISecurity =
                round % 2 == 0 ? .plaintext : .key(ProxyBench.key, ephemeral: [UInt8](repeating: 1, count: 32))
            _ = machine.opened(security, at: now)
            for _ in 0..<20 {
                let id = UInt32([2, 10, 126, 81, 69, 71, 72, 79, 82, 83, 84, 93, 5].randomElement(using: &random) ?? 2)
                let body = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                _ = machine.received(FrameWriter.plaintext(APIFrame(id: id, body: body)), at: now)
                now = now + .seconds(1)
                _ = machine.woke(at: now)
            }
            #expect(machine.state(at: now) == .searching || machine.trouble?.isEmpty != true)
        }
    }
}

extension ProxyBench {
    /// Plays the meter's line for a while, as a session does.
    ///
    /// - Returns: the number of valid frames.
    mutating func frames(through database: GATTDatabase, mtu: Int) -> Int {
        guard var driver = MeterCatalogue.standard.driver(for: .um25c, over: .ble) else { return 0 }
        var (line, frames, seen) = (GATTSerialMachine(), 0, events.count)
        var isOpen = false
        _ = line.linkUp(knowing: database, mtu: mtu, at: now)
        for _ in 0..<20 {
            while let packet = line.nextPDU(at: now) { send(packet) }
            run(.milliseconds(500))
            for case .packet(let packet) in events[seen...] {
                switch line.received(packet) {
                case .opened: isOpen = true
                case .deliver(let bytes):
                    driver.receive(bytes) { if case .frame = $0 { frames += 1 } }
                case .failed, .none: break
                }
            }
            seen = events.count
            if isOpen { _ = line.send(driver.poll()) }
        }
        return frames
    }
}
