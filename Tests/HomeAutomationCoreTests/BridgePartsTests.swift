import Testing

@testable import Domain

/// The link as its own part: one way through its states each.
struct BrokerConnectionTests {
    private let cause = BrokerTrouble("refused")
    private var open: BridgeMachine.Action {
        .open(will: BrokerMessage(Sample.topics.bridge, "offline", isRetained: true))
    }

    private func opened() -> BrokerConnection {
        var connection = BrokerConnection(Sample.settings)
        _ = connection.start(at: Sample.at(0))
        _ = connection.opened(at: Sample.at(1))
        return connection
    }

    @Test func start_opens_once() {
        var connection = BrokerConnection(Sample.settings)

        let first = connection.start(at: Sample.at(0))
        let second = connection.start(at: Sample.at(1))

        #expect(first == [open])
        #expect(second.isEmpty)
    }

    @Test func acceptance_countsOnlyDuringAnAttempt() {
        var connection = BrokerConnection(Sample.settings)

        let early = connection.opened(at: Sample.at(0))
        _ = connection.start(at: Sample.at(0))
        let first = connection.opened(at: Sample.at(1))
        let second = connection.opened(at: Sample.at(2))

        #expect([early, first, second] == [false, true, false])
        #expect(connection.linksOpened == 1)
    }

    @Test func loss_isTriedAgain_afterThePause_withItsCauseUntilThen() {
        var connection = opened()

        let lost = connection.lost(cause, at: Sample.at(2), random: 200)
        let early = connection.woke(at: Sample.at(2.9), random: 0, oldestSent: nil)
        let trouble = connection.trouble
        let due = connection.woke(at: Sample.at(3), random: 0, oldestSent: nil)
        _ = connection.opened(at: Sample.at(4))

        #expect(lost == [.tell(.lost(cause: cause, retryIn: .seconds(1), isNew: true))])
        #expect(early.isEmpty)
        #expect(trouble == cause)
        #expect(due == [open])
        #expect(connection.trouble == nil)
        #expect(connection.outage(until: Sample.at(4)) == .seconds(2))
    }

    @Test func pause_isSpreadByAFifthEitherWay() {
        let lost = [UInt64(0), 399].map { random in
            var connection = opened()
            return connection.lost(cause, at: Sample.at(2), random: random)
        }

        let waits: [Duration] = [.milliseconds(800), .milliseconds(1199)]
        #expect(lost == waits.map { [.tell(.lost(cause: cause, retryIn: $0, isNew: true))] })
    }

    @Test func closing_endsWithItsOwnAnswerOnly() {
        var connection = opened()

        connection.close(after: 7, at: Sample.at(2))
        let isClosing = connection.isClosing && !connection.isOpen
        let other = connection.acknowledged(6) + connection.stop()
        let answer = connection.acknowledged(7)
        let late = connection.lost(cause, at: Sample.at(3), random: 0)

        #expect(isClosing)
        #expect(other.isEmpty)
        #expect(answer == [.close, .finished])
        #expect(connection.isStopped)
        #expect(late.isEmpty)
    }

    @Test func closing_endsWithTheLink() {
        var connection = opened()

        connection.close(after: 7, at: Sample.at(2))
        let lost = connection.lost(cause, at: Sample.at(3), random: 0)

        #expect(lost == [.finished])
    }
}

struct BrokerRequestsTests {
    private let key = Sample.id.topicKey

    @Test func messages_areAdmittedUpToTheLimit_andAgainAfterATick() {
        var requests = BrokerRequests()

        let admitted = (0..<25).count { _ in requests.admit() }
        requests.overrun(by: 3)
        let ignored = [requests.tick(), requests.tick()]
        let isAdmitted = requests.admit()

        #expect(admitted == BrokerRequests.messagesPerTick)
        #expect(ignored == [5 + 3, 0])
        #expect(isAdmitted)
    }

    @Test func request_isNumbered_andAnsweredOnce() {
        var requests = BrokerRequests()
        let disconnect = MeterRequest(.disconnect)

        let first = requests.asked(Array("disconnect".utf8), of: key, meter: Sample.id)
        let second = requests.asked(Array("disconnect".utf8), of: key, meter: Sample.id)
        let outcome = RequestOutcome.done(state: "offline")
        let answers = [requests.answered(1, outcome), requests.answered(1, outcome)]

        #expect(first == .perform(1, disconnect, Sample.id))
        #expect(second == .perform(2, disconnect, Sample.id))
        #expect(answers == [.init(request: disconnect, key: key, outcome: outcome), nil])
    }

    @Test func requestsAtOnce_areBounded_andEachAnswerMakesRoom() {
        var requests = BrokerRequests()
        for _ in 0..<BrokerRequests.performingMax {
            _ = requests.asked(Array("connect".utf8), of: key, meter: Sample.id)
        }

        guard case .refuse(let response, cause: nil) = requests.asked([], of: key, meter: Sample.id),
            case .failed(code: "too-many-requests", _, _) = response.outcome
        else {
            Issue.record("one more was taken")
            return
        }
        _ = requests.answered(1, .done(state: ""))
        guard case .perform = requests.asked(Array("connect".utf8), of: key, meter: Sample.id) else {
            Issue.record("there was no room")
            return
        }
    }
}

struct HomeAssistantStartsTests {
    @Test func startWithinTheInterval_isOwed_untilItIsServed() {
        var starts = HomeAssistantStarts(interval: .seconds(5))

        var seen: [[Bool]] = []
        for second in [0, 4.9, 5] { seen.append([starts.serve(at: Sample.at(second)), starts.isOwed]) }

        #expect(seen == [[true, false], [false, true], [true, false]])
    }
}

struct RefusedTopicsTests {
    @Test func topic_isNewOnce_andNoMoreThanAHundredAre() {
        var topics = RefusedTopics()

        let first = [topics.record("a"), topics.record("a")]
        let new = (0..<200).count { topics.record("\($0)") }
        let count = topics.count
        topics.removeAll()
        let again = topics.record("a")

        #expect(first == [true, false])
        #expect(new == 99)
        #expect(count == 100)
        #expect(again)
    }
}

struct OutboxTests {
    @Test func overflow_isSaidOnce_forEachLink() {
        var limits = Backlog.Limits()
        limits.entries = 1
        var outbox = Outbox(backlog: limits)
        var said: [Bool] = []
        for _ in 0..<2 {
            outbox.linkOpened()
            said.append(outbox.beginsToOverflow())
            for number in UInt64(1)...2 { outbox.keep(.init(number: number, message: BrokerMessage("a", "b"))) }
            said += [outbox.beginsToOverflow(), outbox.beginsToOverflow()]
        }

        #expect(said == [false, true, false, false, true, false])
    }

    @Test func answers_areCountedByWhatTheySay_andUnknownOnesNotAtAll() throws {
        var outbox = Outbox(backlog: Backlog.Limits())
        outbox.put(BrokerMessage("a", "1"))
        outbox.put(BrokerMessage("b", "2"))
        let sent = [outbox.next(at: Sample.at(0)), outbox.next(at: Sample.at(1))].compactMap { $0?.0 }
        let (first, second) = (try #require(sent.first), try #require(sent.last))
        let oldest = outbox.oldestSent
        let topics = [
            outbox.acknowledged(first, isRefused: false), outbox.acknowledged(first, isRefused: false),
            outbox.acknowledged(second, isRefused: true),
        ]

        #expect(oldest == Sample.at(0))
        #expect(topics == ["a", nil, "b"])
        #expect((outbox.confirmedCount, outbox.refusedCount) == (1, 1))
        #expect(outbox.count == 0)
    }
}
