import Domain
import Testing

struct RecordingMachineTests {
    private let threshold = RecordingRules(threshold: 0.1, hold: .seconds(5), gapMax: .seconds(60))

    // MARK: - By hand

    @Test func start_records_untilStop() throws {
        var machine = RecordingMachine()
        let started = try #require(machine.start(at: 0, name: "phone").started)
        #expect(started.id == RecordingID(host: .here, meter: .bench, token: 0, started: .start))

        machine.receive(1, through: 11, amperes: 2)
        let ended = try #require(machine.stop(at: 12).ended)

        #expect(ended.name == "phone")
        #expect(ended.end == .hand)
        #expect(ended.trigger == .hand)
        #expect(ended.totals.readings == 11)
        #expect(ended.totals.recorded == .seconds(10))
        // 2 A over 10 s, and 10 W over 10 s.
        #expect(((ended.totals.charge_mAh ?? 0) - 20 / 3.6).magnitude < 1e-12)
        #expect(((ended.totals.energy_Wh ?? 0) - 100 / 3600).magnitude < 1e-12)
        #expect(ended.totals.gapCount == 0)
        #expect(ended.until == .start + .seconds(12))
        #expect(machine.recording == nil)
    }

    @Test func start_isNothing_whileOneGoesOn() {
        var machine = RecordingMachine()
        machine.start(at: 0)

        #expect(machine.start(at: 5) == .none)
        #expect(machine.recording?.started == .start)
        #expect(machine.hasRecording)
    }

    @Test func stop_isNothing_whereNoneGoesOn() {
        var machine = RecordingMachine()

        #expect(machine.stop(at: 5) == .none)
        #expect(!machine.hasRecording)
    }

    @Test func silence_neverEndsWhatAHandBegan() {
        var machine = RecordingMachine(threshold)
        machine.start(at: 0)
        machine.receive(1, through: 3, amperes: 0)

        #expect(machine.woke(at: 1e6) == .none)
        #expect(machine.received(.at(1e6, 0)) == .none)
        #expect(machine.stop(at: 1e6).ended?.totals.gapCount == 1)
    }

    @Test func recordingWithoutReadings_isMarked() throws {
        var machine = RecordingMachine()
        machine.start(at: 0)

        let ended = try #require(machine.stop(at: 100).ended)

        #expect(ended.marks == [.gaps, .empty])
        #expect(ended.totals.duration == .seconds(100))
        #expect(ended.totals.charge_mAh == nil)
    }

    @Test func token_isThatOfTheStart() {
        var machine = RecordingMachine()
        machine.token = 7
        machine.start(at: 0)
        machine.token = 8

        #expect(machine.stop(at: 1).ended?.id.token == 7)
    }

    // MARK: - By threshold

    @Test func current_beginsIt_onceItHasHeld() throws {
        var machine = RecordingMachine(threshold)
        #expect(machine.receive(0, through: 9, amperes: 0.05).isEmpty)

        let outcomes = machine.receive(10, through: 16, amperes: 1)

        #expect(outcomes.count == 1)
        let started = try #require(outcomes.first?.started)
        // Since the first reading above it, and with what flowed since then.
        #expect(started.started == .start + .seconds(10))
        #expect(started.totals.readings == 6)
        #expect(((started.totals.charge_mAh ?? 0) - 5 / 3.6).magnitude < 1e-12)
    }

    @Test func current_beginsNothing_whereItFallsBefore() {
        var machine = RecordingMachine(threshold)

        for second in stride(from: 0, to: 100, by: 5) {
            #expect(machine.receive(second, through: second + 3, amperes: 1).isEmpty)
            #expect(machine.received(.at(Double(second) + 4, 0)) == .none)
        }
    }

    @Test func current_beginsNothing_acrossAGap() {
        var machine = RecordingMachine(threshold)

        #expect(machine.received(.at(0, 1)) == .none)
        #expect(machine.received(.at(20, 1)) == .none)
        #expect(machine.received(.at(24, 1)) == .none)
        #expect(machine.received(.at(25, 1)).started?.started == .start + .seconds(20))
    }

    @Test func current_endsIt_whereItFell() throws {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 20, amperes: 1)

        let outcomes = machine.receive(21, through: 40, amperes: 0.01)

        let ended = try #require(outcomes.first?.ended)
        #expect(ended.end == .threshold)
        #expect(ended.until == .start + .seconds(21))
        #expect(ended.totals.recorded == .seconds(21))
        #expect(ended.totals.readings == 22)
    }

    @Test func shortFall_isNoEnd() {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 20, amperes: 1)

        for second in stride(from: 21, to: 100, by: 5) {
            #expect(machine.receive(second, through: second + 3, amperes: 0).isEmpty)
            #expect(machine.received(.at(Double(second) + 4, -1)) == .none, "either direction counts")
        }
        #expect(machine.recording?.totals.readings == 101)
    }

    @Test func silence_endsIt_whereItBegan() throws {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 20, amperes: 1)
        machine.linkLost()

        #expect(machine.woke(at: 80) == .none)
        let ended = try #require(machine.woke(at: 81).ended)

        #expect(ended.end == .gap)
        #expect(ended.until == .start + .seconds(20))
        #expect(ended.totals.gapCount == 0, "what is after the end is no gap")
    }

    @Test func readingAfterTooLong_endsIt_andMayBeginTheNext() throws {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 20, amperes: 1)

        #expect(machine.received(.at(100, 1)).ended?.until == .start + .seconds(20))
        let next = machine.receive(101, through: 110, amperes: 1)

        #expect(next.first?.started?.started == .start + .seconds(100))
    }

    @Test func stop_disarmsTheThreshold_untilTheCurrentFell() {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 20, amperes: 1)

        #expect(machine.stop(at: 20.5).ended?.end == .hand)
        #expect(machine.receive(21, through: 60, amperes: 1).isEmpty)
        #expect(machine.receive(61, through: 62, amperes: 0).isEmpty)
        #expect(machine.receive(63, through: 70, amperes: 1).first?.started != nil)
    }

    @Test func settingWithoutThreshold_endsWhatItBegan_andNothingElse() {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 20, amperes: 1)
        #expect(machine.rulesChanged(RecordingRules()).ended?.end == .settings)

        machine.start(at: 30)
        #expect(machine.rulesChanged(threshold) == .none)
        #expect(machine.rulesChanged(RecordingRules()) == .none)
        #expect(machine.recording != nil)
    }

    @Test func threshold_leavesAloneWhatAHandBegan() {
        var machine = RecordingMachine(threshold)
        machine.start(at: 0)

        #expect(machine.receive(1, through: 50, amperes: 0).isEmpty)
        #expect(machine.recording?.trigger == .hand)
    }

    // MARK: - Gaps

    @Test func lostLink_isAGap_thatIsNotIntegrated() throws {
        var machine = RecordingMachine()
        machine.start(at: 0)
        machine.receive(0, through: 10, amperes: 1)
        machine.linkLost()
        machine.receive(110, through: 120, amperes: 1)

        let ended = try #require(machine.stop(at: 120).ended)

        #expect(ended.totals.gaps == [RecordingGap(start: .start + .seconds(10), length: .seconds(100), cause: .link)])
        #expect(ended.totals.recorded == .seconds(20))
        #expect(ended.totals.duration == .seconds(120))
        #expect(((ended.totals.charge_mAh ?? 0) - 20 / 3.6).magnitude < 1e-12)
        #expect(ended.marks == [.gaps])
    }

    @Test func shortLoss_isNoGap() {
        var machine = RecordingMachine()
        machine.start(at: 0)
        machine.receive(0, through: 10, amperes: 1)
        machine.linkLost()
        machine.receive(15, through: 20, amperes: 1)

        #expect(machine.recording?.totals.gapCount == 0)
        #expect(machine.recording?.totals.recorded == .seconds(20))
    }

    @Test func silentMeter_isAGap_ofItsOwnKind() {
        var machine = RecordingMachine()
        machine.start(at: 0)
        machine.receive(0, through: 10, amperes: 1)
        machine.receive(40, through: 41, amperes: 1)

        #expect(machine.recording?.totals.gaps.map(\.cause) == [.silence])
    }

    @Test func restart_isAGap_ofOneRecording() throws {
        var before = RecordingMachine()
        before.start(at: 0, name: "phone")
        before.receive(0, through: 10, amperes: 1)
        let kept = try #require(before.recording)

        // Another boot: its clock began anew.
        var after = RecordingMachine()
        after.resumed(kept)
        for second in 0...10 {
            var reading = TimedReading.at(Double(second), 1)
            reading.wallTime = .start + .seconds(50 + second)
            #expect(after.received(reading) == .none)
        }
        let ended = try #require(after.stop(at: .start + .seconds(60), .origin + .seconds(10)).ended)

        #expect(ended.id == kept.id)
        #expect(ended.name == "phone")
        #expect(ended.totals.gaps == [RecordingGap(start: .start + .seconds(10), length: .seconds(40), cause: .host)])
        #expect(ended.totals.recorded == .seconds(20))
        #expect(ended.totals.readings == 22)
        #expect(ended.marks == [.gaps, .hostRestarted])
    }

    @Test func restart_endsWhatTheThresholdBegan_whereItTookTooLong() throws {
        var before = RecordingMachine(threshold)
        before.receive(0, through: 10, amperes: 1)
        let kept = try #require(before.recording)

        var after = RecordingMachine(threshold)
        after.resumed(kept)

        #expect(after.woke(at: .start + .seconds(70), .origin) == .none)
        #expect(after.woke(at: .start + .seconds(71), .origin).ended?.until == .start + .seconds(10))
    }

    @Test func calendarThatWentBack_isNoNegativeGap() throws {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 10, amperes: 1)
        let kept = try #require(machine.recording)

        var after = RecordingMachine(threshold)
        after.resumed(kept)
        let earlier = WallTime(millisecondsSince1970: 0)
        #expect(after.woke(at: earlier, .origin) == .none)
        var reading = TimedReading.at(0, 1)
        reading.wallTime = earlier
        #expect(after.received(reading) == .none)

        #expect(after.recording?.totals.gapTime == .zero)
        #expect(after.recording?.until == .start + .seconds(10))
    }

    @Test func gaps_areCounted_beyondThoseThatAreListed() {
        var machine = RecordingMachine()
        machine.start(at: 0)
        for number in 0...(RecordingTotals.gapsMax + 50) { _ = machine.received(.at(Double(number) * 20, 1)) }

        #expect(machine.recording?.totals.gapCount == RecordingTotals.gapsMax + 50)
        #expect(machine.recording?.totals.gaps.count == RecordingTotals.gapsMax)
    }
}
