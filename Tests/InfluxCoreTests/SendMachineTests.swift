import CoreTestKit
import Domain
import Testing

struct SendMachineTests {
    private let meter = MeterID.mac(MACAddress(bits: 1))
    private let wall = WallTime(millisecondsSince1970: 1_780_000_000_000)

    private func at(_ seconds: Double) -> MonotonicTime { .origin + .milliseconds(Int64(seconds * 1000)) }

    private func batch(_ points: Int, until end: WallTime, isFull: Bool = false) -> SendBatch {
        var batch = SendBatch()
        (batch.points, batch.ends, batch.isFull) = (points, [meter: end], isFull)
        return batch
    }

    /// As an owner's server that was written to before.
    private var known: SendMachine { SendMachine(.init(), positions: [meter: wall + .seconds(-60)]) }

    private let refusal = SendAnswer.refused("it answered 401", next: "correct the token")

    @Test func firstTime_goesBackAsFarAsAsked_andNoFurtherEver() {
        var settings = SendMachine.Settings()
        settings.backFill = .seconds(3600)
        let old = SendMachine(settings, positions: [meter: wall + .seconds(-7200)])

        #expect(SendMachine(settings).start(of: meter, at: wall) == wall + .seconds(-3600))
        #expect(old.start(of: meter, at: wall) == wall + .seconds(-3600))
    }

    @Test func shortBackFill_stillHasWhatIsMeasuredBetweenTwoBatches() {
        var settings = SendMachine.Settings()
        (settings.backFill, settings.interval) = (.seconds(60), .seconds(600))

        #expect(SendMachine(settings).start(of: meter, at: wall) == wall + .seconds(-660))
    }

    @Test func whatIsTaken_isNotSentAgain() {
        var machine = SendMachine(.init())
        let news = machine.answered(.taken, to: batch(7, until: wall), at: at(0), wall)

        #expect(news.isEmpty)
        #expect(machine.start(of: meter, at: wall + .seconds(5)) == wall + .milliseconds(1))
        #expect((machine.sent, machine.takenAt) == (7, wall))
        #expect(machine.wait(at: at(0)) == .seconds(10))
        #expect(machine.wait(at: at(10)) == nil)
    }

    @Test func whileThereIsMore_aBatchASecond() {
        var machine = SendMachine(.init())
        _ = machine.answered(.taken, to: batch(5000, until: wall, isFull: true), at: at(0), wall)

        #expect(machine.isBehind)
        #expect(machine.wait(at: at(0)) == .seconds(1))
        _ = machine.answered(.taken, to: batch(3, until: wall), at: at(1), wall)
        #expect(!machine.isBehind)
        #expect(machine.wait(at: at(1)) == .seconds(10))
    }

    @Test func nothing_isWaitedFor_andUnknownReadingsArePassed() {
        var machine = SendMachine(.init())
        machine.idle(SendBatch(), at: at(0))
        #expect(machine.positions.isEmpty && machine.wait(at: at(0)) == .seconds(10))

        machine.idle(batch(0, until: wall), at: at(10))
        #expect(machine.positions == [meter: wall])
        #expect(machine.sent == 0 && machine.takenAt == nil)
    }

    @Test func outage_isWaitedOutLongerAndLonger_andToldOnce_andNothingIsForgotten() {
        var machine = SendMachine(.init(), positions: [meter: wall])
        let away = batch(9, until: wall + .seconds(9))
        var waits: [Duration] = []
        var news: [SendNews] = []
        for number in 0..<12 {
            news += machine.answered(.later(after: nil, "no connection \(number)"), to: away, at: at(0), wall)
            waits.append(machine.wait(at: at(0)) ?? .zero)
        }

        #expect(waits.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(waits.last == .seconds(300))
        #expect(news.count == 1)
        #expect((machine.trouble?.kind, machine.trouble?.cause) == (.unreachable, "no connection 11"))
        #expect(machine.positions == [meter: wall])
        #expect(machine.answered(.taken, to: away, at: at(400), wall) == [.resumed])
        #expect(machine.trouble == nil)
        #expect(machine.answered(.later(after: nil, "again"), to: away, at: at(401), wall).count == 1)
        #expect(machine.wait(at: at(401)) == .seconds(1))
    }

    @Test func anotherTrouble_isNews() {
        var machine = SendMachine(.init())
        let away = machine.answered(.later(after: nil, "no connection"), to: batch(1, until: wall), at: at(0), wall)
        let wrong = machine.answered(refusal, to: batch(1, until: wall), at: at(1), wall)
        let still = machine.answered(refusal, to: batch(1, until: wall), at: at(61), wall)
        let store = machine.unread("no room", at: at(121))

        #expect(away.count == 1 && still.isEmpty && store.count == 1)
        #expect(wrong == [.interrupted(SendTrouble(.refused, "it answered 401", next: "correct the token"))])
        #expect(machine.trouble?.kind == .store)
    }

    @Test func serverThatNamesATime_getsIt_withinReason() {
        var machine = SendMachine(.init())
        _ = machine.answered(.later(after: .seconds(42), "busy"), to: batch(1, until: wall), at: at(0), wall)
        #expect(machine.wait(at: at(0)) == .seconds(42))
        _ = machine.answered(.later(after: .seconds(Int64.max), "busy"), to: batch(1, until: wall), at: at(0), wall)
        #expect(machine.wait(at: at(0)) == .seconds(3600))
        _ = machine.answered(.later(after: .seconds(-5), "busy"), to: batch(1, until: wall), at: at(0), wall)
        #expect(machine.wait(at: at(0)) == nil)
    }

    @Test func pointsThatAreNotWanted_areCounted_passed_andToldOnceAnHour() {
        var machine = SendMachine(.init())
        let conflict = SendAnswer.partly(dropped: 2, "field type conflict dropped=2")
        let first = machine.answered(conflict, to: batch(5, until: wall), at: at(0), wall)

        #expect(first == [.rejected(points: 2, "field type conflict dropped=2")])
        #expect((machine.sent, machine.rejected, machine.takenAt) == (3, 2, wall))
        #expect(machine.trouble == nil && machine.positions == [meter: wall])
        #expect(machine.answered(conflict, to: batch(5, until: wall), at: at(10), wall).isEmpty)
        #expect(
            machine.answered(conflict, to: batch(5, until: wall), at: at(3600), wall)
                == [.rejected(points: 4, "field type conflict dropped=2")])
    }

    /// InfluxDB 1.6.7 says `dropped=0` where it could not read a line.
    @Test(arguments: [nil, 9, Int.max, 0, -3])
    func numberOfDroppedPoints_isNotBelieved_beyondWhatWasSent(dropped: Int?) {
        var machine = SendMachine(.init())
        _ = machine.answered(.partly(dropped: dropped, "x"), to: batch(5, until: wall), at: at(0), wall)

        #expect(machine.sent + machine.rejected == 5)
        #expect(machine.rejected == ((dropped ?? 9) < 1 ? 1 : 5))
        #expect((machine.takenAt == nil) == (machine.rejected == 5))
    }

    /// A server that takes nothing of a batch with the seventh reading in it, and does not say why.
    @Test func onePointThatSpoilsABatch_isFound_andOnlyItIsPassedOver() {
        var machine = known
        let spoilt = wall + .seconds(7)
        var (taken, requests): ([WallTime], Int) = ([], 0)
        var now = MonotonicTime.origin
        while taken.count < 99, requests < 100 {
            let start = machine.start(of: meter, at: wall + .seconds(200))
            let times = (0..<100).map { wall + .seconds($0) }.filter { $0 >= start }.prefix(machine.pointsMax)
            guard let last = times.last else { break }
            let answer = times.contains(spoilt) ? SendAnswer.unwanted("unable to parse") : .taken
            if answer == .taken { taken += times }
            _ = machine.answered(
                answer, to: batch(times.count, until: last, isFull: last < wall + .seconds(99)), at: now, wall)
            now = now + (machine.wait(at: now) ?? .zero)
            requests += 1
        }

        #expect(Set(taken).count == 99 && taken.count == 99 && !taken.contains(spoilt))
        #expect(machine.rejected == 1 && machine.trouble == nil)
        #expect(requests < 30)
        #expect(machine.pointsMax > 64)
    }

    @Test func serverThatNeverTookAnything_isNotGivenUpOn() {
        var machine = SendMachine(.init())
        for number in 0..<40 {
            let points = max(1, machine.pointsMax)
            _ = machine.answered(
                .unwanted("unsupported path"), to: batch(points, until: wall), at: at(Double(number)), wall)
        }

        #expect(machine.positions.isEmpty && machine.rejected == 0)
        #expect(machine.trouble?.kind == .unwanted)
        #expect(machine.wait(at: at(39)) == .seconds(60))
    }

    @Test func serverThatTakesNothingAnyMore_costsThreePoints_andIsWaitedFor() {
        var machine = known
        for number in 0..<40 {
            _ = machine.answered(
                .unwanted("bad request"), to: batch(machine.pointsMax, until: wall + .seconds(number)),
                at: at(Double(number)), wall)
        }

        #expect(machine.rejected == 3)
        #expect(machine.wait(at: at(39)) == .seconds(60))
        let news = machine.answered(.taken, to: batch(1, until: wall + .seconds(99)), at: at(99), wall)
        #expect(news == [.resumed])
        #expect(machine.pointsMax == 2)
    }

    @Test func batchThatIsTooLarge_isHalved_andOnePointGivenUp() {
        var machine = known
        var rounds = 0
        while machine.rejected == 0, rounds < 100 {
            _ = machine.answered(.tooLarge, to: batch(machine.pointsMax, until: wall), at: at(0), wall)
            rounds += 1
        }

        #expect(rounds == 13)
        #expect(machine.pointsMax == 1)
        #expect(machine.positions == [meter: wall])
    }

    @Test(arguments: [1, 7, 700, 4999]) func serverThatIsSlow_getsAsManyAsItTakesInTime(bears: Int) {
        var machine = known
        let wanted = bears * 30
        var requests = 0
        while machine.sent < wanted, requests < 200 {
            let points = min(machine.pointsMax, wanted - machine.sent)
            let answer = points > bears ? SendAnswer.later(after: nil, "no answer within 30 s") : .taken
            _ = machine.answered(
                answer, to: batch(points, until: wall + .seconds(machine.sent + points)), at: at(Double(requests)), wall
            )
            requests += 1
        }

        // Each second one is in vain at most, and a batch has half of what it could have at the least.
        #expect(machine.sent == wanted)
        #expect(requests <= 13 + 2 * 2 * 30)
    }

    @Test func serverThatNamesATime_getsAsManyThen() {
        var machine = known
        _ = machine.answered(.later(after: .seconds(5), "busy"), to: batch(5000, until: wall), at: at(0), wall)

        #expect(machine.pointsMax == 5000)
    }

    @Test func batchThatIsTooLarge_isHalved_afterOneThatWasNotTakenInTime() {
        var machine = known
        _ = machine.answered(.later(after: nil, "no answer"), to: batch(5000, until: wall), at: at(0), wall)
        #expect(machine.pointsMax == 2500)
        _ = machine.answered(.tooLarge, to: batch(2500, until: wall), at: at(1), wall)
        #expect(machine.pointsMax == 1250)
        _ = machine.answered(.taken, to: batch(1250, until: wall), at: at(2), wall)
        #expect(machine.pointsMax == 1250)
    }

    @Test func wrongToken_isLookedAtEachMinute() {
        var machine = SendMachine(.init())
        _ = machine.answered(refusal, to: batch(5, until: wall), at: at(0), wall)

        #expect(machine.wait(at: at(0)) == .seconds(60))
        #expect(machine.positions.isEmpty)
    }

    @Test func positionInTheFuture_isOfACalendarThatWasWrong() {
        let machine = SendMachine(.init(), positions: [meter: wall + .seconds(1_000_000)])

        #expect(machine.start(of: meter, at: wall) == wall + .seconds(-7 * 86_400))
    }

    @Test func extremePositions_doNotTrap() {
        for time in [Int64.min, -1, 0, Int64.max] {
            let machine = SendMachine(.init(), positions: [meter: WallTime(millisecondsSince1970: time)])

            #expect(machine.start(of: meter, at: wall) == wall + .seconds(-7 * 86_400))
        }
    }

    @Test func forgottenMeters_leaveNothing() {
        var machine = known
        machine.keep([.mac(MACAddress(bits: 2))])

        #expect(machine.positions.isEmpty)
    }

    @Test func positions_areWrittenDownOnceAMinute() {
        var machine = SendMachine(.init())
        #expect(!machine.isSaveDue(at: at(1000)))
        for second in stride(from: 0.0, to: 50, by: 10) {
            _ = machine.answered(.taken, to: batch(1, until: wall), at: at(second), wall)
        }

        #expect(!machine.isSaveDue(at: at(59)) && machine.hasUnsaved)
        #expect(machine.isSaveDue(at: at(60)))
        machine.saved()
        #expect(!machine.isSaveDue(at: at(600)) && !machine.hasUnsaved)
    }

    @Test(arguments: 0..<UInt64(50)) func whateverServersSay_positionsNeverGoBack_andNothingIsSkipped(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var machine = SendMachine(.init())
        var now = MonotonicTime.origin
        // Readings one a second; the server's view of the latest that it took or did not want.
        var reached = wall + .seconds(-7 * 86_400) + .milliseconds(-1)
        for _ in 0..<300 {
            if let wait = machine.wait(at: now) { now = now + wait }
            let start = machine.start(of: meter, at: wall)
            #expect(start <= reached + .seconds(1), "seed \(seed)")
            let points = 1 + rng.below(machine.pointsMax)
            let end = start + .seconds(points - 1)
            let answers: [SendAnswer] = [
                .taken, .partly(dropped: rng.below(9), "x"), .unwanted("x"), .tooLarge, .later(after: nil, "x"),
                .later(after: .seconds(rng.below(9)), "x"), refusal,
            ]
            let answer = answers[rng.below(answers.count)]
            let before = machine.positions[meter]
            _ = machine.answered(answer, to: batch(points, until: end), at: now, wall)
            switch answer {
            case .taken, .partly: reached = end
            case .unwanted where points == 1, .tooLarge where points == 1:
                if machine.positions[meter] != before { reached = end }
            default: #expect(machine.positions[meter] == before, "seed \(seed)")
            }
            #expect((1...5000).contains(machine.pointsMax), "seed \(seed)")
            #expect(machine.wait(at: now).map { $0 <= .seconds(3600) } ?? true, "seed \(seed)")
        }
    }
}
