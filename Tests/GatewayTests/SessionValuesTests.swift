import Domain
import GatewayAPI
import MeterCodec
import MeterTestKit
import Testing

@testable import Gateway

/// The values that a session is made of, each by its own rule.
struct SessionValuesTests {
    private static func second(_ second: Int64) -> MonotonicTime { .origin + .seconds(second) }

    // MARK: Past

    @Test func past_keepsTheLastOfEach() {
        let past = SessionPast()
        for number in 0..<20 {
            past.record(from: .connecting, to: .connected, cause: "\(number)", at: Self.second(Int64(number)))
        }
        for number in 0..<40 {
            past.record(
                TrafficRecord(
                    time: Self.second(Int64(number)), direction: .inward,
                    bytes: Array(repeating: UInt8(number), count: 200)))
        }
        past.gatt = []

        var meter = SupportMeter(id: "m", model: nil, state: "offline", transport: nil)
        past.tell(&meter, at: Self.second(100))
        #expect(meter.transitions.map(\.cause) == (4..<20).map { "\($0)" })
        #expect(meter.transitions.first?.age_ms == 96_000)
        #expect(meter.traffic.count == 32)
        #expect(meter.traffic.first?.age_ms == 92_000)
        #expect(meter.traffic.first?.hex == String(repeating: "08", count: 128))
        #expect(meter.traffic.first?.bytes == 200)
        #expect(meter.gatt == [])

        past.forgetTraffic()
        past.tell(&meter, at: Self.second(100))
        #expect(meter.traffic.isEmpty)
        #expect(meter.transitions.count == 16)
    }

    // MARK: Recent values

    /// Whoever looks twice a second misses nothing, and sees nothing that is older than a second.
    @Test func recentValues_areThoseOfTheLastHalfSecond_andOfNoMoreThanAWhole() {
        var recent = RecentSpread()
        // The values rise, so that the least is the oldest that is kept.
        let missed = (0..<2600).filter { number in
            var reading = Reading()
            reading[.voltage] = Double(number)
            recent.add(
                TimedReading(
                    wallTime: WallTime(millisecondsSince1970: 0), time: .origin + .milliseconds(Int64(number)),
                    reading: reading))
            guard let whole = recent.whole, let oldest = whole.minima[.voltage] else { return true }
            return Int(oldest) > max(0, number - 500) || Int(oldest) <= number - 1000
                || whole.maxima[.voltage] != Double(number)
        }
        #expect(missed.isEmpty)
    }

    // MARK: Spoilt answers

    @Test func answersWithoutAFrame_areCountedByAnswer_andSaidFromTheThirdOn() {
        var spoilt = DecodeErrors()
        for answer in 1...4 {
            spoilt.skipped(because: .noStartMark(found: 1))
            spoilt.skipped(because: .wrongCheck(expected: 1, found: 2))
            // What follows it while the next frame is looked for says less.
            spoilt.skipped(because: .noStartMark(found: 3))
            #expect(spoilt.count == answer - 1, "the answer is not over")
            spoilt.ended()
            spoilt.ended()
            #expect(spoilt.count == answer)
            #expect((spoilt.words(for: nil) != nil) == (answer >= 3))
        }
        #expect(spoilt.words(for: .um25c) == "4 answers rejected (wrong check); is it really a UM25C?")
        #expect(spoilt.words(for: nil) == "4 answers rejected (wrong check); is it a meter?")
        spoilt.skipped(because: .truncated(have: 1))
        spoilt.ended()
        #expect(spoilt.words(for: nil) == "5 answers rejected (cut short); is it a meter?", "of the last one")

        spoilt.wasGood()
        #expect(spoilt.count == 0)
        spoilt.ended()
        #expect(spoilt.count == 0 && spoilt.words(for: nil) == nil)
    }

    // MARK: Latest readings

    private func reading(_ quantity: Quantity, _ value: Double, at second: Int64) -> TimedReading {
        var reading = Reading()
        reading[quantity] = value
        return TimedReading(
            wallTime: WallTime(millisecondsSince1970: second * 1000), time: Self.second(second), reading: reading)
    }

    @Test func reading_isCompleted_withWhatOtherFramesHeld_untilThatIsStale() {
        var latest = LatestReadings()
        #expect(latest.whole(at: Self.second(0), staleAfter: .seconds(3)) == nil)
        latest.add(reading(.current, 1, at: 1))
        latest.add(reading(.voltage, 5, at: 2))
        latest.add(reading(.voltage, 6, at: 3))
        let whole = latest.whole(at: Self.second(4), staleAfter: .seconds(3))
        #expect(whole?.reading[.voltage] == 6 && whole?.reading[.current] == 1)
        #expect(whole?.time == Self.second(3))
        let stale = latest.nextStale(after: Self.second(4), staleAfter: .seconds(3))
        #expect(stale == Self.second(4) + .milliseconds(1))
        #expect(latest.whole(at: Self.second(4) + .milliseconds(1), staleAfter: .seconds(3))?.reading[.current] == nil)
        let later = latest.whole(at: Self.second(5), staleAfter: .seconds(3))
        #expect(later?.reading[.voltage] == 6 && later?.reading[.current] == nil, "four seconds old")
        #expect(latest.whole(at: Self.second(90), staleAfter: .seconds(3))?.reading[.voltage] == 6, "the last stays")

        latest.forgetParts()
        latest.add(reading(.power, 9, at: 4))
        let other = latest.whole(at: Self.second(4), staleAfter: .seconds(3))
        #expect(other?.reading[.power] == 9 && other?.reading[.voltage] == nil)
    }

    /// Of two frames that hold the same quantity, the later one is right.
    @Test func quantityOfTwoFrames_isTheLaterOnes() {
        var latest = LatestReadings()
        var both = reading(.voltage, 5, at: 2)
        both.reading[.current] = 2
        latest.add(both)
        latest.add(reading(.voltage, 4, at: 1))
        latest.add(reading(.power, 1, at: 3))
        #expect(latest.whole(at: Self.second(3), staleAfter: .seconds(9))?.reading[.voltage] == 5)
    }

    @Test func kindsOfFrame_areKeptUpToEight() {
        var latest = LatestReadings()
        let quantities = Array(Quantity.allCases.prefix(10))
        for (second, quantity) in quantities.enumerated() { latest.add(reading(quantity, 1, at: Int64(second))) }
        let whole = latest.whole(at: Self.second(10), staleAfter: .seconds(99))
        #expect(quantities.map { whole?.reading[$0] != nil } == Array(repeating: true, count: 8) + [false, true])
    }

    // MARK: Times

    struct Times: Sendable {
        var rhythm: MeterProfile.Rhythm
        /// What a person set.
        var wish: Duration?
        /// In milliseconds.
        var expected: Int64
        var stale: Int64
    }

    private static let polls = MeterProfile.Rhythm.poll(interval: .seconds(1), shortest: .milliseconds(500))
    private static let times: [Times] = [
        Times(rhythm: polls, expected: 1000, stale: 3000),
        Times(rhythm: polls, wish: .milliseconds(200), expected: 500, stale: 3000),
        Times(rhythm: polls, wish: .seconds(10), expected: 10_000, stale: 30_000),
        Times(rhythm: .push(expected: .milliseconds(10), keepAlive: nil), expected: 10, stale: 3000),
        Times(rhythm: .push(expected: .seconds(2), keepAlive: .seconds(5)), expected: 2000, stale: 6000),
    ]

    @Test(arguments: times)
    func times_followFromTheRhythm(_ row: Times) {
        let (rhythm, wish, expected, stale) = (row.rhythm, row.wish, row.expected, row.stale)
        var settings = MeterSettings()
        settings.pollInterval = wish
        let profile = MeterProfile(model: .um25c, rhythm: rhythm, answerTimeout: .seconds(1))
        for isRadio in [false, true] {
            let times = MeterTimes(profile, settings, isFar: isRadio)
            #expect(times.expectedInterval == .milliseconds(expected))
            #expect(times.staleAfter == .milliseconds(stale))
            let timing = times.timing(from: ConnectionTiming())
            #expect(timing.staleAfter == .milliseconds(stale))
            #expect(timing.silenceTimeout == .milliseconds(max(15_000, 2 * stale)))
            #expect(timing.connectTimeout == (isRadio ? .seconds(30) : .seconds(10)))
            switch rhythm {
            case .poll:
                #expect(times.rhythm.requestInterval == times.expectedInterval)
                #expect(times.rhythm.requestsAreAnswered)
            case .rounds(let expected, let step):
                #expect(times.expectedInterval == expected && times.rhythm.requestInterval == step)
                #expect(times.rhythm.requestsAreAnswered)
            case .push(_, let keepAlive):
                #expect(times.rhythm.requestInterval == keepAlive)
                #expect(!times.rhythm.requestsAreAnswered)
            }
        }
        settings.staleAfter = .seconds(77)
        #expect(MeterTimes(profile, settings, isFar: false).staleAfter == .seconds(77))
    }

    // MARK: Commands

    @Test func commands_waitInOrder_untilTheirTimeIsOver() async {
        var queue = CommandQueue()
        #expect(queue.next() == nil)
        for number in 1...32 {
            #expect(!queue.isFull)
            queue.append(
                .init(
                    command: MeterCommand(.brightness, number), bytes: [UInt8(number)],
                    deadline: Self.second(Int64(number)), sent: nil))
        }
        #expect(queue.isFull && queue.count == 32)

        queue.dropOverdue(at: Self.second(0))
        #expect(queue.count == 32)
        queue.dropOverdue(at: Self.second(30))
        #expect(queue.count == 2, "one whose time is over just now is too late")
        queue.append(.init(command: MeterCommand(.rotate), bytes: [99], deadline: nil, sent: nil))
        queue.dropOverdue(at: Self.second(1000))
        #expect(queue.next()?.bytes == [99], "without a deadline it waits for ever")
        #expect(queue.next() == nil)
    }

    @Test func whatTheMeterWasToldOverThisLink_isKnown_untilItIsDropped() {
        var queue = CommandQueue()
        let (dim, bright) = (MeterCommand(.brightness, 1), MeterCommand(.brightness, 5))
        queue.append(setting: dim, [1])
        #expect(queue.wasTold(dim) && !queue.wasTold(bright))
        #expect(queue.next()?.bytes == [1])
        // A person's command is what the meter is set to, too.
        queue.sent(.init(command: bright, bytes: [5], sent: nil))
        #expect(queue.wasTold(bright) && !queue.wasTold(dim))
        queue.drop(.init(command: bright, bytes: [5], sent: nil))
        #expect(!queue.wasTold(bright))
        queue.sent(.init(command: MeterCommand(.selectGroup, 3), bytes: [9], sent: nil))
        #expect(!queue.wasTold(MeterCommand(.selectGroup, 3)), "no setting: it may be sent again")
        queue.append(setting: dim, [1])
        queue.dropAll()
        #expect(queue.count == 0 && !queue.wasTold(dim))
    }

    @Test func callers_hearWhatBecameOfTheirCommand() async {
        let outcomes = await withTaskGroup(of: (Int, Bool).self) { group in
            var queue = CommandQueue()
            let (entries, report) = AsyncStream.makeStream(of: (Int, CheckedContinuation<Bool, Never>).self)
            for number in 0..<4 {
                group.addTask { (number, await withCheckedContinuation { report.yield((number, $0)) }) }
            }
            var callers = [Int: CheckedContinuation<Bool, Never>]()
            for await (number, caller) in entries {
                callers[number] = caller
                if callers.count == 4 { break }
            }
            for number in 0..<4 {
                queue.append(
                    .init(
                        command: MeterCommand(.rotate), bytes: [], deadline: number == 1 ? Self.second(1) : nil,
                        sent: callers[number]))
            }
            if let first = queue.next() { queue.sent(first) }
            queue.dropOverdue(at: Self.second(1))
            if let third = queue.next() { queue.drop(third) }
            queue.dropAll()
            return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes == [0: true, 1: false, 2: false, 3: false])
    }

    @Test func commandHelp_namesTheNumbers() {
        func help(_ commands: [MeterProfile.CommandRule]) -> String {
            MeterProfile(
                model: .um25c, rhythm: .push(expected: .seconds(1), keepAlive: nil), answerTimeout: .seconds(1),
                commands: commands
            ).commandHelp
        }
        #expect(help([]) == "the model takes reset-energy")
        #expect(
            help([.init(.rotate), .init(.brightness, 0...5)]) == "the model takes rotate, brightness 0-5, reset-energy")
    }

    // MARK: Log downloads

    private struct Script: MeterTransfer {
        var progress = TransferProgress()
        var answerTimeout: Duration { .seconds(2) }
        var steps: [Outgoing]

        mutating func start() -> TransferStep<MeterLogs> { .send(steps) }

        mutating func receive(_ bytes: [UInt8]) -> TransferStep<MeterLogs> {
            progress.done += bytes.count
            return .wait
        }

        mutating func answerOverdue() -> TransferStep<MeterLogs> { .failed(.silent("it")) }
    }

    private func sent(_ act: LogDownload.Act) -> ([UInt8], Duration)? {
        if case .send(let bytes, let pause) = act { (bytes, pause) } else { nil }
    }

    @Test func steps_goOutOneByOne_andTheAnswerHasItsTimeAfterTheLast() async {
        for (last, wait) in [(Duration.zero, Duration.seconds(2)), (.seconds(5), .seconds(5))] {
            let result = await withCheckedContinuation { outcome in
                var download = LogDownload(
                    Script(steps: [Outgoing([1], pause: .milliseconds(10)), Outgoing([2], pause: last)]), outcome)
                let (first, second) = (sent(download.start()), sent(download.paused()))
                #expect(first?.0 == [1] && first?.1 == .milliseconds(10), "only a pause follows")
                #expect(second?.0 == [2] && second?.1 == wait)
                #expect(download.received([7]).isProgress)
                #expect(!download.received([]).isProgress)
                if case .failed(.silent) = download.paused() {} else { Issue.record("nothing came in time") }
                outcome.resume(returning: .failure(GatewayError(.timedOut, "over", next: "")))
            }
            #expect(throws: GatewayError.self) { try result.get() }
        }
        let nothing = await withCheckedContinuation { outcome in
            var download = LogDownload(Script(steps: []), outcome)
            let act = sent(download.start())
            #expect(act?.0 == [] && act?.1 == .seconds(2))
            outcome.resume(returning: .failure(GatewayError(.timedOut, "over", next: "")))
        }
        #expect(throws: GatewayError.self) { try nothing.get() }
    }

    // MARK: Endings and wishes

    /// A row for each way in which a link ends.
    @Test func endings_areTheseAndNoOthers() {
        let rows: [(LinkEnding, hasFarewell: Bool, isLoss: Bool, isFault: Bool, end: ChannelEnd?)] = [
            (.deviceGone, false, true, false, nil), (.closed, false, true, true, nil),
            (.overdue, true, true, true, nil),
            (.replaced, true, false, false, .linkLost), (.letGo, true, false, false, .letGo),
            (.leaseOver, false, true, false, .letGo), (.impossible, false, false, false, .attemptFailed),
        ]
        for (ending, hasFarewell, isLoss, isFault, end) in rows {
            #expect((ending.hasFarewell, ending.isLoss, ending.isFault) == (hasFarewell, isLoss, isFault))
            #expect(ending.end == end)
        }
    }

    @Test func patience_outlastsWhatItWaitsFor() {
        let (held, revoking) = (
            LinkRefusal(reason: .held, holder: nil, remaining: nil),
            LinkRefusal(reason: .revoking, holder: nil, remaining: nil)
        )
        #expect(![held, revoking].contains { Patience.none.outlasts($0) })
        #expect([held, revoking].map { Patience.takeover.outlasts($0) } == [false, true])
        #expect([held, revoking].allSatisfy { Patience.line.outlasts($0) })
        #expect(ConnectOptions().intent == LeaseIntent(isAsked: true))
        #expect(LinkPreference("any") == .any && LinkPreference("ble") == .only(.ble) && LinkPreference("x") == nil)
    }

    @Test func lastWord_isARefusalThatNobodyOutlasts() {
        let claim = LinkClaim(on: .um, gate: nil)
        #expect(!claim.isBarred && claim.refusal == nil && !claim.asksFirst && !claim.hasGate)
        let held = LinkRefusal(reason: .held, holder: "pi", remaining: nil)
        let options: [(ConnectOptions, isFinal: Bool)] = [
            (ConnectOptions(), true), (ConnectOptions(standsInLine: true), false),
            (ConnectOptions(isTakeover: true), true),
            (ConnectOptions(isTakeover: true, standsInLine: true), false),
        ]
        for (option, isFinal) in options {
            claim.adopt(option, isPresent: true)
            #expect(claim.lastWord == nil, "a wish is an attempt of its own")
            claim.refused(held)
            claim.barred()
            #expect(claim.lastWord == (isFinal ? held : nil))
            claim.permitted(.unleased)
            #expect(claim.refusal == nil && !claim.isBarred)
            claim.refused(held)
            #expect(claim.lastWord == held, "its turn had come")
            claim.barred()
        }
        claim.use(nil)
        #expect(claim.refusal == nil && !claim.isBarred)
    }

    /// At the moment itself, not after it.
    @Test func strictPermit_hasItsTimes_andAKeptOneHasNone() {
        for policy in LeasePolicy.allCases {
            let permit = LeasePermit(
                token: FencingToken(rawValue: 1),
                terms: LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy), sentAt: .origin)
            let claim = LinkClaim(on: .um, gate: nil)
            #expect(claim.hardStop == nil && !claim.isPastHardStop(at: Self.second(9999)))
            #expect(!claim.isInJeopardy(at: Self.second(9999)))
            claim.permitted(.leased(permit))
            let isStrict = policy == .strict
            #expect(claim.hardStop == (isStrict ? permit.hardStopAt : nil))
            let before = Duration.milliseconds(-1)
            #expect(!claim.isPastHardStop(at: permit.hardStopAt + before))
            #expect(claim.isPastHardStop(at: permit.hardStopAt) == isStrict)
            #expect(!claim.isInJeopardy(at: permit.jeopardyAt + before))
            #expect(claim.isInJeopardy(at: permit.jeopardyAt) == isStrict)
        }
    }
}
