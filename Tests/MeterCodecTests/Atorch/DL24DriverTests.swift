import Domain
import MeterCodec
import MeterSimulator
import Testing

/// The conversation with a load: what is asked when, and what its answers are worth. A step is what the driver calls a poll.
struct DL24DriverTests {
    private static let report = "ff55010200003300000000000200000000000000000000000016000007133c00000000e0"

    /// What a driver said and heard.
    private struct Talk {
        var driver = DL24Driver()
        var events: [MeterEvent] = []

        init() { _ = driver.opening() }

        /// - Returns: the code of the query that this step sends; nil for none.
        mutating func step() -> UInt8? {
            let bytes = driver.poll()
            #expect(bytes.isEmpty || bytes.count == 6)
            return bytes.isEmpty ? nil : bytes[2]
        }

        mutating func hear(_ bytes: [UInt8]) {
            var events: [MeterEvent] = []
            driver.receive(bytes) { events.append($0) }
            self.events += events
        }

        mutating func answer(_ raw: UInt32) {
            var bytes: [UInt8] = [0xCA, 0xCB]
            bytes.appendU24BE(raw)
            hear(bytes + [0xCE, 0xCF])
        }

        /// Answers each question by this table for so many steps. What is not in it gets no answer.
        mutating func talk(_ steps: Int, _ table: [PX100Query: UInt32]) {
            for _ in 0..<steps {
                guard let code = step(), let query = PX100Query(rawValue: code), let value = table[query] else {
                    continue
                }
                answer(value)
            }
        }

        /// Goes on until this is asked, and leaves that without an answer.
        mutating func seek(_ query: PX100Query, _ table: [PX100Query: UInt32]) {
            for _ in 0..<100 {
                guard let code = step() else { continue }
                guard code != query.rawValue else { return }
                answer(PX100Query(rawValue: code).flatMap { table[$0] } ?? 0)
            }
            Issue.record("\(query) is not asked")
        }

        var readings: [Reading] {
            events.flatMap { event -> [Reading] in
                guard case .frame(let frame) = event else { return [] }
                var readings: [Reading] = []
                frame.forEachReading { readings.append($0) }
                return readings
            }
        }

        var details: [String: FrameDetail.Value] {
            for case .frame(let frame) in events.reversed() {
                return Dictionary(uniqueKeysWithValues: frame.content.details.map { ($0.key, $0.value) })
            }
            return [:]
        }

        var readBacks: [MeterCommand] {
            events.compactMap { if case .readBack(let command) = $0 { command } else { nil } }
        }
        var filtered: Int { events.reduce(0) { if case .filtered(let count) = $1 { $0 + count } else { $0 } } }
        var acknowledged: Int { events.reduce(0) { if case .acknowledged = $1 { $0 + 1 } else { $0 } } }
    }

    private let table: [PX100Query: UInt32] = [
        .isOn: 1, .voltage: 3982, .current: 1000, .time: 0x01_0203, .charge: 2034, .energy: 9100, .temperature: 31,
        .setCurrent: 100, .cutoff: 280, .timer: 0x02_0000,
    ]

    // MARK: Asking

    @Test func profile_saysHowItTalks() {
        let profile = DL24Driver().profile
        #expect(profile.model == .dl24 && profile.baudRate == 9600 && profile.counterSteps == .fine)
        #expect(profile.rhythm == .rounds(expected: .seconds(1), step: .milliseconds(200)))
        #expect(profile.commandSpacing == .milliseconds(500))
        // More than the second between two reports.
        #expect(profile.answerTimeout > .milliseconds(1010))
        let readBack = profile.commands.filter(\.isReadBack).map(\.kind)
        #expect(readBack == [.loadOn, .loadOff, .loadCurrent, .loadCutoff, .loadTimer])
        var driver = DL24Driver()
        #expect(driver.opening().isEmpty && driver.closing().isEmpty)
    }

    @Test func oneThingIsAsked_atATime() {
        var talk = Talk()
        #expect(talk.step() == 0x10)
        for _ in 1..<5 { #expect(talk.step() == nil) }
        // Given up; the line is left alone for two steps, and the same is asked again.
        #expect(talk.step() == nil)
        #expect(talk.step() == nil)
        #expect(talk.step() == 0x10)
    }

    @Test func eachRound_asksTheFastOnes_andTwoOthers() {
        var talk = Talk()
        talk.talk(40, table)
        var asked: [UInt8] = []
        for _ in 0..<35 {
            guard let code = talk.step(), let query = PX100Query(rawValue: code) else { continue }
            asked.append(code)
            talk.answer(table[query] ?? 0)
        }
        for fast in [0x10, 0x11, 0x12] as [UInt8] { #expect(asked.filter { $0 == fast }.count == 7) }
        for slow in [0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19] as [UInt8] {
            #expect(asked.filter { $0 == slow }.count == 2, "\(slow)")
        }
    }

    @Test func reading_hasTheFineValues_onceAllWereAnswered() throws {
        var talk = Talk()
        talk.talk(40, table)
        let reading = try #require(talk.readings.last)
        #expect(reading[.voltage] == 3.982 && reading[.current] == 1 && reading[.power] == 3.982)
        #expect(reading[.charge] == 2034 && reading[.energy] == 9.1)
        #expect(reading[.temperature] == 31 && reading[.duration] == 3723)
        #expect(talk.readings.allSatisfy { $0.supported == reading.supported })
        #expect(talk.details["load_on"] == .flag(true) && talk.details["queries"] == .text("answered"))
        #expect(talk.details["set_current_A"] == .number(1) && talk.details["cutoff_V"] == .number(2.8))
        #expect(talk.details["timer_s"] == .integer(7200))
        #expect(talk.filtered == 0)
    }

    @Test func everyAnswer_freesTheLine_believedOrNot() {
        var talk = Talk()
        talk.talk(20, table)
        talk.seek(.voltage, table)
        let before = talk.acknowledged
        talk.answer(9999)
        #expect(talk.acknowledged == before + 1)
    }

    @Test func aQuantityThatIsNeverAnswered_doesNotHoldTheRestBack() throws {
        var lame = table
        lame[.temperature] = nil
        var talk = Talk()
        talk.talk(120, lame)
        let reading = try #require(talk.readings.last)
        #expect(reading[.voltage] == 3.982 && !reading.supported.contains(.temperature))
    }

    @Test func anotherLink_beginsAnew() {
        var talk = Talk()
        talk.talk(30, table)
        _ = talk.driver.opening()
        #expect(talk.driver.poll() == PX100Query.isOn.bytes)
        talk.events = []
        talk.answer(1)
        // What was believed over the last link is no reference.
        #expect(talk.readBacks.isEmpty)
    }

    // MARK: Believing

    @Test func firstAnswer_isAskedOnceMore_unlessTheReportAgrees() throws {
        var alone = Talk()
        #expect(alone.step() == 0x10)
        alone.answer(1)
        #expect(alone.readBacks.isEmpty)
        // At once: there is nothing that could have come apart.
        #expect(alone.step() == 0x10)
        alone.answer(1)
        #expect(alone.readBacks == [MeterCommand(.loadOn)])
        #expect(alone.step() == 0x11)

        var vouched = Talk()
        vouched.hear(try hex(Self.report))
        vouched.seek(.voltage, [.isOn: 1])
        vouched.answer(5107)
        #expect(vouched.step() == 0x12)
    }

    @Test func answerFarFromTheLast_countsWhenItComesTwice() throws {
        var talk = Talk()
        talk.talk(30, table)
        talk.seek(.voltage, table)
        let before = talk.readings.count
        talk.answer(3500)
        #expect(talk.step() == nil)
        #expect(talk.step() == nil)
        #expect(talk.step() == 0x11)
        talk.answer(3501)
        var next = table
        next[.voltage] = 3500
        talk.talk(5, next)
        #expect(talk.readings.count > before)
        #expect(talk.readings.last?[.voltage] == 3.501 || talk.readings.last?[.voltage] == 3.5)
        #expect(talk.filtered == 0)
    }

    @Test func singleWrongAnswer_neverShows() {
        var talk = Talk()
        talk.talk(30, table)
        for wrong in [0, 3982 ^ 0x800, 240_000, 22] as [UInt32] {
            talk.seek(.voltage, table)
            talk.answer(wrong)
            talk.talk(12, table)
        }
        #expect(talk.readings.allSatisfy { $0[.voltage] == 3.982 })
    }

    @Test func answersThatNeverAgree_areDropped_andCounted() {
        var talk = Talk()
        talk.talk(30, table)
        talk.seek(.charge, table)
        for value in [100_000, 200_000, 300_000] as [UInt32] {
            talk.answer(value)
            if value < 300_000 { talk.seek(.charge, [:]) }
        }
        #expect(talk.filtered == 1)
        talk.talk(30, table)
        #expect(talk.filtered == 1)
        #expect(talk.readings.last?[.charge] == 2034)
        #expect(talk.readings.allSatisfy { $0[.charge] == 2034 })
    }

    @Test(
        arguments: [
            (PX100Query.voltage, 4000, 4050, true), (.voltage, 4000, 4200, false), (.voltage, 0, 50, true),
            (.voltage, 0, 51, false),
            (.voltage, 0, 51, false), (.current, 0, 20, true), (.current, 0, 21, false), (.current, 6400, 6600, true),
            (.charge, 10, 160, true), (.charge, 10, 161, false), (.energy, 0, 2000, true), (.energy, 0, 2001, false),
            (.temperature, 30, 33, true), (.temperature, 30, 34, false), (.time, 0x00_0032, 0x00_0100, true),
            (.time, 0x00_0031, 0x00_0100, false), (.isOn, 0, 1, false), (.setCurrent, 100, 101, false),
            (.cutoff, 280, 280, true),
            (.timer, 0, 0x100, false),
        ] as [(PX100Query, UInt32, UInt32, Bool)])
    func near_isNear(query: PX100Query, first: UInt32, second: UInt32, isNear: Bool) {
        #expect(query.isNear(first, second) == isNear)
        #expect(query.isNear(second, first) == isNear)
    }

    // MARK: Late and lost answers

    @Test func lateAnswer_isNotTakenForTheNext() {
        var talk = Talk()
        talk.talk(30, table)
        talk.seek(.voltage, table)
        // Lost for a second, then here while the line is left alone.
        for _ in 0..<5 { #expect(talk.step() == nil) }
        talk.answer(3982)
        #expect(talk.step() == nil)
        #expect(talk.step() == nil)
        #expect(talk.step() == 0x11)
        talk.answer(3982)
        talk.talk(20, table)
        #expect(talk.readings.allSatisfy { $0[.voltage] == 3.982 && $0[.current] == 1 })
        #expect(talk.filtered == 0)
    }

    @Test func answersOneStepBehind_areNeverBelieved() {
        var talk = Talk()
        talk.talk(30, table)
        // From now on each question gets the answer to the one before.
        var last: UInt32 = 1
        for _ in 0..<60 {
            guard let code = talk.step(), let query = PX100Query(rawValue: code) else { continue }
            talk.answer(last)
            last = table[query] ?? 0
        }
        #expect(talk.readings.allSatisfy { $0[.voltage] == 3.982 && $0[.current] == 1 && $0[.charge] == 2034 })
    }

    @Test func lostAnswer_isAskedForThreeTimes_thenTheNextHasItsTurn() {
        var talk = Talk()
        talk.talk(30, table)
        talk.seek(.isOn, table)
        var asked: [UInt8] = [0x10]
        for _ in 0..<22 { if let code = talk.step() { asked.append(code) } }
        #expect(asked == [0x10, 0x10, 0x10, 0x11])
    }

    @Test func overdueAnswer_isGivenUp_whenTheExchangeSaysSo() throws {
        var talk = Talk()
        #expect(talk.step() == 0x10)
        talk.hear(try hex("cacb00"))
        #expect(talk.driver.discardPartial() == 3)
        // A report that is on its way is not thrown away.
        talk.hear(Array(try hex(Self.report).prefix(20)))
        #expect(talk.driver.discardPartial() == 0)
        talk.hear(Array(try hex(Self.report).dropFirst(20)))
        talk.hear(try hex(Self.report))
        talk.hear(try hex(Self.report))
        #expect(talk.readings.count == 1)
    }

    // MARK: Reports

    @Test func report_givesNoReading_whileAnswersCome() throws {
        var talk = Talk()
        talk.talk(30, table)
        let readings = talk.readings.count
        talk.hear(try hex(Self.report))
        talk.hear(try hex(Self.report))
        #expect(talk.readings.count == readings)
        talk.talk(10, table)
        #expect(talk.details["backlight_s"] == .integer(60))
        #expect(talk.readings.last?[.price] == 0)
    }

    @Test func report_standsInForAnswers_withoutItsCoarseCounters() throws {
        var talk = Talk()
        talk.talk(30, table)
        let before = talk.readings.count
        for _ in 0..<2 { talk.hear(try hex(Self.report)) }
        #expect(talk.readings.count == before)
        talk.hear(try hex(Self.report))
        #expect(talk.readings.count == before + 1)
        let coarse = try #require(talk.readings.last)
        #expect(
            coarse[.voltage] == 5.1 && coarse[.current] == 0 && coarse[.temperature] == 22 && coarse[.duration] == 439)
        #expect(!coarse.supported.contains(.charge) && !coarse.supported.contains(.energy))
        // And once answers come again, they are what counts.
        talk.talk(20, table)
        #expect(talk.readings.last?[.voltage] == 3.982)
        let again = talk.readings.count
        for _ in 0..<2 { talk.hear(try hex(Self.report)) }
        #expect(talk.readings.count == again)
    }

    @Test func loadThatAnswersNothing_goesOnWithItsReports() throws {
        var talk = Talk()
        var asked = 0
        for second in 0..<60 {
            talk.hear(try hex(Self.report))
            for _ in 0..<5 where talk.step() != nil { asked += 1 }
            if second == 20 { talk.events = [] }
        }
        #expect(talk.readings.count == 39)
        let reading = try #require(talk.readings.last)
        // Nothing finer will come, so the coarse counters are told.
        #expect(reading[.charge] == 20 && reading[.energy] == 0 && reading[.voltage] == 5.1)
        #expect(talk.details["queries"] == .text("no answer"))
        #expect(talk.driver.profile.counterSteps == .tens)
        // It may be heard and not reached: once a link it is asked anew by another way, if there is one.
        #expect(talk.driver.doubtsOutput)
        #expect(talk.driver.outputSwitched(false).isEmpty && !talk.driver.doubtsOutput)
        #expect(talk.details["load_on"] == nil)
        // Five questions and their repeats, then one in half a minute.
        #expect((5...8).contains(asked))
    }

    @Test func silentLoad_isAskedAgain_andBelievedWhenItAnswers() throws {
        var talk = Talk()
        for _ in 0..<20 {
            talk.hear(try hex(Self.report))
            for _ in 0..<5 { _ = talk.step() }
        }
        #expect(talk.details["queries"] == .text("no answer"))
        var codes: [UInt8] = []
        for _ in 0..<40 {
            talk.hear(try hex(Self.report))
            for _ in 0..<5 {
                guard let code = talk.step() else { continue }
                codes.append(code)
                if let query = PX100Query(rawValue: code) { talk.answer(table[query] ?? 0) }
            }
        }
        #expect(codes.first == 0x10)
        #expect(codes.count > 20)
        #expect(talk.details["queries"] == .text("answered"))
    }

    @Test func loadThatPushesNothing_isAskedForEver() {
        var talk = Talk()
        var asked = 0
        for _ in 0..<700 where talk.step() != nil { asked += 1 }
        #expect(asked >= 90)
        #expect(talk.readings.isEmpty)
    }

    /// The largest values that a report may hold, and a time beyond what an answer can say.
    @Test func reportAtItsLimits_isOneLikeAnyOther() throws {
        var talk = Talk()
        talk.talk(40, table)
        var body: [UInt8] = [0x01, 0x02]
        body.appendU24BE(20_000)
        body.appendU24BE(2_000_000)
        body.appendU24BE(9_999_999)
        body.appendBE(UInt32(99_999_999))
        body.appendU24BE(9_999_999)
        body += [0, 0, 0, 0]
        body.appendBE(UInt16(200))
        body.appendBE(UInt16.max)
        body += [59, 59, 60, 0, 0, 0, 0]
        let report = [0xFF, 0x55] + body + [AtorchCheck.byte(over: body)]
        for _ in 0..<4 { talk.hear(report) }
        #expect(talk.readings.last?[.voltage] == 2000 && talk.readings.last?[.duration] == 235_929_599)
        talk.talk(40, table)
        #expect(talk.readings.last?[.voltage] == 3.982 && talk.readings.last?[.duration] == 3723)
    }

    // MARK: Commands

    @Test func silentLoad_isSwitchedOff_butNotOn() throws {
        var talk = Talk()
        for _ in 0..<20 {
            talk.hear(try hex(Self.report))
            for _ in 0..<5 { _ = talk.step() }
        }
        #expect(try Hex.encode(talk.driver.encode(MeterCommand(.loadOff))) == "b1b2010000b6")
        #expect(try Hex.encode(talk.driver.encode(MeterCommand(.clearAll))) == "ff55110205000000005c")
        for command in [
            MeterCommand(.loadOn), MeterCommand(.loadCurrent, 10), MeterCommand(.loadCutoff, 10),
            MeterCommand(.loadTimer, 1),
        ] {
            #expect(throws: CodecError.unanswering(command.kind)) { try talk.driver.encode(command) }
        }
    }

    @Test func order_isReadBackFirst_andBelievedAtOnce() {
        var talk = Talk()
        talk.talk(30, table)
        talk.events = []
        talk.driver.sent(MeterCommand(.loadCurrent, 1500))
        talk.hear([0x6F])
        #expect(talk.acknowledged == 1)
        #expect(talk.step() == 0x17)
        talk.answer(150)
        #expect(talk.readBacks == [MeterCommand(.loadCurrent, 1500)])
        #expect(talk.step() != 0x17)
    }

    @Test func orderThatWasNotTaken_isReadBackAsItIs() {
        var talk = Talk()
        talk.talk(30, table)
        talk.events = []
        talk.driver.sent(MeterCommand(.loadOff))
        #expect(talk.step() == 0x10)
        talk.answer(1)
        #expect(talk.readBacks == [MeterCommand(.loadOn)])
    }

    @Test func confirmation_countsUntilTheNextQuestion() {
        var talk = Talk()
        talk.talk(30, table)
        talk.events = []
        talk.hear([0x6F])
        #expect(talk.acknowledged == 0)
        talk.driver.sent(MeterCommand(.loadOff))
        _ = talk.step()
        talk.hear([0x6F])
        #expect(talk.acknowledged == 0)
    }

    @Test func reset_isBelievedWhenTheCountersAreZero() {
        var talk = Talk()
        talk.talk(30, table)
        talk.driver.sent(MeterCommand(.clearAll))
        var zero = table
        (zero[.charge], zero[.energy], zero[.time]) = (0, 0, 0)
        talk.events = []
        talk.talk(30, zero)
        #expect(
            talk.readings.last?[.charge] == 0 && talk.readings.last?[.energy] == 0
                && talk.readings.last?[.duration] == 0)
        #expect(talk.filtered == 0)
    }

    @Test func keys_changeThePair_whenOneIsUnsupported() throws {
        var talk = Talk()
        #expect(try Hex.encode(talk.driver.encode(MeterCommand(.plus))) == "ff551102330000000002")
        talk.hear(AtorchReply(.unsupported).bytes)
        guard case .rejected? = talk.events.last else { return #expect(Bool(false)) }
        #expect(try Hex.encode(talk.driver.encode(MeterCommand(.plus))) == "ff551102110000000060")
        talk.hear(AtorchReply(.done).bytes)
        guard case .acknowledged? = talk.events.last else { return #expect(Bool(false)) }
        #expect(try Hex.encode(talk.driver.encode(MeterCommand(.plus))) == "ff551102110000000060")
    }
}
