import BluetoothCore
import Domain
import Testing

struct AdapterRecoveryTests {
    @Test func silence_whereDevicesWereHeard_restartsDiscovery() {
        var probe = AdapterProbe.searching()
        probe.heard()
        probe.live(.seconds(50))
        #expect(probe.notes.isEmpty)
        probe.live(.seconds(20))
        #expect(probe.notes == [.restartDiscovery])
        #expect(probe.machine.state == .recovering)
    }

    @Test func silence_fromTheBeginning_isBorneLonger() {
        var probe = AdapterProbe.searching()
        probe.live(.seconds(290))
        #expect(probe.notes.isEmpty)
        probe.live(.seconds(20))
        #expect(probe.notes == [.restartDiscovery])
    }

    @Test func silence_climbsTheWholeLadder_andThenAsksAPerson() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.usbPort)
        probe.heard()
        probe.live(.seconds(70))
        probe.live(.seconds(130))
        #expect(probe.notes == [.restartDiscovery, .cyclePower])
        #expect(probe.sent.contains(.setPowered(false)))
        probe.live(.seconds(250))
        #expect(probe.chipResets == [.usbPort])
        // It comes back by itself and is as silent as before.
        probe.take(probe.machine.chipReset(isDone: true, at: probe.now))
        probe.live(.seconds(500))
        #expect(probe.machine.state == .failed)
        #expect(probe.machine.trouble?.contains("Unplug") == true)
        #expect(probe.machine.recoveries >= 3)
    }

    @Test func failedAdapter_goesOnSearching_andIsLookedAfterAgain() {
        var probe = AdapterProbe.searching()
        probe.heard()
        probe.live(.seconds(500))
        #expect(probe.machine.state == .failed)
        let (sent, notes) = (probe.sent.count, probe.notes.count)
        probe.live(.seconds(300))
        #expect(probe.sent.count > sent + 20)
        #expect(probe.notes.count == notes)
        probe.live(.seconds(700))
        #expect(probe.notes.count > notes)
    }

    @Test func deviceHeard_endsTheTrouble() {
        var probe = AdapterProbe.searching()
        probe.heard()
        probe.live(.seconds(500))
        probe.heard()
        #expect(probe.recoveries == 1)
        #expect(probe.machine.trouble == nil)
        probe.live(.seconds(30))
        #expect(probe.machine.state == .searching)
    }

    /// After the power was cycled, what the adapter says of itself counts, and not what was heard while it was asked.
    @Test func powerThatFalls_whileTheAdapterIsReadAnew_isLeftToTheReading() {
        var probe = AdapterProbe.searching()
        probe.heard()
        while probe.lastSent != .setPowered(false) { probe.live(.seconds(10)) }
        probe.answer(.success)
        #expect(probe.lastSent == .setPowered(true))
        probe.answer(.success)
        #expect(probe.lastSent == .readInfo)
        probe.settings([])
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        if case .startDiscovery? = probe.lastSent { return }
        Issue.record("\(String(describing: probe.lastSent))")
    }

    @Test func linksThatAreUp_areNeverCut_forTheSakeOfSearching() {
        var probe = AdapterProbe.searching()
        let link = SlotKey(MACAddress(bits: 7), isClassic: false)
        probe.heard()
        _ = probe.machine.take(link, at: probe.now)
        probe.take(probe.machine.linkUp(link, at: probe.now))
        probe.live(.seconds(3000))
        #expect(!probe.sent.contains(.setPowered(false)))
        #expect(!probe.notes.isEmpty)
    }

    @Test func commandWithoutAnswer_climbsTheLadder() {
        var probe = AdapterProbe()
        probe.pass(.seconds(8))
        #expect(probe.notes == [.restartDiscovery])
        #expect(probe.machine.trouble?.contains("did not answer") == true)
        probe.pass(.seconds(1))
        #expect(probe.sent == [.readInfo, .readInfo])
    }

    @Test func commandsWithoutAnswer_doNotCyclePowerWithoutEnd() {
        var probe = AdapterProbe()
        probe.pass(.seconds(3600))
        #expect(probe.machine.state == .failed)
        #expect(probe.notes.count < 30)
        #expect(probe.sent.count < 200)
    }

    @Test func answerThatComesTooLate_isNoNews() {
        var probe = AdapterProbe.searching()
        let sent = probe.sent.count
        probe.take(probe.machine.answered(opcode: 0x0005, .failed, parameters: [], at: probe.now))
        #expect(probe.sent.count == sent)
        #expect(probe.machine.state == .searching)
    }

    /// A chip that is being reset owes no answer: one that still comes starts nothing.
    @Test func answerWhileTheChipIsReset_isNoNews() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.usbPort)
        for _ in 0..<3 { probe.take(probe.machine.controllerFailed(code: 3, at: probe.now)) }
        #expect(probe.chipResets == [.usbPort])
        let sent = probe.sent
        #expect(sent.last == .setPowered(false))

        probe.answer(.failed)
        probe.pass(.seconds(5))

        #expect(probe.sent == sent)
        #expect(probe.machine.state == .recovering)
    }

    @Test func fault_isForgotten_onceADiscoveryWentWell() {
        var probe = AdapterProbe.searching()
        probe.take(probe.machine.controllerFailed(code: 3, at: probe.now))
        #expect(probe.machine.state == .recovering)
        #expect(probe.lastSent == .stopDiscovery(.interleaved))
        probe.live(.seconds(30))
        #expect(probe.machine.state == .searching)
        #expect(probe.machine.recoveries == 1)
    }

    @Test func discoveryThatAlwaysFails_needsARemedy() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        for hold in [1, 2, 4] {
            probe.answer(.failed)
            #expect(probe.notes.isEmpty)
            probe.pass(.seconds(hold))
        }
        probe.answer(.failed)
        #expect(probe.notes == [.restartDiscovery])
    }

    /// The kernel's number for it is that of a wrong PIN.
    @Test func adapterThatDoesNotAnswerTheKernel_isNotSaidToRefuseAPIN() {
        var probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        for hold in [1, 2, 4, 8] {
            probe.answer(.authenticationFailed)
            probe.pass(.seconds(hold))
        }
        #expect(probe.machine.trouble?.contains("the adapter did not answer the kernel") == true)
    }

    @Test func usbResetThatFails_isNotTriedAgain() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.usbPort)
        probe.heard()
        while probe.chipResets.isEmpty { probe.live(.seconds(10)) }
        probe.take(probe.machine.chipReset(isDone: false, at: probe.now))
        #expect(probe.machine.chipReset == nil)
        probe.live(.seconds(20))
        #expect(probe.machine.state == .failed)
    }

    @Test func silenceWhileDiscoveryRests_isNoFault() {
        var probe = AdapterProbe.searching()
        probe.heard()
        probe.live(.seconds(40))
        _ = probe.machine.take(SlotKey(MACAddress(bits: 7), isClassic: false), at: probe.now)
        probe.live(.seconds(20))
        #expect(probe.notes.isEmpty)
    }
}
