import CloudAPI
import CoreTestKit
import MeterModel
import MeterTestKit
import Testing

@testable import Cloud

/// Who asks is answered once, with what came in time, and nothing is kept.
struct LogLedgerTests {
    private let key = LogLedger.Key(zone: "home", requestID: .numbered(1))
    private let start = MonotonicTime.origin + .seconds(1000)
    private let hosts: [HostID: String] = [.numbered(1): "alpha", .numbered(2): "beta"]

    private func part(_ host: UInt64, lines: Int = 1) -> RelayLogAnswer.Part {
        let line = RelayLogLine(kind: "state", age: 1, lastAge: 1, time: 1, what: "offline")
        return RelayLogAnswer.Part(
            hostID: HostID.numbered(host).description, hostName: "host \(host)",
            lines: Array(repeating: line, count: lines))
    }

    private func names(_ answer: LogLedger.Answer?) -> [String] {
        (answer?.parts ?? [:]).sorted { $0.key < $1.key }.map(\.value.hostName)
    }

    /// A host that listens to two copies, as while it changes from one to the other, is named once.
    @Test func answersOfTwoCopies_areOne() {
        var own = LogLedger.Answer(parts: [.numbered(1): part(1, lines: 1)], silent: [.numbered(2): "beta"])
        own.add(
            LogLedger.Answer(
                parts: [.numbered(1): part(1, lines: 2), .numbered(2): part(2)],
                silent: [.numbered(1): "alpha", .numbered(3): "gamma"]))
        #expect(own.parts == [.numbered(1): part(1, lines: 1), .numbered(2): part(2)])
        #expect(own.silent == [.numbered(3): "gamma"])
    }

    @Test func question_isAnswered_onceEverybodyHas() throws {
        var ledger = LogLedger()
        try ledger.ask(key, by: .numbered(9), of: hosts, at: start)
        let second = try ledger.answer(key, by: .numbered(2), part(2), bytes: 10)
        let (before, stranger) = (
            ledger.takeAnswered(at: start), try ledger.answer(key, by: .numbered(3), part(3), bytes: 10)
        )
        #expect(second && before.isEmpty && !stranger)
        _ = try ledger.answer(key, by: .numbered(1), part(1), bytes: 10)
        let answered = ledger.takeAnswered(at: start)
        #expect(answered.map(\.0) == [key])
        #expect(names(answered.first?.1) == ["host 1", "host 2"])
        #expect(answered.first?.1.silent.isEmpty == true)
        #expect(ledger.count == 0)
    }

    @Test func hostsThatSayNothing_areNamed_whenTheTimeIsOver() throws {
        var ledger = LogLedger()
        try ledger.ask(key, by: .numbered(9), of: hosts, at: start)
        _ = try ledger.answer(key, by: .numbered(1), part(1), bytes: 10)
        let early = ledger.takeAnswered(at: start + LogLedger.patience - .milliseconds(1))
        let late = ledger.takeAnswered(at: start + LogLedger.patience)
        #expect(early.isEmpty)
        #expect(late.first?.1.silent == [.numbered(2): "beta"])
        #expect(names(late.first?.1) == ["host 1"])
        // What comes later is for nobody.
        let isNews = try ledger.answer(key, by: .numbered(2), part(2), bytes: 10)
        #expect(!isNews)
    }

    @Test func firstWordOfAHost_counts() throws {
        var ledger = LogLedger()
        try ledger.ask(key, by: .numbered(9), of: hosts, at: start)
        _ = try ledger.answer(key, by: .numbered(1), part(1, lines: 1), bytes: 10)
        let again = try ledger.answer(key, by: .numbered(1), part(1, lines: 2), bytes: 10)
        #expect(!again)
        let taken = ledger.take(key)
        #expect(taken?.parts[.numbered(1)]?.lines.count == 1)
    }

    @Test func nobodyToAsk_isAnAnswerAtOnce() throws {
        var ledger = LogLedger()
        try ledger.ask(key, by: .numbered(9), of: [:], at: start)
        let answered = ledger.takeAnswered(at: start)
        #expect(answered.map(\.1) == [LogLedger.Answer()])
    }

    @Test func openQuestionsOfAHost_areLimited_andThoseOfOthersNotByThem() throws {
        var ledger = LogLedger()
        for id in 0..<UInt64(LogLedger.openPerHost) {
            try ledger.ask(.init(zone: "home", requestID: .numbered(id)), by: .numbered(9), of: hosts, at: start)
        }
        var refusal: CloudFailure?
        do throws(CloudFailure) {
            try ledger.ask(.init(zone: "home", requestID: .numbered(99)), by: .numbered(9), of: hosts, at: start)
        } catch {
            refusal = error
        }
        #expect(refusal?.code == .rateLimited)
        try ledger.ask(.init(zone: "home", requestID: .numbered(99)), by: .numbered(8), of: hosts, at: start)
        let ended = ledger.close()
        #expect(ended.count == LogLedger.openPerHost + 1)
        #expect(ledger.count == 0)
    }

    /// However many hosts answer with however much: what is kept has a limit, and is free again afterwards.
    @Test func partsOfAll_areLimited() throws {
        var ledger = LogLedger()
        let half = LogLedger.bytesMax / 2 + 1
        try ledger.ask(key, by: .numbered(9), of: hosts, at: start)
        _ = try ledger.answer(key, by: .numbered(1), part(1), bytes: half)
        var refusal: CloudFailure?
        do throws(CloudFailure) {
            _ = try ledger.answer(key, by: .numbered(2), part(2), bytes: half)
        } catch {
            refusal = error
        }
        #expect(refusal?.code == .rateLimited)
        let late = ledger.takeAnswered(at: start + .seconds(5))
        #expect(late.first?.1.silent == [.numbered(2): "beta"])
        try ledger.ask(key, by: .numbered(9), of: hosts, at: start)
        let isNews = try ledger.answer(key, by: .numbered(2), part(2), bytes: half)
        #expect(isNews)
    }

    /// Everybody does anything at any time: each question that was taken has one answer, in time, in which each host that was
    /// asked is named once.
    @Test(arguments: 0..<30)
    func walk_answersEachQuestionOnce(seed: Int) throws {
        var rng = SeededRNG(seed: UInt64(seed))
        var ledger = LogLedger()
        var now = start
        var asked: [LogLedger.Key: (hosts: Set<String>, at: MonotonicTime)] = [:]
        for step in 0..<2000 {
            now = now + .milliseconds(Int64.random(in: 0...400, using: &rng))
            if Bool.random(using: &rng) {
                let key = LogLedger.Key(zone: "home", requestID: .numbered(UInt64(step)))
                let some = (1...4).filter { _ in Bool.random(using: &rng) }.map { UInt64($0) }
                let hosts = Dictionary(uniqueKeysWithValues: some.map { (HostID.numbered($0), "host \($0)") })
                let asker = HostID.numbered(UInt64.random(in: 10...20, using: &rng))
                if (try? ledger.ask(key, by: asker, of: hosts, at: now)) != nil {
                    asked[key] = (Set(hosts.values), now)
                }
            } else if let key = asked.keys.sorted().randomElement(using: &rng) {
                let host = UInt64.random(in: 1...4, using: &rng)
                _ = try ledger.answer(key, by: .numbered(host), part(host), bytes: 100)
            }
            for (key, answer) in ledger.takeAnswered(at: now) {
                let known = asked.removeValue(forKey: key)
                let question = try #require(known, "answered twice, seed \(seed)")
                let named = names(answer) + answer.silent.values
                #expect(named.count == question.hosts.count && Set(named) == question.hosts)
                #expect(answer.silent.isEmpty || now >= question.at + LogLedger.patience)
            }
            #expect(asked.values.allSatisfy { now < $0.at + LogLedger.patience })
            #expect(ledger.count == asked.count)
        }
    }
}
