import Domain
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

    /// A silent chip answers, so that the list of links is believed, whatever it did not answer before.
    @Test func linksOfAnotherProgram_areSparedInASilence_afterALongFault() {
        var others = none
        others.connect(RadioAddress(MACAddress(bits: 1), .lePublic))
        var ladder = RecoveryLadder()
        _ = climb(&ladder, .fault, over: others)
        #expect(climb(&ladder, over: others, at: timing.unansweredBelieved) == .remedy(.restartDiscovery))
        #expect(climb(&ladder, .fault, over: others, at: timing.unansweredBelieved) == .remedy(.cyclePower))
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

    /// Whatever was tried before: trouble that is over is forgotten as a whole, and the next begins at the first step.
    @Test func heardDevice_forgetsAll_butWhenTheChipWasReset() {
        var ladder = RecoveryLadder()
        ladder.allowChipReset(.usbPort, last: nil)
        for round in 0..<3 {
            let now = timing.failedRetryMax * (2 * round)
            let steps = (0..<5).map { _ in climb(&ladder, .fault, at: now) }
            #expect(
                steps == [.remedy(.restartDiscovery), .remedy(.cyclePower), .remedy(.resetUSB), .exhausted, .tooSoon])
            // The wait is as long as the first time.
            #expect(climb(&ladder, .fault, at: now + timing.failedRetry - .seconds(1)) == .tooSoon)
            #expect(ladder.heard() == true)
            #expect(ladder.state == nil)
            // At once, but the chip is reset once in ten minutes.
            let again = (0..<3).map { _ in climb(&ladder, .fault, at: now + .seconds(599)) }
            #expect(again == [.remedy(.restartDiscovery), .remedy(.cyclePower), .exhausted])
            #expect(ladder.heard() == true)
            var later = ladder
            let last = (0..<3).map { _ in climb(&later, .fault, at: now + .seconds(600)) }
            #expect(last == [.remedy(.restartDiscovery), .remedy(.cyclePower), .remedy(.resetUSB)])
        }
    }

    @Test func failedLadder_isClimbedAgain_laterEachTime_upToAnHour() {
        var ladder = RecoveryLadder()
        var now = Duration.zero
        var waits: [Duration] = []
        for _ in 0..<9 {
            while climb(&ladder, at: now) != .exhausted {}
            let failed = now
            while climb(&ladder, at: now) == .tooSoon { now += .seconds(100) }
            waits.append(now - failed)
        }
        #expect(waits == [600, 1200, 2400, 3600, 3600, 3600, 3600, 3600, 3600].map { .seconds($0) })
    }

    /// The list of links is believed from the first fault on, until a discovery begins or all is well.
    @Test(arguments: ["nothing", "discovery", "heard", "end"])
    func believing_countsFromTheFirstFault_ofThisTrouble(event: String) {
        var others = none
        others.connect(RadioAddress(MACAddress(bits: 1), .lePublic))
        var ladder = RecoveryLadder()
        _ = climb(&ladder, .fault, over: others)
        switch event {
        case "discovery": ladder.discoveryBegan()
        case "heard": _ = ladder.heard()
        case "end": ladder.endFault()
        default: break
        }
        _ = climb(&ladder, .fault, over: others, at: .seconds(10))
        let isOver = event != "nothing"
        let (early, late) = (timing.unansweredBelieved, timing.unansweredBelieved + .seconds(10))
        var copy = ladder
        #expect(climb(&copy, .fault, over: others, at: early - .seconds(1)) == .remedy(.restartDiscovery))
        #expect(climb(&ladder, .fault, over: others, at: early) == .remedy(isOver ? .restartDiscovery : .cyclePower))
        if isOver { #expect(climb(&ladder, .fault, over: others, at: late) == .remedy(.cyclePower)) }
        // Links of ours are never ended.
        var own = none
        _ = own.begin(SlotKey(MACAddress(bits: 2), isClassic: false), at: .origin)
        _ = own.succeed(SlotKey(MACAddress(bits: 2), isClassic: false))
        #expect(climb(&ladder, .fault, over: own, at: .seconds(9000)) == .remedy(.restartDiscovery))
    }

    @Test func silence_isBorne_byItsLimit_onEachStep_andAfterAll() {
        for hasHeard in [false, true] {
            var silence = SilenceWatch()
            silence.begin(at: .origin)
            if hasHeard { silence.heard(at: .origin) }
            var ladder = RecoveryLadder()
            ladder.allowChipReset(.serialDevice, last: nil)
            let limit = hasHeard ? timing.silenceLimit : timing.silenceLimitNever
            for factor in [1, 2, 4, 8] {
                let end = limit * factor
                #expect(ladder.wakeTime(silence, timing) == end.moment)
                #expect(ladder.reason(silence, at: (end - .milliseconds(1)).moment, timing) == nil)
                let words = "it has heard no device of any kind for \(end.milliseconds / 60_000) min"
                #expect(ladder.reason(silence, at: end.moment, timing) == words)
                _ = climb(&ladder, at: .zero)
            }
            #expect(ladder.state == .failed)
            #expect(ladder.wakeTime(silence, timing) == timing.failedRetry.moment)
            // It is tried again no earlier than was said, however long it has been silent.
            var late = ladder
            #expect(climb(&late, at: .seconds(9000)) == .remedy(.restartDiscovery))
            while climb(&late, at: .seconds(9000)) != .exhausted {}
            #expect(late.wakeTime(silence, timing) == (.seconds(9000) + timing.failedRetry * 2).moment)
            silence.stop()
            #expect(ladder.wakeTime(silence, timing) == nil)
        }
    }

    @Test func silenceShorterThanAMinute_isSaidToBeOne() {
        var timing = timing
        timing.silenceLimitNever = .seconds(30)
        var silence = SilenceWatch()
        silence.begin(at: .origin)
        #expect(RecoveryLadder().reason(silence, at: .seconds(30), timing)?.hasSuffix("for 1 min") == true)
    }

    @Test func trouble_saysWhatAPersonCanDo() {
        let doubt = "If no Bluetooth device is near, nothing is wrong with it."
        for (reset, words) in [
            (.usbPort, "Unplug it and plug it in again."), (.serialDevice, "Restart the machine; where"),
            (nil, "Unplug it and plug it in again where"),
        ] as [(ChipReset?, String)] {
            for cause in [RecoveryLadder.Cause.silence, .fault] {
                var ladder = RecoveryLadder()
                ladder.allowChipReset(reset, last: nil)
                #expect(ladder.trouble(hasEverHeard: false) == nil)
                _ = climb(&ladder, cause)
                #expect(ladder.trouble(hasEverHeard: false) == "It is being looked after as it is silent.")
                while climb(&ladder, cause) != .exhausted {}
                let trouble = ladder.trouble(hasEverHeard: false) ?? ""
                #expect(trouble.contains(words))
                #expect(trouble.hasPrefix("Everything was tried, and still it is silent."))
                #expect(trouble.hasSuffix(doubt) == (cause == .silence))
                #expect(ladder.trouble(hasEverHeard: true)?.hasSuffix(doubt) == false)
            }
        }
    }

    @Test func stepsBefore_areCounted_andAResetThatFailed_isNotTriedAgain() {
        var ladder = RecoveryLadder()
        ladder.add(before: 7)
        ladder.allowChipReset(.serialDevice, last: nil)
        #expect(ladder.chipResetLimit(timing) == .seconds(60))
        _ = climb(&ladder)
        #expect(ladder.recoveries == 8)
        ladder.chipResetFailed()
        #expect(ladder.chipReset == nil)
        #expect(ladder.chipResetLimit(timing) == timing.resetLimit)
        _ = climb(&ladder)
        #expect(climb(&ladder) == .exhausted)
        #expect(ladder.recoveries == 9)
    }
}
