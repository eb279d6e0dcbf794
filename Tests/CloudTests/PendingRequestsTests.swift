import CloudAPI
import CoreTestKit
import Domain
import Synchronization
import Testing

@testable import Cloud

/// Commands: at most once, and never late. Questions about logs: each is answered once, and nothing is kept.
struct PendingRequestsTests {
    private typealias Commands = PendingRequests<PendingCommand>
    private typealias Questions = PendingRequests<PendingLogQuestion>

    private let key = PendingKey(zone: "home", requestID: .numbered(1))
    private let start = MonotonicTime.origin + .seconds(1000)

    private func command(author: UInt64 = 2, token: UInt64 = 7) -> PendingCommand {
        let wish = CommandWish(
            author: .numbered(author), meter: TestCloud.meter, token: token,
            action: RelayActionBody(kind: "stopRecording"))
        return PendingCommand(
            wish: wish, meter: TestCloud.meter, holder: .numbered(1), holderName: "alpha", author: .numbered(author),
            authorName: "beta")
    }

    /// A claim that is granted wherever nothing of the command is stored.
    private func claim(
        _ commands: inout Commands, _ key: PendingKey, by host: UInt64 = 1, token: UInt64 = 7, at now: MonotonicTime
    ) -> Bool {
        guard commands.offer(key, to: .numbered(host), token: token, at: now) != nil else { return false }
        commands.claimed(key, at: now)
        return true
    }

    private func question(by asker: UInt64 = 9, of hosts: [UInt64] = [1, 2]) -> PendingLogQuestion {
        let hosts = hosts.map { (HostID.numbered($0), AskedHost(name: "host \($0)")) }
        return PendingLogQuestion(asker: .numbered(asker), hosts: Dictionary(uniqueKeysWithValues: hosts))
    }

    private func part(_ host: UInt64, lines: Int = 1) -> RelayLogAnswer.Part {
        let line = RelayLogLine(kind: "state", age: 1, lastAge: 1, time: 1, what: "offline")
        return RelayLogAnswer.Part(
            hostID: HostID.numbered(host).description, hostName: "host \(host)",
            lines: Array(repeating: line, count: lines))
    }

    private func said(_ outcome: RelayCommandAnswer.Outcome, _ message: String? = nil) -> RelayCommandAnswer {
        var answer = RelayCommandAnswer(outcome, message: message)
        answer.holderName = "alpha"
        return answer
    }

    private func refusal(of body: () throws(CloudFailure) -> Void) -> CloudErrorCode? {
        do throws(CloudFailure) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Commands

    @Test func command_isClaimedOnce_byItsHolderUnderItsToken() throws {
        var commands = Commands()
        _ = try commands.take(key, command(), at: start)
        #expect(commands.offered(to: .numbered(1), in: "home").map(\.0) == [key])
        for (host, token, expected) in [(3, 7, false), (1, 6, false), (1, 7, true), (1, 7, false)]
            as [(UInt64, UInt64, Bool)]
        {
            let isGranted = claim(&commands, key, by: host, token: token, at: start)
            #expect(isGranted == expected, "host \(host), token \(token)")
        }
        #expect(commands.offered(to: .numbered(1), in: "home").isEmpty)
        let wrong = try commands.answer(key, by: .numbered(1), token: 6, said(.done))
        #expect(!wrong.isNews)
        let right = try commands.answer(key, by: .numbered(1), token: 7, said(.done))
        #expect(
            right.ended.map(\.outcome) == [CommandEnd(answer: said(.done), wasClaimed: true, isHoldersWord: true)])
    }

    @Test func unclaimed_isNotDone_andCannotBeClaimedAfterwards() throws {
        var commands = Commands()
        _ = try commands.take(key, command(), at: start)
        let late = start + PendingCommand.rules.offerTime
        let isGranted = claim(&commands, key, at: late)
        #expect(!isGranted)
        let ended = commands.passed(late)
        #expect(ended.map(\.key) == [key])
        let answer = said(.notDone, "alpha did not take it within 5 s")
        #expect(ended.map(\.outcome) == [CommandEnd(answer: answer, wasClaimed: false, isHoldersWord: false)])
    }

    @Test func claimed_withoutAnAnswer_mayHaveBeenDone() throws {
        var commands = Commands()
        _ = try commands.take(key, command(), at: start)
        #expect(claim(&commands, key, at: start + .seconds(4)))
        let left = commands.giveUp(key, .withdrawn)
        let (early, late) = (commands.passed(start + .seconds(13)), commands.passed(start + .seconds(14)))
        #expect(left.isEmpty && early.isEmpty)
        #expect(late.map(\.outcome.answer.outcome) == [.timedOut])
        // What comes later changes nothing that was said.
        let answer = try commands.answer(key, by: .numbered(1), token: 7, said(.done))
        #expect(!answer.isNews && answer.ended.isEmpty)
    }

    @Test(
        arguments: [
            (.done, .notDone), (.timedOut, .notDone), (.refused, .refused), (.notDone, .notDone),
        ] as [(RelayCommandAnswer.Outcome, RelayCommandAnswer.Outcome)])
    func holderThatHasNotClaimed_isBelievedOnlyThatItDidNothing(
        says: RelayCommandAnswer.Outcome, becomes: RelayCommandAnswer.Outcome
    ) throws {
        var commands = Commands()
        _ = try commands.take(key, command(), at: start)
        let answer = try commands.answer(key, by: .numbered(1), token: 7, said(says))
        #expect(answer.ended.map(\.outcome.answer.outcome) == [becomes])
    }

    @Test func sameCommandTwice_isOne_andAnotherUnderItsIdIsRefused() throws {
        var commands = Commands()
        let (first, second) = (
            try commands.take(key, command(), at: start), try commands.take(key, command(), at: start)
        )
        #expect(first.isNew && !second.isNew)
        let code = refusal { () throws(CloudFailure) in _ = try commands.take(key, command(token: 8), at: start) }
        #expect(code == .badRequest)
    }

    /// Those that wait, and those that the store keeps. One that is refused changes nothing for the others.
    @Test(
        arguments: [
            (31, CommandCounts.none, true), (32, .none, false), (0, CommandCounts(host: 511, zone: 511), true),
            (0, CommandCounts(host: 512, zone: 512), false), (3, CommandCounts(host: 509, zone: 509), false),
            (0, CommandCounts(host: 0, zone: 2047), true), (1, CommandCounts(host: 0, zone: 2047), false),
        ])
    func shares_areThoseOfHostAndZone(open: UInt64, stored: CommandCounts, isTaken: Bool) throws {
        var commands = Commands()
        for id in 0..<open {
            _ = try commands.take(.init(zone: "home", requestID: .numbered(id)), command(), at: start)
        }
        let other = PendingKey(zone: "home", requestID: .numbered(1000))
        let code = refusal { () throws(CloudFailure) in
            _ = try commands.take(other, command(), stored: stored, at: start)
        }
        #expect(code == (isTaken ? nil : .rateLimited))
        #expect(commands.count == Int(open) + (isTaken ? 1 : 0))
        _ = try commands.take(.init(zone: "home", requestID: .numbered(1001)), command(author: 3), at: start)
        _ = commands.passed(start + .seconds(5))
        #expect(commands.count == 0)
    }

    /// Holders and authors that do anything at any time: nothing is claimed after it ended.
    @Test(arguments: 0..<50)
    func walk_neverSaysNotDone_ofWhatWasClaimed(seed: Int) throws {
        var rng = SeededRNG(seed: UInt64(seed))
        var commands = Commands()
        var now = start
        var isClaimed: [PendingKey: Bool] = [:]
        for id in 0..<2000 as Range<UInt64> {
            now = now + .milliseconds(Int64.random(in: 0...1500, using: &rng))
            let number = Int64(id / 4) - Int64.random(in: 0..<20, using: &rng)
            let key = PendingKey(zone: "home", requestID: .numbered(UInt64(max(0, number))))
            var ended: [Commands.Ended] = []
            switch Int.random(in: 0..<7, using: &rng) {
            case 0:
                guard isClaimed[key] == nil, (try? commands.take(key, command(), at: now)) != nil else { break }
                isClaimed[key] = false
            case 1, 2:
                if claim(&commands, key, at: now) {
                    #expect(isClaimed.updateValue(true, forKey: key) == false, "claimed twice, seed \(seed)")
                }
            case 3:
                let outcome =
                    [.done, .refused, .timedOut].randomElement(using: &rng) ?? RelayCommandAnswer.Outcome.done
                ended = try commands.answer(key, by: .numbered(1), token: 7, self.said(outcome)).ended
            case 4: ended = commands.giveUp(key, .withdrawn)
            case 5: ended = commands.giveUp(key, .changedHands)
            default: ended = commands.passed(now)
            }
            for (key, end) in ended {
                #expect(end.wasClaimed == isClaimed[key], "seed \(seed)")
                if end.answer.outcome == .notDone { #expect(!end.wasClaimed, "not done, and claimed, seed \(seed)") }
                if end.answer.outcome == .done { #expect(end.wasClaimed, "done without a claim, seed \(seed)") }
                #expect(commands.request(key) == nil, "ended twice, seed \(seed)")
            }
        }
    }

    /// Four hosts of a zone send commands and take them back, as fast as they may: another zone's command is taken, and
    /// costs no more than before.
    @Test func commandsOfOneZone_areNothingToAnother() throws {
        var commands = Commands()
        var id: UInt64 = 0
        for tick in 0..<(60 * 80) {
            let now = start + .milliseconds(Int64(tick) * 1000 / 80)
            if tick % 80 == 0 { _ = commands.passed(now) }
            for author in 10..<14 as Range<UInt64> {
                id += 1
                let key = PendingKey(zone: "away", requestID: .numbered(id))
                guard (try? commands.take(key, command(author: author), at: now)) != nil else { continue }
                _ = commands.giveUp(key, .withdrawn)
            }
        }
        let code = refusal { () throws(CloudFailure) in
            _ = try commands.take(key, command(), at: start + .seconds(60))
        }
        #expect(code == nil)
        #expect(commands.count == 1)
    }

    @Test func work_isNotThatOfOthers() throws {
        var works: [Int] = []
        for others in [10, 2000] as [UInt64] {
            let asked = CountedRequest.Asked()
            var requests = PendingRequests<CountedRequest>()
            for id in 0..<others {
                let request = CountedRequest(number: 10 + id, asked: asked)
                _ = try requests.take(.init(zone: "away", requestID: .numbered(10 + id)), request, at: start)
            }
            let before = asked.count.load(ordering: .relaxed)
            _ = try requests.take(key, CountedRequest(number: 1, asked: asked), at: start)
            _ = requests.offered(to: .numbered(1), in: "home")
            _ = requests.offer(key, to: .numbered(1), token: 7, at: start)
            requests.claimed(key, at: start)
            _ = requests.passed(start + .seconds(1))
            _ = try requests.answer(key, by: .numbered(1), token: 7, "done")
            works.append(asked.count.load(ordering: .relaxed) - before)
        }
        #expect(works[0] == works[1])
    }

    // MARK: Questions about logs

    /// A host that listens to two copies, as while it changes from one to the other, is named once.
    @Test func answersOfTwoCopies_areOne() {
        var own = LogAnswer(parts: [.numbered(1): part(1, lines: 1)], silent: [.numbered(2): "host 2"])
        own.add(
            LogAnswer(
                parts: [.numbered(1): part(1, lines: 2), .numbered(2): part(2)],
                silent: [.numbered(1): "host 1", .numbered(3): "host 3"]))
        #expect(
            own
                == LogAnswer(
                    parts: [.numbered(1): part(1, lines: 1), .numbered(2): part(2)],
                    silent: [.numbered(3): "host 3"]))
    }

    @Test func question_isAnswered_onceEverybodyHas_byTheFirstWordOfEach() throws {
        var questions = Questions()
        _ = try questions.take(key, question(), at: start)
        for (host, lines, isNews) in [(2, 1, true), (2, 2, false), (3, 1, false)] as [(UInt64, Int, Bool)] {
            let answer = try questions.answer(key, by: .numbered(host), part(host, lines: lines), bytes: 10)
            #expect(answer.isNews == isNews && answer.ended.isEmpty)
        }
        let last = try questions.answer(key, by: .numbered(1), part(1), bytes: 10)
        #expect(last.ended.map(\.key) == [key])
        #expect(last.ended.map(\.outcome) == [LogAnswer(parts: [.numbered(1): part(1), .numbered(2): part(2)])])
        #expect(questions.count == 0)
    }

    @Test func hostsThatSayNothing_areNamed_whenTheTimeIsOver() throws {
        var questions = Questions()
        _ = try questions.take(key, question(), at: start)
        _ = try questions.answer(key, by: .numbered(1), part(1), bytes: 10)
        let end = start + PendingLogQuestion.rules.offerTime
        let (early, late) = (questions.passed(end - .milliseconds(1)), questions.passed(end))
        #expect(early.isEmpty)
        #expect(
            late.map(\.outcome) == [LogAnswer(parts: [.numbered(1): part(1)], silent: [.numbered(2): "host 2"])])
        // What comes later is for nobody.
        let answer = try questions.answer(key, by: .numbered(2), part(2), bytes: 10)
        #expect(!answer.isNews)
    }

    @Test func nobodyToAsk_isAnAnswerAtOnce() throws {
        var questions = Questions()
        let taken = try questions.take(key, question(of: []), at: start)
        #expect(taken.ended.map(\.outcome) == [LogAnswer()])
        #expect(questions.count == 0)
    }

    @Test func openQuestionsOfAHost_areLimited_andThoseOfOthersNotByThem() throws {
        var questions = Questions()
        for id in 0..<UInt64(PendingLogQuestion.rules.openPerHost) {
            _ = try questions.take(.init(zone: "home", requestID: .numbered(id)), question(), at: start)
        }
        let other = PendingKey(zone: "home", requestID: .numbered(99))
        #expect(
            refusal { () throws(CloudFailure) in _ = try questions.take(other, question(), at: start) } == .rateLimited)
        _ = try questions.take(other, question(by: 8), at: start)
        let ended = questions.close()
        #expect(ended.count == PendingLogQuestion.rules.openPerHost + 1)
        #expect(questions.count == 0)
    }

    /// However many hosts answer with however much: what is kept has a limit for each host that asks, for each zone and for
    /// all, of which each zone has some in any case; and it is free again afterwards.
    @Test func partsOfAll_areLimited() throws {
        var questions = Questions()
        let mebibyte = 1 << 20
        func isTaken(_ zone: String, _ asker: UInt64, _ bytes: Int) throws -> Bool {
            let key = PendingKey(zone: zone, requestID: .numbered(UInt64(questions.count)))
            _ = try questions.take(key, question(by: asker), at: start)
            let code = refusal { () throws(CloudFailure) in
                _ = try questions.answer(key, by: .numbered(1), part(1), bytes: bytes)
            }
            #expect(code == nil || code == .rateLimited)
            return code == nil
        }
        let first = [
            try isTaken("home", 1, 8 * mebibyte), try isTaken("home", 1, 1), try isTaken("home", 2, 8 * mebibyte),
            try isTaken("home", 3, 1),
        ]
        #expect(first == [true, false, true, false])
        for zone in ["a", "b", "c"] {
            let full = [try isTaken(zone, 1, 8 * mebibyte), try isTaken(zone, 2, 8 * mebibyte)]
            #expect(full == [true, true])
        }
        let last = [try isTaken("d", 1, mebibyte), try isTaken("d", 2, 1)]
        #expect(last == [true, false])
        let late = questions.passed(start + .seconds(5))
        #expect(late.count == 12 && late.allSatisfy { $0.outcome.silent[.numbered(2)] == "host 2" })
        let again = try isTaken("d", 2, 8 * mebibyte)
        #expect(again)
    }

    /// Everybody does anything at any time: each question that was taken has one answer, in time, in which each host that was
    /// asked is named once.
    @Test(arguments: 0..<30)
    func walk_answersEachQuestionOnce(seed: Int) throws {
        var rng = SeededRNG(seed: UInt64(seed))
        var questions = Questions()
        var now = start
        var asked: [PendingKey: (hosts: Set<HostID>, at: MonotonicTime)] = [:]
        for step in 0..<2000 {
            now = now + .milliseconds(Int64.random(in: 0...400, using: &rng))
            var ended = questions.passed(now)
            if Bool.random(using: &rng) {
                let key = PendingKey(zone: "home", requestID: .numbered(UInt64(step)))
                let hosts = (1...4).filter { _ in Bool.random(using: &rng) }.map { UInt64($0) }
                let request = question(by: UInt64.random(in: 10...20, using: &rng), of: hosts)
                if let taken = try? questions.take(key, request, at: now) {
                    asked[key] = (Set(request.hosts.keys), now)
                    ended += taken.ended
                }
            } else if let key = asked.keys.sorted().randomElement(using: &rng) {
                let host = UInt64.random(in: 1...4, using: &rng)
                ended += try questions.answer(key, by: .numbered(host), part(host), bytes: 100).ended
            }
            for (key, answer) in ended {
                let known = asked.removeValue(forKey: key)
                let question = try #require(known, "answered twice, seed \(seed)")
                let named = Array(answer.parts.keys) + Array(answer.silent.keys)
                #expect(named.count == question.hosts.count && Set(named) == question.hosts)
                #expect(answer.silent.isEmpty || now >= question.at + PendingLogQuestion.rules.offerTime)
            }
            #expect(asked.values.allSatisfy { now < $0.at + PendingLogQuestion.rules.offerTime })
            #expect(questions.count == asked.count)
        }
    }
}

/// Counts how often somebody looks who asks, and whom.
private struct CountedRequest: PendingRequest {
    final class Asked: Sendable { let count = Atomic(0) }

    static let rules = PendingCommand.rules

    let number: UInt64
    let asked: Asked

    var asker: HostID {
        asked.count.wrappingAdd(1, ordering: .relaxed)
        return .numbered(number)
    }
    var hosts: [HostID: AskedHost] {
        asked.count.wrappingAdd(1, ordering: .relaxed)
        return [.numbered(number): AskedHost(name: "host", token: 7)]
    }
    func outcome(_ end: PendingEnd<String>) -> String? { end.parts.values.first }
    static func == (one: Self, other: Self) -> Bool { one.number == other.number }
}
