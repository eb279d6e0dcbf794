import Domain
import Testing

struct ExchangeMachineTests {
    private let rhythm = ExchangeRhythm(
        requestInterval: .milliseconds(500), requestsAreAnswered: true, answerTimeout: .seconds(2),
        commandSpacing: .milliseconds(500)
    )

    private func expectTurn(
        _ machine: inout ExchangeMachine, at time: MonotonicTime, _ expected: ExchangeMachine.OnTurn,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let turn = machine.turn(at: time)
        #expect(turn == expected, sourceLocation: sourceLocation)
    }

    @Test func requests_keepTheBeat_whateverTheAnswersTake() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        var sent: [MonotonicTime] = []
        for millisecond in stride(from: 0, through: 2000, by: 10) {
            if machine.turn(at: .milliseconds(millisecond)) == .sendRequest {
                sent.append(.milliseconds(millisecond))
            }
            if millisecond % 500 == 130 { machine.answered() }
        }
        #expect(sent == [0, 500, 1000, 1500, 2000].map(MonotonicTime.milliseconds))
    }

    @Test func onlyOneRequestIsOut_untilItsAnswerIsOverdue() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        expectTurn(&machine, at: .seconds(0), .sendRequest)
        expectTurn(&machine, at: .milliseconds(1999), .wait)
        #expect(machine.nextWake == .seconds(2))
        expectTurn(&machine, at: .seconds(2), .giveUpAnswer)
        expectTurn(&machine, at: .seconds(2), .sendRequest)
    }

    /// Then the alarm stays where it is when the answer comes.
    @Test func whileAnAnswerIsAwaited_theAlarmIsAlreadySetToTheNextRequest() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        expectTurn(&machine, at: .seconds(0), .sendRequest)
        #expect(machine.nextWake == .milliseconds(500))
        machine.answered()
        #expect(machine.nextWake == .milliseconds(500))
        expectTurn(&machine, at: .milliseconds(500), .sendRequest)
        expectTurn(&machine, at: .milliseconds(1000), .wait)
        #expect(machine.nextWake == .milliseconds(2500))
        // The late answer makes the request due at once.
        machine.answered()
        #expect(machine.nextWake == .milliseconds(1000))
        expectTurn(&machine, at: .milliseconds(1100), .sendRequest)
        #expect(machine.nextWake == .milliseconds(1500))
    }

    @Test func command_waitsForTheAnswer_thenGoesFirst_andIsFollowedByQuiet() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        _ = machine.turn(at: .seconds(0))
        machine.commandQueued()
        machine.commandQueued()
        expectTurn(&machine, at: .milliseconds(10), .wait)
        machine.answered()
        expectTurn(&machine, at: .milliseconds(20), .sendCommand)
        expectTurn(&machine, at: .milliseconds(20), .wait)
        #expect(machine.nextWake == .milliseconds(520))
        expectTurn(&machine, at: .milliseconds(519), .wait)
        // The request that is due meanwhile goes between the two.
        expectTurn(&machine, at: .milliseconds(520), .sendRequest)
        machine.answered()
        expectTurn(&machine, at: .milliseconds(540), .sendCommand)
        expectTurn(&machine, at: .milliseconds(1039), .wait)
        expectTurn(&machine, at: .milliseconds(1040), .sendRequest)
    }

    /// Requests and commands take turns where both are due; where none is, commands only keep their distance.
    @Test func commands_followEachOther_whileNoRequestIsDue() {
        var machine = ExchangeMachine(
            rhythm: ExchangeRhythm(
                requestInterval: .seconds(10), requestsAreAnswered: true, answerTimeout: .seconds(2),
                commandSpacing: .milliseconds(500)), at: .seconds(0))
        _ = machine.turn(at: .seconds(0))
        machine.answered()
        for _ in 0..<3 { machine.commandQueued() }
        for time in [1000, 1500, 2000] { expectTurn(&machine, at: .milliseconds(time), .sendCommand) }
    }

    /// A turn that comes late does not put off those after it.
    @Test func lateTurn_keepsTheBeat_untilAWholeOneIsMissed() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        for (turn, next) in [(499, 500), (900, 1000), (1600, 2100), (2600, 3100)] {
            expectTurn(&machine, at: .milliseconds(turn), .sendRequest)
            machine.answered()
            #expect(machine.nextWake == .milliseconds(next))
        }
    }

    @Test func afterALongPause_oneRequestGoes_notAHeap() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        _ = machine.turn(at: .seconds(0))
        machine.answered()
        expectTurn(&machine, at: .seconds(60), .sendRequest)
        machine.answered()
        expectTurn(&machine, at: .seconds(60), .wait)
        #expect(machine.nextWake == .milliseconds(60_500))
    }

    @Test func pushedMeter_isNeverAsked() {
        let silent = ExchangeRhythm(
            requestInterval: nil, requestsAreAnswered: false, answerTimeout: .seconds(2), commandSpacing: .zero
        )
        var machine = ExchangeMachine(rhythm: silent, at: .seconds(0))
        expectTurn(&machine, at: .seconds(100), .wait)
        #expect(machine.nextWake == nil)
    }

    @Test func keepAlive_isSentOnTime_withoutWaitingForAnswers() {
        let push = ExchangeRhythm(
            requestInterval: .seconds(1), requestsAreAnswered: false, answerTimeout: .seconds(2), commandSpacing: .zero
        )
        var machine = ExchangeMachine(rhythm: push, at: .seconds(0))
        expectTurn(&machine, at: .seconds(0), .sendRequest)
        expectTurn(&machine, at: .milliseconds(999), .wait)
        expectTurn(&machine, at: .seconds(1), .sendRequest)
    }

    @Test func manyCommands_neverStarveTheRequests() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        for _ in 0..<20 { machine.commandQueued() }
        var sent: [ExchangeMachine.OnTurn] = []
        for millisecond in stride(from: 0, through: 5000, by: 10) {
            let turn = machine.turn(at: .milliseconds(millisecond))
            if turn == .sendRequest { machine.answered() }
            if turn != .wait { sent.append(turn) }
        }
        let requests = sent.count { $0 == .sendRequest }
        #expect(requests >= 8)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0 != .sendCommand || $1 != .sendCommand })
    }

    @Test func fasterRhythm_doesNotWaitForTheSlowOnesBeat() {
        var slow = rhythm
        slow.requestInterval = .seconds(3000)
        var machine = ExchangeMachine(rhythm: slow, at: .seconds(0))
        expectTurn(&machine, at: .seconds(0), .sendRequest)
        machine.answered()
        machine.rhythmChanged(rhythm, at: .seconds(100))
        #expect(machine.nextWake == .milliseconds(100_500))
    }

    /// What did not go last goes first, where both are due: neither starves the other.
    @Test func commandsAndRequests_takeTurns_whereBothAreAlwaysDue() {
        for isAnsweredLate in [false, true] {
            var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
            for _ in 0..<4 { machine.commandQueued() }
            var sent: [ExchangeMachine.OnTurn] = []
            var now = MonotonicTime.seconds(0)
            while sent.count < 8 {
                let turn = machine.turn(at: now)
                if turn != .wait { sent.append(turn) }
                if turn == .sendRequest, isAnsweredLate { now = now + .seconds(1) }
                machine.answered()
                now = now + .milliseconds(100)
            }
            #expect(sent.count { $0 == .sendCommand } == 4)
            for (one, next) in zip(sent, sent.dropFirst()).prefix(6) { #expect(one != next, "\(sent)") }
            #expect(sent.first == .sendCommand)
        }
    }

    /// It sleeps until both the quiet after a command is over and the request is due.
    @Test func nextWake_waitsForTheQuietAndTheBeat() {
        var quick = rhythm
        for (spacing, next) in [(100, 500), (500, 500), (700, 700)] {
            quick.commandSpacing = .milliseconds(spacing)
            var machine = ExchangeMachine(rhythm: quick, at: .seconds(0))
            expectTurn(&machine, at: .seconds(0), .sendRequest)
            machine.answered()
            machine.commandQueued()
            expectTurn(&machine, at: .seconds(0), .sendCommand)
            #expect(machine.nextWake == .milliseconds(next))
            expectTurn(&machine, at: .milliseconds(next - 1), .wait)
            expectTurn(&machine, at: .milliseconds(next), .sendRequest)
        }
    }

    @Test func command_toAMeterThatIsNeverAsked_isDueAtOnce_andNothingAfterIt() {
        let silent = ExchangeRhythm(
            requestInterval: nil, requestsAreAnswered: false, answerTimeout: .seconds(2),
            commandSpacing: .milliseconds(500))
        var machine = ExchangeMachine(rhythm: silent, at: .seconds(9))
        machine.commandQueued()
        #expect(machine.nextWake.map { $0 <= .seconds(9) } == true)
        expectTurn(&machine, at: .seconds(9), .sendCommand)
        #expect(machine.nextWake == nil)
        expectTurn(&machine, at: .seconds(60), .wait)
    }

    @Test func slowerRhythm_keepsTheBeatThatIsDue() {
        var machine = ExchangeMachine(rhythm: rhythm, at: .seconds(0))
        expectTurn(&machine, at: .seconds(0), .sendRequest)
        machine.answered()
        var slow = rhythm
        slow.requestInterval = .seconds(10)
        machine.rhythmChanged(slow, at: .milliseconds(100))
        #expect(machine.nextWake == .milliseconds(500))
        expectTurn(&machine, at: .milliseconds(500), .sendRequest)
        machine.answered()
        #expect(machine.nextWake == .milliseconds(10_500))
    }

    /// One that is asked every ten milliseconds does the same, at the same time, as one that is asked when it said so; and
    /// what waits, waits for something later.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func walk_isTheSame_howeverOftenItIsAsked(seed: UInt64) {
        var rng = SplitMix64(seed: seed)
        func below(_ count: UInt64) -> Int { Int(rng.next() % count) }
        let rhythms = [
            rhythm,
            ExchangeRhythm(
                requestInterval: .milliseconds(200), requestsAreAnswered: false, answerTimeout: .seconds(1),
                commandSpacing: .zero),
            ExchangeRhythm(
                requestInterval: nil, requestsAreAnswered: true, answerTimeout: .seconds(1),
                commandSpacing: .milliseconds(300)),
            ExchangeRhythm(
                requestInterval: .seconds(2), requestsAreAnswered: true, answerTimeout: .milliseconds(700),
                commandSpacing: .milliseconds(100)),
        ]
        var now = MonotonicTime.seconds(1)
        var often = ExchangeMachine(rhythm: rhythms[below(4)], at: now)
        var asAsked = often
        func turns(_ machine: inout ExchangeMachine) -> [ExchangeMachine.OnTurn] {
            var turns: [ExchangeMachine.OnTurn] = []
            while turns.count < 20 {
                let turn = machine.turn(at: now)
                guard turn != .wait else { return turns }
                turns.append(turn)
            }
            return turns
        }
        for _ in 0..<200 {
            let event = below(8)
            let other = rhythms[below(4)]
            for place in 0..<2 {
                var machine = place == 0 ? often : asAsked
                switch event {
                case 0, 1: machine.commandQueued()
                case 2, 3, 4: machine.answered()
                case 5: machine.rhythmChanged(other, at: now)
                default: break
                }
                if place == 0 { often = machine } else { asAsked = machine }
            }
            // A driver asks after each event.
            #expect(turns(&often) == turns(&asAsked), "seed \(seed)")
            for _ in 0..<below(60) {
                now = now + .milliseconds(10)
                let isDue = asAsked.nextWake.map { $0 <= now } ?? false
                #expect(turns(&often) == (isDue ? turns(&asAsked) : []), "seed \(seed)")
                let next = asAsked.nextWake
                #expect(next.map { $0 > now } ?? true, "seed \(seed): it wakes without end")
            }
        }
    }
}
