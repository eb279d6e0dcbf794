import BluetoothCore
import Domain
import Testing

struct AdapterSearchTests {
    // MARK: Setting up

    @Test func begin_asksTheAdapterWhatItIs() {
        let probe = AdapterProbe()
        #expect(probe.sent == [.readInfo])
        #expect(probe.machine.state == .starting)
    }

    @Test func adapterThatIsAsItShouldBe_isNotChanged() {
        let probe = AdapterProbe.searching()
        #expect(probe.sent == [.readInfo, .startDiscovery(.interleaved)])
        #expect(probe.machine.state == .searching)
        #expect(probe.machine.trouble == nil)
    }

    @Test func adapterThatIsOff_isSwitchedOn_andSetUp() {
        var probe = AdapterProbe()
        var info = AdapterProbe.dual
        info.current = [.classic]
        probe.answer(.success, ManagementSamples.bytes(of: info))
        for _ in 0..<3 { probe.answer(.success) }
        #expect(
            probe.sent == [
                .readInfo, .setPowered(true), .setLowEnergy(true), .setBondable(true), .startDiscovery(.interleaved),
            ])
    }

    @Test func settingThatTheAdapterRefuses_isNotAskedForAgain() {
        var probe = AdapterProbe()
        var info = AdapterProbe.dual
        info.current = [.powered, .classic, .bondable]
        probe.answer(.success, ManagementSamples.bytes(of: info))
        #expect(probe.lastSent == .setLowEnergy(true))
        probe.answer(.rejected)
        #expect(probe.lastSent == .startDiscovery(.classic))
    }

    @Test func adapterWithoutClassic_searchesLEOnly() {
        var info = AdapterProbe.dual
        info.supported = [.powered, .lowEnergy, .bondable]
        info.current = [.powered, .lowEnergy]
        #expect(AdapterProbe.searching(info).lastSent == .startDiscovery(.lowEnergy))
    }

    @Test func answerThatIsNone_isAskedForAgain_later() {
        var probe = AdapterProbe()
        probe.answer(.success, [1, 2, 3])
        #expect(probe.sent.count == 1)
        probe.pass(.seconds(1))
        #expect(probe.sent == [.readInfo, .readInfo])
    }

    // MARK: Discovery

    @Test func discoveryThatEndsByItself_isStartedAgain_atOnce() {
        var probe = AdapterProbe.searching()
        probe.pass(.seconds(10))
        probe.discovering(false)
        #expect(probe.lastSent == .startDiscovery(.lowEnergy))
        #expect(probe.machine.state == .searching)
    }

    @Test func classic_isListenedTo_nowAndThen() {
        var probe = AdapterProbe.searching()
        probe.live(.seconds(100))
        let rounds = probe.sent.filter { if case .startDiscovery = $0 { true } else { false } }
        #expect(
            rounds.prefix(4) == [
                .startDiscovery(.interleaved), .startDiscovery(.lowEnergy), .startDiscovery(.interleaved),
                .startDiscovery(.lowEnergy),
            ])
    }

    @Test func classic_isListenedTo_seldom_whileALinkIsUp() {
        var probe = AdapterProbe.searching()
        let link = SlotKey(MACAddress(bits: 7), isClassic: false)
        _ = probe.machine.take(link, at: probe.now)
        probe.take(probe.machine.linkUp(link, at: probe.now))
        probe.live(.seconds(120))
        #expect(probe.sent.count { $0 == .startDiscovery(.interleaved) } == 3)
        #expect(probe.sent.count { $0 == .startDiscovery(.lowEnergy) } >= 8)
    }

    @Test func discoveryThatEndsAtOnce_isNotStartedWithoutEnd() {
        var probe = AdapterProbe.searching()
        probe.discovering(false)
        #expect(probe.sent.count == 2)
        probe.pass(.seconds(1))
        #expect(probe.sent.count == 3)
    }

    /// That the kernel grants it proves nothing; that it lasts does.
    @Test func discoveryThatEndsAtOnce_againAndAgain_isStartedLaterEachTime_untilOneLasts() {
        var probe = AdapterProbe.searching()
        for _ in 0..<2 {
            for pause in [1, 2, 4, 8] {
                probe.discovering(false)
                let count = probe.sent.count
                probe.pass(.seconds(pause) - .milliseconds(1))
                #expect(probe.sent.count == count, "before \(pause) s")
                probe.pass(.milliseconds(1))
                #expect(probe.sent.count == count + 1, "after \(pause) s")
                probe.answer(.success)
                probe.discovering(true)
            }
            probe.pass(.seconds(10))
            probe.discovering(false)
            probe.answer(.success)
            probe.discovering(true)
        }
    }

    @Test func discoveryThatNeverEnds_isEnded() {
        var probe = AdapterProbe.searching()
        probe.pass(.seconds(60))
        #expect(probe.lastSent == .stopDiscovery(.interleaved))
        probe.answer(.rejected)
        #expect(probe.lastSent == .startDiscovery(.interleaved))
    }

    @Test func busy_isSuccess_asEverybodyHearsTheOtherDiscovery() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        probe.discovering(true)
        probe.answer(.busy)
        #expect(probe.machine.state == .searching)
        #expect(probe.machine.trouble == nil)
        #expect(probe.sent.count == 2)
    }

    @Test func otherProgramsDiscovery_isFollowedByOurs_whenItEnds() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        probe.discovering(true, .lowEnergy)
        probe.answer(.busy)
        probe.pass(.seconds(3))
        probe.discovering(false)
        #expect(probe.lastSent == .startDiscovery(.interleaved))
    }

    @Test func otherProgramsDiscovery_whoseEndWasMissed_keepsNobodyFromTrying() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        probe.discovering(true)
        probe.answer(.busy)
        probe.pass(.seconds(30))
        #expect(probe.sent.count == 3)
    }

    // MARK: Forbidden, off, blocked

    @Test func permissionDenied_isForbidden_withWhatIsMissing_andTriedAgain() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        probe.answer(.permissionDenied)
        #expect(probe.machine.state == .forbidden)
        #expect(probe.machine.trouble?.contains("CAP_NET_ADMIN") == true)
        probe.pass(.seconds(60))
        #expect(probe.lastSent == .startDiscovery(.interleaved))
        // Nothing is news before the answer.
        #expect(probe.machine.state == .forbidden)
        probe.answer(.success)
        #expect(probe.machine.state == .searching)
    }

    @Test func rfkill_isBlocked_andEndsIt() {
        var probe = AdapterProbe.searching()
        probe.settings([.classic, .lowEnergy, .bondable])
        probe.take(probe.machine.blockChanged(RadioBlock(isSoft: true), at: probe.now))
        #expect(probe.machine.state == .blocked)
        #expect(probe.machine.trouble?.contains("rfkill unblock") == true)
        #expect(probe.machine.nextWake == nil)
        probe.take(probe.machine.blockChanged(RadioBlock(), at: probe.now))
        #expect(probe.lastSent == .setPowered(true))
    }

    @Test func hardBlock_namesTheSwitch() {
        var probe = AdapterProbe(block: RadioBlock(isHard: true))
        var info = AdapterProbe.dual
        info.current = []
        probe.answer(.success, ManagementSamples.bytes(of: info))
        #expect(probe.sent == [.readInfo])
        #expect(probe.machine.state == .blocked)
        #expect(probe.machine.trouble?.contains("switch") == true)
    }

    @Test func rfkilledAnswer_isBlocked_thoughRfkillSaidNothing() {
        var probe = AdapterProbe()
        var info = AdapterProbe.dual
        info.current = []
        probe.answer(.success, ManagementSamples.bytes(of: info))
        probe.answer(.rfkilled)
        #expect(probe.machine.state == .blocked)
        probe.pass(.seconds(20))
        #expect(probe.lastSent == .setPowered(true))
    }

    @Test func adapterSwitchedOffByAnother_staysOffForAWhile_andLongerTheNextTime() {
        var probe = AdapterProbe.searching()
        probe.settings([])
        #expect(probe.machine.state == .blocked)
        probe.pass(.seconds(19))
        #expect(probe.sent.count == 2)
        probe.pass(.seconds(1))
        #expect(probe.lastSent == .setPowered(true))
        probe.answer(.success)
        probe.settings([])
        probe.pass(.seconds(39))
        #expect(probe.machine.state == .blocked)
    }

    @Test func adapterSwitchedOnByAnother_isUsedAtOnce() {
        var probe = AdapterProbe.searching()
        probe.settings([.classic, .lowEnergy, .bondable])
        probe.settings(AdapterProbe.dual.current)
        #expect(probe.lastSent == .startDiscovery(.lowEnergy))
    }
}
