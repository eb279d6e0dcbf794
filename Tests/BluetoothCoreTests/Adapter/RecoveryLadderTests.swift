import MeterModel
import Testing

@testable import BluetoothCore

struct RecoveryLadderTests {
    private let timing = AdapterTiming()
    private let none = LinkSlots(linksMax: 5)

    private func climb(
        _ ladder: inout RecoveryLadder, _ cause: RecoveryLadder.Cause = .silence, over slots: LinkSlots? = nil,
        at time: Duration = .zero
    ) -> RecoveryLadder.Step {
        ladder.climb(cause, because: "it is silent", over: slots ?? none, at: time.moment, timing)
    }

    @Test func steps_comeInTheirOrder_andThenWait() {
        var ladder = RecoveryLadder()
        ladder.allowChipReset(.usbPort, last: nil)
        let steps = (0..<5).map { _ in climb(&ladder) }
        #expect(
            steps == [.remedy(.restartDiscovery), .remedy(.cyclePower), .remedy(.resetUSB), .exhausted, .tooSoon])
        #expect(ladder.recoveries == 3)
        #expect(ladder.state == .failed)
        // The second time it waits twice as long.
        #expect(climb(&ladder, at: timing.failedRetry) == .remedy(.restartDiscovery))
        #expect(climb(&ladder, at: timing.failedRetry) == .remedy(.cyclePower))
        #expect(climb(&ladder, at: timing.failedRetry) == .remedy(.resetUSB))
        #expect(climb(&ladder, at: timing.failedRetry) == .exhausted)
        #expect(climb(&ladder, at: timing.failedRetry * 3 - .seconds(1)) == .tooSoon)
        #expect(climb(&ladder, at: timing.failedRetry * 3) == .remedy(.restartDiscovery))
    }

    @Test func links_areSpared_butThoseOfAnotherProgram_notByAChipThatAnswersNothing() {
        var others = none
        others.connect(RadioAddress(MACAddress(bits: 1), .lePublic))
        var silent = RecoveryLadder()
        var faulty = RecoveryLadder()
        for _ in 0..<3 {
            #expect(climb(&silent, over: others) == .remedy(.restartDiscovery))
            #expect(climb(&faulty, .fault, over: others) == .remedy(.restartDiscovery))
        }
        #expect(climb(&silent, over: others, at: timing.unansweredBelieved) == .remedy(.restartDiscovery))
        #expect(climb(&faulty, .fault, over: others, at: timing.unansweredBelieved) == .remedy(.cyclePower))
    }

    @Test func fault_endsWithACommandThatSucceeds_silenceWithADevice() {
        var ladder = RecoveryLadder()
        _ = climb(&ladder, .fault)
        ladder.endFault()
        #expect(ladder.state == nil)
        _ = climb(&ladder)
        ladder.endFault()
        #expect(ladder.state == .recovering)
        #expect(ladder.heard() == true)
        #expect(ladder.heard() == false)
        #expect(ladder.recoveries == 2)
    }

    @Test func silence_isBorneLonger_withEachStep() {
        var ladder = RecoveryLadder()
        var silence = SilenceWatch()
        silence.begin(at: .origin)
        silence.heard(at: .origin)
        #expect(ladder.wakeTime(silence, timing) == timing.silenceLimit.moment)
        _ = climb(&ladder)
        #expect(ladder.wakeTime(silence, timing) == (timing.silenceLimit * 2).moment)
        #expect(ladder.reason(silence, at: (timing.silenceLimit * 2 - .seconds(1)).moment, timing) == nil)
        let reason = ladder.reason(silence, at: (timing.silenceLimit * 2).moment, timing)
        #expect(reason?.contains("2 min") == true)
    }
}
