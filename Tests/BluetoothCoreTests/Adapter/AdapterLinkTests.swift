import BluetoothCore
import Domain
import Testing

struct AdapterLinkTests {
    private func key(_ number: UInt64) -> SlotKey { SlotKey(MACAddress(bits: number), isClassic: false) }

    @Test func attempt_letsDiscoveryRest_untilTheLinkIsUp() {
        var probe = AdapterProbe.searching()
        let (refusal, actions) = probe.machine.take(key(1), at: probe.now)
        probe.take(actions)
        #expect(refusal == nil)
        #expect(probe.lastSent == .stopDiscovery(.interleaved))
        probe.answer(.success)
        probe.discovering(false)
        #expect(probe.machine.state == .idle)
        probe.take(probe.machine.linkUp(key(1), at: probe.now))
        #expect(probe.lastSent == .startDiscovery(.lowEnergy))
        #expect(probe.machine.linkCount == 1)
    }

    @Test func attemptThatFails_letsDiscoveryGoOn() {
        var probe = AdapterProbe.searching()
        probe.take(probe.machine.take(key(1), at: probe.now).actions)
        probe.answer(.rejected)
        probe.take(probe.machine.giveBack(key(1), at: probe.now))
        #expect(probe.lastSent == .startDiscovery(.lowEnergy))
        #expect(probe.machine.linkCount == 0)
    }

    @Test func attemptThatNobodyEnds_keepsDiscoveryOff_notForLong_andItsSlot() {
        var probe = AdapterProbe.searching()
        probe.take(probe.machine.take(key(1), at: probe.now).actions)
        probe.answer(.success)
        probe.pass(.seconds(20))
        #expect(probe.lastSent == .startDiscovery(.interleaved))
        #expect(probe.machine.linkCount == 1)
        probe.pass(.seconds(30))
        #expect(probe.machine.linkCount == 1)
    }

    @Test func attemptsWithoutEnd_letOthersBeHeard_inBetween() {
        var probe = AdapterProbe.searching()
        var rounds = 0
        for number in 0..<40 {
            let link = key(UInt64(number))
            probe.take(probe.machine.take(link, at: probe.now).actions)
            let before = probe.sent.count
            probe.live(.seconds(10))
            rounds +=
                probe.sent.dropFirst(before).contains { if case .startDiscovery = $0 { true } else { false } }
                ? 1 : 0
            // The next attempt begins before this one ends.
            probe.take(probe.machine.take(key(UInt64(number + 1)), at: probe.now).actions)
            probe.take(probe.machine.giveBack(link, at: probe.now))
        }
        #expect(rounds >= 8)
    }

    @Test func fullAdapter_refuses_andSaysWhatToDo() {
        var probe = AdapterProbe.searching(linksMax: 2)
        for number in 1...2 as ClosedRange<UInt64> {
            #expect(probe.machine.take(key(number), at: probe.now).refusal == nil)
        }
        let refusal = probe.machine.take(key(3), at: probe.now).refusal
        #expect(refusal?.isFull == true)
        #expect(refusal?.message.contains("2 links") == true)
        _ = probe.machine.giveBack(key(1), at: probe.now)
        #expect(probe.machine.take(key(3), at: probe.now).refusal == nil)
    }

    @Test func adapterThatIsOff_refuses_withTheReason() {
        var probe = AdapterProbe.searching()
        probe.settings([])
        let refusal = probe.machine.take(key(1), at: probe.now).refusal
        #expect(refusal?.isFull == false)
        #expect(refusal?.message.contains("bluetoothctl power on") == true)
    }

    @Test func pairing_isExpected_onlyWithWhomALinkIsMadeTo() {
        var probe = AdapterProbe.searching()
        let meter = RadioAddress(MACAddress(bits: 9), .classic)
        #expect(!probe.machine.expectsPairing(with: meter))
        _ = probe.machine.take(SlotKey(meter.address, isClassic: true), at: probe.now)
        #expect(probe.machine.expectsPairing(with: meter))
        #expect(!probe.machine.expectsPairing(with: RadioAddress(meter.address, .lePublic)))
    }
}
