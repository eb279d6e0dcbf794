import BluetoothCore
import Domain
import Testing

struct AdapterBondableTests {
    private let all = AdapterProbe.dual.current
    private var without: ControllerSettings { all.subtracting(.bondable) }
    private let meter = SlotKey(MACAddress(bits: 9), isClassic: true)

    private func asked(_ probe: AdapterProbe) -> Int { probe.sent.count { $0 == .setBondable(true) } }

    /// Somebody switches it off; we are answered, and told.
    private func lose(_ probe: inout AdapterProbe) {
        probe.settings(without)
        if probe.lastSent == .setBondable(true), !probe.isAnswered { probe.answer(.success) }
    }

    @Test func bondable_isSetAgain_whenItIsLost() {
        var probe = AdapterProbe.searching()
        lose(&probe)
        #expect(asked(probe) == 1)
        #expect(probe.machine.isBondable == true)
    }

    @Test func bondable_isLeftAlone_withoutClassic() {
        var probe = AdapterProbe.searching()
        probe.settings([.powered, .lowEnergy])
        #expect(asked(probe) == 0)
        #expect(probe.machine.isBondable == nil)
    }

    @Test func bondable_isNotAskedForAgain_whereItWasRefused() {
        var probe = AdapterProbe.searching()
        probe.settings(without)
        probe.answer(.notSupported)
        probe.settings(without)
        probe.pass(.seconds(5))
        #expect(asked(probe) == 1)
    }

    @Test func programThatInsists_isLeftAlone_longerAndLonger_andNamedOnce() {
        var probe = AdapterProbe.searching()
        // Each time it is set, the other takes it away at once.
        var seconds = 0
        while seconds < 3600 {
            if probe.machine.isBondable == true { lose(&probe) }
            if !probe.isAnswered, probe.lastSent == .setBondable(true) { probe.answer(.success) }
            probe.live(.seconds(10))
            seconds += 10
        }
        #expect(probe.contests == 1)
        #expect(asked(probe) < 20)
        #expect(asked(probe) > 5)
        lose(&probe)
        #expect(probe.machine.isBondableContested)
    }

    @Test func attempt_asksOnce_howeverMuchAnotherInsists() {
        var probe = AdapterProbe.searching()
        for _ in 0..<8 {
            lose(&probe)
            probe.pass(.milliseconds(10))
        }
        let before = asked(probe)
        probe.now = probe.now + .seconds(1)
        probe.take(probe.machine.take(meter, at: probe.now).actions)
        #expect(asked(probe) == before + 1)
        probe.answer(.success)
        probe.settings(without)
        #expect(asked(probe) == before + 1)
    }

    @Test func ownAgentsLeaving_isNoContest() {
        var probe = AdapterProbe.searching()
        for _ in 0..<20 {
            probe.machine.agentLeaves(at: probe.now)
            lose(&probe)
            #expect(probe.machine.isBondable == true)
            probe.now = probe.now + .seconds(3)
        }
        #expect(probe.contests == 0)
    }
}
