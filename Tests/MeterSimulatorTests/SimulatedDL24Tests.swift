import Domain
import MeterCodec
import MeterSimulator
import Testing

/// A load talks with its driver as over a line: what it says goes out when it is due, and the driver asks every 200 ms.
struct SimulatedDL24Tests {
    struct Line {
        var meter: SimulatedDL24
        var driver = DL24Driver()
        var time = Duration.zero
        var readings: [Reading] = []
        var details: [String: FrameDetail.Value] = [:]
        var readBacks: [MeterCommand] = []
        var filtered = 0
        var skipped = 0
        var lost = 0
        private var isAsked = false
        private var askedAt = Duration.zero

        init(_ meter: SimulatedDL24) {
            self.meter = meter
            _ = driver.opening()
        }

        mutating func run(_ length: Duration) {
            let end = time + length
            while time < end {
                time += .milliseconds(10)
                for bytes in meter.due(at: time) { hear(bytes) }
                if isAsked, time - askedAt >= driver.profile.answerTimeout {
                    lost += 1
                    isAsked = false
                    _ = driver.discardPartial()
                }
                guard !isAsked, time.milliseconds % 200 == 0 else { continue }
                let request = driver.poll()
                guard !request.isEmpty else { continue }
                (isAsked, askedAt) = (true, time)
                for bytes in meter.receive(request, at: time) { hear(bytes) }
            }
        }

        private mutating func hear(_ bytes: [UInt8]) {
            var (isAnswered, driver) = (false, driver)
            driver.receive(bytes) { event in
                switch event {
                case .held: isAnswered = true
                case .frame(let frame), .confirmed(let frame):
                    isAnswered = true
                    frame.forEachReading { readings.append($0) }
                    for detail in frame.content.details { details[detail.key] = detail.value }
                case .acknowledged, .rejected: isAnswered = true
                case .readBack(let command): readBacks.append(command)
                case .filtered(let samples): filtered += samples
                case .skipped(let count, _): skipped += count
                case .identified: break
                }
            }
            self.driver = driver
            if isAnswered { isAsked = false }
        }

        /// Sends a command, and leaves the line alone afterwards, as a session does.
        mutating func send(_ command: MeterCommand) throws {
            let bytes = try driver.encode(command)
            driver.sent(command)
            for bytes in meter.receive(bytes, at: time) { hear(bytes) }
            let end = time + driver.profile.commandSpacing
            while time < end {
                time += .milliseconds(10)
                for bytes in meter.due(at: time) { hear(bytes) }
            }
        }
    }

    private func load(_ change: (inout SimulatedDL24.Quirks) -> Void = { _ in }) -> SimulatedDL24 {
        var quirks = SimulatedDL24.Quirks()
        change(&quirks)
        return SimulatedDL24(quirks: quirks)
    }

    @Test func report_comesEachSecond_andIsRoundedDown() throws {
        var meter = load { $0.startsOn = true }
        #expect(meter.nextDue == .seconds(1))
        #expect(meter.due(at: .milliseconds(999)).isEmpty)
        let bytes = try #require(meter.due(at: .seconds(1)).first)
        #expect(bytes.count == 36)
        // 4.07 V at 1 A: 4.0 V.
        #expect(bytes[3] == 2 && bytes[6] == 40 && Array(bytes[7...9]) == [0, 0x03, 0xE8])
        #expect(meter.nextDue == .seconds(2))
    }

    @Test func answer_takes30To100Milliseconds_orIsLost() {
        var (answers, lost) = (0, 0)
        for seed in 0..<400 as Range<UInt64> {
            var meter = SimulatedDL24(seed: seed)
            #expect(meter.receive(PX100Query.voltage.bytes, at: .milliseconds(300)).isEmpty)
            #expect(meter.due(at: .milliseconds(329)).isEmpty)
            switch meter.due(at: .milliseconds(401)).count {
            case 1: answers += 1
            default: lost += 1
            }
        }
        #expect(answers + lost == 400)
        #expect((1...12).contains(lost))
    }

    @Test func answer_isLostOrLate_whenAReportGoesOut() {
        var (lost, late) = (0, 0)
        for seed in 0..<200 as Range<UInt64> {
            var quirks = SimulatedDL24.Quirks()
            quirks.losesOneIn = 0
            var meter = SimulatedDL24(quirks: quirks, seed: seed)
            _ = meter.receive(PX100Query.voltage.bytes, at: .milliseconds(969))
            let sent = meter.due(at: .milliseconds(1037))
            #expect(sent.first?.count == 36 || sent.first?.count == 7)
            if meter.due(at: .milliseconds(1070)).isEmpty, sent.count == 1 { lost += 1 } else { late += 1 }
        }
        #expect(lost > 20 && late > 20)
    }

    @Test func unknownCode_getsNoAnswer() {
        var meter = load { $0.losesOneIn = 0 }
        _ = meter.receive([0xB1, 0xB2, 0x30, 0x00, 0x00, 0xB6], at: .milliseconds(100))
        #expect(meter.due(at: .milliseconds(900)).isEmpty)
        // What is no message is passed over, byte by byte.
        _ = meter.receive([0x00, 0xB1, 0xFF] + PX100Query.isOn.bytes + PX100Query.timer.bytes, at: .milliseconds(1100))
        #expect(meter.due(at: .milliseconds(1900)).count == 3)
    }

    @Test func conversation_bringsAReadingASecond_despiteLosses() throws {
        var line = Line(load { $0.startsOn = true })
        line.run(.seconds(300))
        #expect((240...301).contains(line.readings.count))
        #expect(line.lost > 3)
        #expect(line.skipped == 0)
        #expect(line.filtered == 0)
        let last = try #require(line.readings.last)
        #expect(try (3.9...4.1).contains(#require(last[.voltage])))
        #expect(last[.current] == 1)
        // 5 minutes at 1 A.
        #expect(try (82...84).contains(#require(last[.charge])))
        #expect(try (0.33...0.35).contains(#require(last[.energy])))
        #expect(line.details["load_on"] == .flag(true) && line.details["queries"] == .text("answered"))
        // Never a reading that is rounded down, and no counter that goes back.
        let charges = line.readings.compactMap { $0[.charge] }
        #expect(charges == charges.sorted())
    }

    @Test func load_isSetAndSwitched_andSaysSo() throws {
        var line = Line(load { $0.losesOneIn = 0 })
        line.run(.seconds(10))
        #expect(line.readings.last?[.current] == 0)
        for command in [
            MeterCommand(.loadCutoff, 3000), MeterCommand(.loadTimer, 90), MeterCommand(.loadCurrent, 1500),
            MeterCommand(.loadOn),
        ] {
            line.readBacks = []
            try line.send(command)
            line.run(.seconds(2))
            #expect(line.readBacks.contains(command), "\(command)")
            #expect(!line.readBacks.contains { $0.contradicts(command) }, "\(command)")
        }
        line.run(.seconds(5))
        #expect(line.readings.last?[.current] == 1.5)
        #expect(line.details["set_current_A"] == .number(1.5) && line.details["cutoff_V"] == .number(3))
        #expect(line.details["timer_s"] == .integer(5400))
        try line.send(MeterCommand(.loadOff))
        line.run(.seconds(3))
        #expect(line.readings.last?[.current] == 0)
        #expect(line.details["load_on"] == .flag(false))
    }

    @Test func load_switchesItselfOff_atItsCutoff() throws {
        let battery = SimulatedDL24.Battery(capacity_mAh: 100)
        var quirks = SimulatedDL24.Quirks()
        quirks.startsOn = true
        var line = Line(SimulatedDL24(battery: battery, quirks: quirks))
        line.run(.seconds(420))
        let drawn = try #require(line.readings.last?[.charge])
        // 2.8 V is near its end.
        #expect((93...100).contains(drawn))
        #expect(line.details["load_on"] == .flag(false))
        #expect(line.readings.last?[.current] == 0)
        // Without load, the voltage is above the cut-off again.
        #expect(try #require(line.readings.last?[.voltage]) > 2.8)
        line.run(.seconds(60))
        #expect(line.readings.last?[.charge] == drawn)
    }

    @Test func load_switchesItselfOff_afterItsTime_andCountsThatAnewEachTime() throws {
        var line = Line(load { $0.losesOneIn = 0 })
        line.run(.seconds(5))
        try line.send(MeterCommand(.loadTimer, 1))
        for _ in 0..<2 {
            try line.send(MeterCommand(.loadOn))
            line.run(.seconds(55))
            #expect(line.details["load_on"] == .flag(true))
            line.run(.seconds(10))
            #expect(line.details["load_on"] == .flag(false))
        }
        // 0 is none.
        try line.send(MeterCommand(.loadTimer, 0))
        try line.send(MeterCommand(.loadOn))
        line.run(.seconds(90))
        #expect(line.details["load_on"] == .flag(true))
    }

    @Test func counters_beginAtZero_andTheBatteryDoesNot() throws {
        var line = Line(load { $0.startsOn = true })
        line.run(.seconds(600))
        let before = try #require(line.readings.last?[.voltage])
        try line.send(MeterCommand(.clearAll))
        line.run(.seconds(4))
        let after = try #require(line.readings.last)
        #expect(try #require(after[.charge]) <= 2)
        #expect(try #require(after[.duration]) <= 6)
        #expect(try abs(#require(after[.voltage]) - before) < 0.02)
    }

    @Test func theEnterKey_toggles() {
        var meter = load { $0.losesOneIn = 0 }
        func isOn(_ meter: inout SimulatedDL24, _ time: Duration) -> UInt8? {
            _ = meter.receive(PX100Query.isOn.bytes, at: time)
            return meter.due(at: time + .milliseconds(200)).last { $0.count == 7 }?[4]
        }
        #expect(isOn(&meter, .milliseconds(100)) == 0)
        for (place, expected) in [1, 0, 1].enumerated() as EnumeratedSequence<[UInt8]> {
            let time = Duration.milliseconds(1100 + 1000 * place)
            _ = meter.receive([0xFF, 0x55, 0x11, 0x02, 0x32, 0, 0, 0, 0, 0x01], at: time)
            #expect(meter.due(at: time + .milliseconds(200)).last == [0xFF, 0x55, 0x02, 0x01, 0x01, 0, 0, 0x40])
            #expect(isOn(&meter, time + .milliseconds(300)) == expected)
        }
    }

    @Test func loadThatAnswersNothing_isReadByItsReports() throws {
        var line = Line(
            load {
                $0.answersQueries = false
                $0.startsOn = true
            })
        line.run(.seconds(120))
        #expect(line.readings.count > 100)
        #expect(line.details["queries"] == .text("no answer"))
        #expect(line.readings.last?[.voltage] == 4 || line.readings.last?[.voltage] == 4.1)
        #expect(try #require(line.readings.last?[.charge]) == 30)
    }

    @Test func loadWithoutReports_isReadByItsAnswers() throws {
        var line = Line(
            load {
                $0.sendsReports = false
                $0.startsOn = true
            })
        line.run(.seconds(60))
        #expect(line.readings.count > 45)
        #expect(line.readings.last?[.current] == 1)
    }

    @Test func answersThatComeSecondsLate_neverMixUp() {
        var quirks = SimulatedDL24.Quirks()
        (quirks.startsOn, quirks.lag, quirks.losesCollisions) = (true, 1200, false)
        var line = Line(SimulatedDL24(quirks: quirks, seed: 5))
        line.run(.seconds(600))
        for reading in line.readings {
            if let voltage = reading[.voltage] { #expect((3.8...4.2).contains(voltage)) }
            if let current = reading[.current] { #expect(current == 1) }
            if let charge = reading[.charge] { #expect(charge <= 170) }
            if let temperature = reading[.temperature] { #expect((29...31).contains(temperature)) }
        }
        #expect(!line.readings.isEmpty)
    }

    @Test func powerCycle_switchesItOff_andKeepsItsSettings() throws {
        var line = Line(load { $0.losesOneIn = 0 })
        line.run(.seconds(5))
        try line.send(MeterCommand(.loadCurrent, 2340))
        try line.send(MeterCommand(.loadOn))
        line.run(.seconds(3))
        line.meter.powerCycle()
        line.time = .zero
        line.run(.seconds(8))
        #expect(line.details["load_on"] == .flag(false))
        #expect(line.details["set_current_A"] == .number(2.34))
    }

    @Test func spoiltMessages_giveNoFalseReading() {
        for kind in SimulatorFaults.Kind.allCases {
            var meter = load { $0.startsOn = true }
            meter.faults = SimulatorFaults(kind, every: 3)
            var line = Line(meter)
            line.run(.seconds(120))
            for reading in line.readings {
                if let voltage = reading[.voltage] { #expect((3.8...4.2).contains(voltage), "\(kind)") }
                if let current = reading[.current] { #expect(current == 1, "\(kind)") }
            }
            #expect(line.readings.count > 20, "\(kind)")
        }
    }
}
