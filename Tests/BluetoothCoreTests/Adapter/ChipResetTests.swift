import BluetoothCore
import Domain
import Testing

/// The last step of the ladder, for a chip behind a UART.
struct ChipResetTests {
    /// One whose ladder was climbed as far as that.
    private func rebinding() -> AdapterProbe {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.serialDevice)
        probe.heard()
        while probe.chipResets.isEmpty, probe.now < .origin + .seconds(3600) { probe.live(.seconds(10)) }
        return probe
    }

    @Test func serialDevice_isUnboundAndBound_afterThePowerWasCycled() {
        let probe = rebinding()
        #expect(probe.chipResets == [.serialDevice])
        #expect(probe.notes == [.restartDiscovery, .cyclePower, .rebindSerial])
        #expect(probe.machine.recoveries == 3)
        #expect(probe.machine.isResettingChip)
        #expect(probe.machine.state == .recovering)
    }

    /// An unbinding waits for commands that hang, so it has longer than a USB port.
    @Test func adapterThatDoesNotGo_isGivenUp_afterAMinute() {
        var probe = rebinding()
        probe.take(probe.machine.chipReset(isDone: true, at: probe.now))
        probe.pass(.seconds(55))
        #expect(probe.machine.isResettingChip)
        probe.live(.seconds(20))
        #expect(probe.machine.state == .failed)
        #expect(probe.machine.trouble?.contains("Restart the machine; where that does not help") == true)
        #expect(probe.chipResets.count == 1)
    }

    @Test func resetThatNobodyPerforms_isNotTriedAgain() {
        var probe = rebinding()
        probe.take(probe.machine.chipReset(isDone: false, at: probe.now))
        #expect(probe.machine.chipReset == nil)
        probe.live(.seconds(5000))
        #expect(probe.chipResets.count == 1)
        #expect(probe.machine.state == .failed || probe.machine.state == .recovering)
    }

    /// The adapter comes back as dead as it was, with a machine of its own.
    @Test func chipThatWasReset_aShortWhileAgo_isLeftAlone() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.serialDevice, last: .origin)
        probe.heard()
        probe.live(.seconds(500))
        #expect(probe.chipResets.isEmpty)
        #expect(probe.machine.state == .failed)
        probe.live(.seconds(2000))
        #expect(!probe.chipResets.isEmpty)
    }

    @Test func linksThatAreUp_areNotEnded() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.serialDevice)
        let link = SlotKey(MACAddress(bits: 7), isClassic: false)
        probe.heard()
        _ = probe.machine.take(link, at: probe.now)
        probe.take(probe.machine.linkUp(link, at: probe.now))
        probe.live(.seconds(3000))
        #expect(probe.chipResets.isEmpty)
    }

    private static let device = RadioAddress(MACAddress(bits: 7), .lePublic)

    /// A link ends for the kernel when the chip says so, and a chip that has hung says nothing any more.
    @Test func chipThatAnswersNothing_isReset_thoughTheKernelListsALink() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.serialDevice)
        probe.heard()
        probe.machine.deviceConnected(Self.device)
        probe.live(.seconds(600), status: .authenticationFailed)
        #expect(probe.notes.contains(.cyclePower))
        #expect(probe.chipResets == [.serialDevice])
    }

    @Test func chipThatAnswersNothing_isLeftAlone_whileALinkOfOursIsUp() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.serialDevice)
        let link = SlotKey(MACAddress(bits: 7), isClassic: false)
        probe.heard()
        _ = probe.machine.take(link, at: probe.now)
        probe.take(probe.machine.linkUp(link, at: probe.now))
        probe.live(.seconds(600), status: .authenticationFailed)
        #expect(!probe.notes.contains(.cyclePower))
        // Its session has ended it.
        probe.take(probe.machine.giveBack(link, at: probe.now))
        probe.live(.seconds(600), status: .authenticationFailed)
        #expect(probe.chipResets == [.serialDevice])
    }

    /// Another program's link is worth more than the search, where only the search is silent.
    @Test func silentSearch_endsNoLinkOfAnotherProgram() {
        var probe = AdapterProbe.searching()
        probe.machine.allowChipReset(.serialDevice)
        probe.heard()
        probe.machine.deviceConnected(Self.device)
        probe.live(.seconds(3000))
        #expect(!probe.notes.contains(.cyclePower))
    }

    @Test func adapterOnNeitherBus_hasTwoSteps() {
        var probe = AdapterProbe.searching()
        probe.heard()
        probe.live(.seconds(500))
        #expect(probe.notes == [.restartDiscovery, .cyclePower])
        #expect(probe.machine.state == .failed)
    }
}
