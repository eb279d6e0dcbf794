import BluetoothCore
import Domain
import Testing

/// Rounds, rests, and the share of the air that they come to.
struct AdapterAirTests {
    private static let missing = SearchDemand(missing: .lowEnergy, missingCount: 1)
    private static let missingClassic = SearchDemand(missing: .interleaved, missingCount: 1)
    private static let linked = SearchDemand()

    // MARK: The share of the air

    /// What Docs/RadiosAndPlugs.md says.
    @Test(arguments: [
        (SearchMode.always, 0, 57), (.always, 1, 57), (.gentle, 1, 50), (.onDemand, 1, 50), (.gentle, 0, 8),
        (.onDemand, 0, 0),
    ])
    func share_isWhatTheModeSays(mode: SearchMode, missing: Int, percent: Int) {
        var radio = Radio(mode, missing == 0 ? Self.linked : Self.missing)
        // Whole rounds.
        #expect(radio.share(of: .seconds(mode == .gentle && missing == 0 ? 600 : 288)) == percent)
    }

    @Test func meterThatIsMissingForLong_takesLess() {
        var radio = Radio(.gentle, Self.missing)
        _ = radio.share(of: .seconds(310))
        #expect(radio.share(of: .seconds(560)) == 28)
        // Another one is missing, too.
        radio.demand(SearchDemand(missing: .lowEnergy, missingCount: 2))
        #expect(radio.share(of: .seconds(290)) >= 48)
    }

    @Test func fastStream_overASharedAntenna_leavesNothing_andLittleWhereAMeterIsMissing() {
        var radio = Radio(.gentle, SearchDemand(hasFastStream: true), isShared: true)
        #expect(radio.share(of: .seconds(600)) == 0)
        radio.demand(SearchDemand(missing: .lowEnergy, missingCount: 1, hasFastStream: true))
        #expect(radio.share(of: .seconds(600)) == 8)
        var plug = Radio(.gentle, SearchDemand(hasFastStream: true))
        #expect(plug.share(of: .seconds(600)) == 8)
    }

    /// It is heard again as soon as the other host lets go.
    @Test func meterThatAnotherHostHas_isListenedFor_nowAndThen() {
        var radio = Radio(.onDemand, SearchDemand(hasDistant: true))
        #expect(radio.share(of: .seconds(600)) == 8)
    }

    @Test func personWhoLooks_hasNearlyAllOfTheAir_forAsLongAsTheyLook() {
        var radio = Radio(.onDemand, Self.linked)
        #expect(radio.share(of: .seconds(100)) == 0)
        radio.demand(SearchDemand(byHandUntil: radio.now + .seconds(100)))
        #expect(radio.probe.lastSent == .startDiscovery(.interleaved))
        #expect(radio.share(of: .seconds(100)) >= 88)
        #expect(radio.share(of: .seconds(100)) == 0)
        #expect(radio.probe.machine.state == .idle)
    }

    /// One round after another was bluetoothd's way to InProgress, and habluetooth's to a reset.
    @Test func roundsOfOneProgram_areFurtherApart_thanTheRestOfAnother() {
        var radio = Radio(.always, Self.missing)
        _ = radio.share(of: .seconds(600))
        #expect(radio.rests.count > 20)
        // BlueZ src/adapter.c, IDLE_DISCOV_TIMEOUT, and a second for a timer that counts seconds.
        #expect(radio.rests.allSatisfy { $0 > .seconds(6) })
    }

    @Test func discoveryTime_addsUp() {
        var radio = Radio(.always, Self.linked)
        _ = radio.share(of: .seconds(160))
        #expect(radio.probe.machine.discoveryTime(at: radio.now) == radio.listened)
    }

    // MARK: Classic

    @Test func inquiry_isMade_onlyWhileAClassicMeterIsMissing_orAPersonLooks() {
        var radio = Radio(.gentle, Self.missing)
        _ = radio.share(of: .seconds(200))
        #expect(radio.begun.allSatisfy { $0 == .lowEnergy })
        radio.demand(Self.missingClassic)
        _ = radio.share(of: .seconds(60))
        #expect(radio.begun.contains(.interleaved))
        radio.demand(Self.linked)
        _ = radio.share(of: .seconds(10))
        let count = radio.begun.count
        _ = radio.share(of: .seconds(300))
        #expect(radio.begun.dropFirst(count).allSatisfy { $0 == .lowEnergy })
    }

    // MARK: Other programs

    /// What bluetoothd does for a program that sets a filter, as habluetooth does: it ends ours to begin its own.
    @Test func discoveryThatAnotherProgramEnds_makesRoomForIts() {
        var radio = Radio(.always, Self.missing)
        radio.run(until: { $0.isOn })
        radio.pass(.seconds(3))
        radio.endByAnother()
        let sent = radio.probe.sent.count
        radio.pass(.seconds(6))
        #expect(radio.probe.sent.count == sent)
        #expect(radio.probe.machine.state == .idle)
        radio.probe.discovering(true, .lowEnergy)
        #expect(radio.probe.machine.state == .searching)
        radio.pass(.seconds(20))
        #expect(radio.probe.sent.count == sent)
        #expect(radio.probe.notes.isEmpty)
    }

    @Test func personWhoLooks_makesRoomToo() {
        var radio = Radio(.onDemand, SearchDemand(byHandUntil: MonotonicTime(sinceOrigin: .seconds(600))))
        radio.run(until: { $0.isOn })
        radio.pass(.seconds(3))
        radio.endByAnother()
        let sent = radio.probe.sent.count
        radio.pass(.seconds(6))
        #expect(radio.probe.sent.count == sent)
    }

    /// It does not know of a round that runs already.
    @Test(arguments: [SearchDemand(), SearchDemand(byHandUntil: MonotonicTime(sinceOrigin: .seconds(600)))])
    func bluetoothdThatComes_findsNoDiscovery(demand: SearchDemand) {
        var radio = Radio(.always, demand)
        radio.run(until: { $0.isOn })
        radio.pass(.seconds(2))
        radio.probe.take(radio.probe.machine.managerCame(at: radio.now))
        #expect(radio.probe.lastSent == .stopDiscovery(.interleaved))
        radio.pass(.seconds(7))
        #expect(!radio.isOn)
        #expect(radio.probe.machine.state == .idle)
        radio.pass(.seconds(2))
        #expect(radio.isOn)
    }

    @Test func rest_countsFromTheEndOfAnyDiscovery() {
        var radio = Radio(.always, Self.missing)
        radio.run(until: { !$0.isOn && $0.begun.count == 1 })
        radio.probe.discovering(true, .interleaved)
        radio.pass(.seconds(10))
        radio.probe.discovering(false, .interleaved)
        let sent = radio.probe.sent.count
        radio.pass(.seconds(7))
        #expect(radio.probe.sent.count == sent)
        radio.pass(.seconds(1))
        #expect(radio.probe.sent.count == sent + 1)
    }

    // MARK: Busy

    @Test func busy_isNotBelieved_beforeADiscoveryIsSeen() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        probe.answer(.busy)
        #expect(probe.machine.state == .idle)
        probe.pass(.seconds(4))
        #expect(probe.sent.count == 2)
        probe.pass(.seconds(1))
        #expect(probe.sent.count == 3)
    }

    @Test(arguments: [true, false])
    func busy_isBelieved_onceADiscoveryOrADeviceIsSeen(isDevice: Bool) {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        if !isDevice { probe.discovering(true) }
        probe.answer(.busy)
        if isDevice { probe.heard() }
        #expect(probe.machine.state == .searching)
        probe.pass(.seconds(29))
        #expect(probe.sent.count == 2)
        #expect(probe.notes.isEmpty)
    }

    /// Command Disallowed is "busy" to whoever asks the kernel.
    @Test func busyWithoutEnd_isAFault() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        for hold in [5, 10, 20] {
            probe.answer(.busy)
            probe.pass(.seconds(hold))
        }
        #expect(probe.notes.isEmpty)
        probe.answer(.busy)
        #expect(probe.notes == [.restartDiscovery])
        #expect(probe.machine.trouble?.contains("busy") == true)
    }

    // MARK: Silence

    @Test func silence_countsWhatWasListened() {
        var radio = Radio(.gentle, Self.missing)
        radio.run(until: { $0.isOn })
        radio.probe.heard()
        _ = radio.share(of: .seconds(100))
        #expect(radio.probe.notes.isEmpty)
        _ = radio.share(of: .seconds(30))
        #expect(radio.probe.notes == [.restartDiscovery])

        var sparse = Radio(.gentle, Self.linked)
        sparse.run(until: { $0.isOn })
        sparse.probe.heard()
        _ = sparse.share(of: .seconds(600))
        #expect(sparse.probe.notes.isEmpty)
        _ = sparse.share(of: .seconds(200))
        #expect(sparse.probe.notes == [.restartDiscovery])
    }

    @Test func adapterThatDoesNotListen_isNeverLookedAfter() {
        var radio = Radio(.onDemand, Self.linked)
        _ = radio.share(of: .seconds(86_400))
        #expect(radio.probe.notes.isEmpty)
        #expect(radio.probe.sent.count == 1)
    }
}

/// A machine over a kernel that does what it is told and ends rounds as Linux does, on virtual time.
private struct Radio {
    var probe: AdapterProbe
    private(set) var isOn = false
    private(set) var listened = Duration.zero
    /// Between two rounds.
    private(set) var rests: [Duration] = []
    private(set) var begun: [DiscoveryKinds] = []
    private var answered = 0
    private var since = MonotonicTime.origin
    private var endsAt: MonotonicTime?

    init(_ mode: SearchMode, _ demand: SearchDemand, isShared: Bool = false) {
        probe = AdapterProbe(timing: AdapterTiming(), mode: mode, isShared: isShared)
        self.demand(demand)
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        answered = 1
    }

    var now: MonotonicTime { probe.now }

    mutating func demand(_ demand: SearchDemand) { probe.take(probe.machine.demandChanged(demand, at: now)) }

    /// The part of this time that was listened, in percent.
    mutating func share(of length: Duration) -> Int {
        let before = probe.machine.discoveryTime(at: now)
        pass(length)
        let part = probe.machine.discoveryTime(at: now) - before
        return Int((part.milliseconds * 100 + length.milliseconds / 2) / length.milliseconds)
    }

    mutating func run(until condition: (Radio) -> Bool) {
        for _ in 0..<10_000 {
            obey()
            if condition(self) { return }
            step(.milliseconds(100))
        }
    }

    mutating func pass(_ length: Duration) {
        let end = now + length
        while now < end {
            obey()
            step(min(.milliseconds(100), end - now))
        }
        obey()
    }

    mutating func endByAnother() { end() }

    private mutating func step(_ length: Duration) { probe.pass(length) }

    private mutating func obey() {
        if let endsAt, now >= endsAt { end() }
        while answered < probe.sent.count {
            let command = probe.sent[answered]
            answered += 1
            switch command {
            case .startDiscovery(let kinds):
                if !begun.isEmpty { rests.append(now - since) }
                begun.append(kinds)
                isOn = true
                since = now
                endsAt = now + .milliseconds(10_240)
                probe.answer(.success)
                probe.discovering(true, kinds)
            case .stopDiscovery:
                endsAt = nil
                if isOn { listened += now - since }
                since = now
                isOn = false
                probe.answer(.success)
                probe.discovering(false)
            default: probe.answer(.success)
            }
        }
    }

    private mutating func end() {
        endsAt = nil
        listened += now - since
        since = now
        isOn = false
        probe.discovering(false)
    }
}
