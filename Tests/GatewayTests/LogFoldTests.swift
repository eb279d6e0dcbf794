import CoreTestKit
import Domain
import Gateway
import MeterTestKit
import Testing

/// What becomes of what happens to a meter before it is written: as few lines as tell it.
struct LogFoldTests {
    private static let adapter = MACAddress(bits: 0x0011_2233_4455)

    /// A fold with a clock and the numbers of its host.
    private struct Bench {
        var fold = LogFold()
        var now = HostMoment(wall: WallTime(millisecondsSince1970: 1_795_000_000_000), sinceBoot: .origin)
        var last: Int64 = 0

        mutating func pass(_ time: Duration) {
            now.wall = now.wall + time
            now.sinceBoot = now.sinceBoot + time
        }

        mutating func state(_ before: ConnectionState, _ state: ConnectionState, _ cause: String = "cause") {
            fold.stateChanged(from: before, to: state, because: cause, at: now, &last)
        }

        mutating func command(_ what: String, by author: LogAuthor = .person) {
            fold.commanded(what, by: author, outcome: "done", at: now, &last)
        }

        mutating func held(_ token: UInt64?) {
            fold.held(token.map { FencingToken(rawValue: $0) }, over: .ble, at: now, &last)
        }

        mutating func letGo(_ end: LogHolding.End = .givenBack) { fold.letGo(end, at: now) }

        /// Writes everything, as the keeper does.
        mutating func write() -> [LogFold.Line] {
            fold.settle(at: now, &last)
            let lines = fold.unwritten
            fold.wrote(lines)
            return lines
        }

        var events: [LogEvent] { fold.lines.map(\.entry.event) }
        var counts: [Int] { fold.lines.map(\.entry.count) }
    }

    @Test func link_thatFlaps500Times_isALineForEachState() throws {
        var bench = Bench()
        for _ in 0..<500 {
            for (before, state) in zip(ConnectionState.allCases.dropFirst(), ConnectionState.allCases.dropFirst(2)) {
                bench.state(before, state, "up")
                bench.pass(.milliseconds(100))
            }
            bench.pass(.seconds(60))
            bench.state(.dataAvailable, .notConnected, "the link is gone")
            _ = bench.write()
        }

        #expect(
            bench.events == [.state(.dataAvailable, cause: "up"), .state(.notConnected, cause: "the link is gone")])
        #expect(bench.counts == [500, 500])
        let line = try #require(bench.fold.lines.last?.entry)
        #expect(line.last.wall.millisecondsSince1970 - line.first.wall.millisecondsSince1970 == 499 * 60_500)
    }

    @Test func stateOnTheWayUp_counts_whereTheMeterStaysInIt() {
        var bench = Bench()
        bench.state(.notConnected, .connecting, "permitted")
        bench.pass(.seconds(9))
        #expect(bench.write().isEmpty)
        bench.pass(.seconds(1))
        #expect(bench.write().map(\.entry.event) == [.state(.connecting, cause: "permitted")])
        bench.state(.connecting, .connected, "link up")
        bench.state(.connected, .notConnected, "refused")
        #expect(
            bench.events == [.state(.connecting, cause: "permitted"), .state(.notConnected, cause: "refused")])
    }

    @Test func meterThatAnswersNoMore_isNotPassingThrough() {
        var bench = Bench()
        bench.state(.dataAvailable, .communicating, "no valid frame")
        bench.state(.communicating, .dataAvailable, "valid frame")
        #expect(bench.counts == [1, 1])
    }

    @Test func whatHappenedLongAgo_isAnotherLine() {
        var bench = Bench()
        bench.state(.notConnected, .offline, "gone")
        bench.pass(LogFold.foldedWithin)
        bench.state(.notConnected, .offline, "gone")
        bench.pass(LogFold.foldedWithin + .milliseconds(1))
        bench.state(.notConnected, .offline, "gone")
        #expect(bench.counts == [2, 1])
    }

    /// What came before a command and what came after it are told apart.
    @Test func nothingFoldsPastADeed_andADeedOnlyIntoAnEqualOneBeforeIt() {
        var bench = Bench()
        bench.state(.notConnected, .offline, "gone")
        bench.command("rotate")
        bench.command("rotate")
        bench.state(.notConnected, .offline, "gone")
        bench.command("rotate", by: .broker)
        bench.command("rotate")
        #expect(bench.counts == [1, 2, 1, 1, 1])
    }

    @Test func shortHoldings_areOneLine_withTheFirstAndTheLastToken() throws {
        var bench = Bench()
        for token in UInt64(7)...506 {
            bench.held(token)
            bench.pass(.seconds(20))
            bench.letGo()
            _ = bench.write()
            bench.pass(.seconds(30))
        }
        #expect(bench.counts == [500])
        guard case .held(let holding)? = bench.events.first else { throw MissingHolding() }
        #expect(holding.token?.rawValue == 7 && holding.lastToken?.rawValue == 506 && holding.end == .givenBack)
    }

    /// Who had it when is told exactly where it was long, or where somebody took it.
    @Test(arguments: [
        (Duration.seconds(121), LogHolding.End.givenBack, Duration.seconds(1)), (.seconds(5), .takenOver, .seconds(1)),
        (.seconds(5), .givenBack, .seconds(901)),
    ])
    func otherHoldings_areLinesOfTheirOwn(lasted: Duration, end: LogHolding.End, pause: Duration) {
        var bench = Bench()
        bench.held(7)
        bench.pass(lasted)
        bench.letGo(end)
        bench.pass(pause)
        bench.held(8)
        #expect(bench.counts == [1, 1])
        #expect(bench.fold.lines.map(\.entry.isOpen) == [false, true])
    }

    private struct MissingHolding: Error {}

    @Test func holdingWithoutALease_isNotTheSameAsOneWithIt() {
        var bench = Bench()
        bench.held(nil)
        bench.letGo()
        bench.held(7)
        #expect(bench.counts == [1, 1])
        bench.letGo()
        bench.letGo(.revoked)
        guard case .held(let holding)? = bench.events.last else { return }
        #expect(holding.end == .givenBack)
    }

    @Test func lineThatChangedWhileItWasWritten_isWrittenAgain() {
        var bench = Bench()
        bench.state(.notConnected, .offline, "gone")
        let taken = bench.fold.unwritten
        bench.state(.notConnected, .offline, "gone")
        bench.fold.wrote(taken)
        #expect(bench.fold.unwritten.map(\.entry.count) == [2])
        bench.fold.wrote(bench.fold.unwritten)
        #expect(bench.fold.unwritten.isEmpty)
    }

    @Test func fold_isOver_onceEverythingIsWrittenAndNothingCanFoldIntoIt() {
        var bench = Bench()
        bench.held(7)
        bench.pass(.seconds(2000))
        #expect(!bench.write().isEmpty && !bench.fold.isOver(at: bench.now))
        bench.letGo()
        bench.pass(.seconds(901))
        #expect(!bench.fold.isOver(at: bench.now))
        _ = bench.write()
        #expect(bench.fold.isOver(at: bench.now))
    }

    @Test func texts_areBounded_andEndNowhereElse() {
        var bench = Bench()
        bench.state(.notConnected, .offline, String(repeating: "ü", count: 1000))
        bench.command("rec\0ord")
        guard case .state(_, let cause)? = bench.events.first, case .command(let what, _, _)? = bench.events.last else {
            Issue.record("\(bench.events)")
            return
        }
        #expect(cause.utf8.count <= LogFold.textBytesMax && cause.hasSuffix("ü…"))
        #expect(what == "rec\\u{0}ord")
    }

    /// Anything in any order, with a store that fails now and then: every event counts in exactly one line, lines are in the
    /// order in which they began, none reaches past a deed, and memory is bounded.
    @Test(arguments: 0..<30)
    func walk_keepsTheLaws(seed: Int) {
        var rng = SeededRNG(seed: UInt64(seed))
        var bench = Bench()
        var stored: [Int64: LogEntry] = [:]
        var (happened, holdings, isHeld) = (0, 0, false)
        let settled: [ConnectionState] = [.offline, .notConnected, .dataAvailable]
        var deeds: [MonotonicTime] = []
        for _ in 0..<3000 {
            bench.pass(.milliseconds(Int64.random(in: 1...400_000, using: &rng)))
            switch Int.random(in: 0..<12, using: &rng) {
            case 0:
                bench.command(["rotate", "setup"].randomElement(using: &rng) ?? "", by: .person)
                deeds.append(bench.now.sinceBoot)
                happened += 1
            case 1:
                if !isHeld {
                    holdings += 1
                    bench.held(UInt64(holdings))
                    isHeld = true
                }
            case 2:
                if isHeld { bench.letGo(LogHolding.End.allCases.randomElement(using: &rng) ?? .revoked) }
                isHeld = false
            case 3:
                bench.fold.remedied("remedy", of: Self.adapter, because: "silence", at: bench.now, &bench.last)
                happened += 1
            case 4:
                let taken = bench.fold.unwritten
                for line in taken { stored[line.number] = line.entry }
                bench.fold.wrote(taken)
            default:
                let (one, other) = (settled.randomElement(using: &rng), settled.randomElement(using: &rng))
                bench.state(one ?? .offline, other ?? .offline, ["a", "b"].randomElement(using: &rng) ?? "")
                happened += 1
            }
            #expect(bench.fold.lines.count <= LogFold.linesMax + 1)
        }
        for line in bench.fold.unwritten { stored[line.number] = line.entry }

        let lines = stored.sorted { $0.key < $1.key }.map(\.value)
        #expect(lines.reduce(0) { $0 + $1.count } == happened + holdings)
        let begun = lines.compactMap(\.first.sinceBoot)
        #expect(begun == begun.sorted() && begun.count == lines.count)
        for line in lines {
            guard let first = line.first.sinceBoot, let last = line.last.sinceBoot else { continue }
            #expect(first <= last)
            if case .state = line.event { #expect(!deeds.contains { first < $0 && $0 < last }) }
        }
    }

    @Test func storeThatTakesNothing_costsNoMoreMemoryThanItMay() {
        var bench = Bench()
        for number in 0..<1000 { bench.command("brightness \(number)") }
        #expect(bench.fold.lines.count == LogFold.linesMax)
        #expect(bench.fold.lines.last?.number == 1000)
    }
}
