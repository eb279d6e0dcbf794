import Domain
import MeterCodec
import MeterSimulator
import Testing

struct TrafficReplayTests {
    private typealias Message = TrafficReplay.Message

    private func message(_ milliseconds: Int, _ direction: TrafficReplay.Direction, _ bytes: [UInt8]) -> Message {
        Message(time: .milliseconds(milliseconds), direction: direction, bytes: bytes)
    }

    /// The same request twice with different answers, and a different one between them.
    private var conversation: TrafficReplay {
        TrafficReplay(
            model: .km003c,
            messages: [
                message(0, .fromMeter, [0x99]),
                message(10, .toMeter, [1, 2]), message(11, .fromMeter, [0xA1]), message(12, .fromMeter, [0xA2]),
                message(20, .toMeter, [3]),
                message(30, .toMeter, [1, 2]), message(31, .fromMeter, [0xB1]),
            ])
    }

    @Test func request_getsWhatFollowedIt_theNextPlaceEachTime() {
        var meter = conversation
        let answers = (0..<3).map { _ in meter.receive([1, 2], at: .zero) }
        #expect(answers == [[[0xA1], [0xA2]], [[0xB1]], [[0xA1], [0xA2]]])
        #expect(meter.nextDue == nil)
    }

    @Test func requestWithoutAnswer_getsNone() {
        var meter = conversation
        let answer = meter.receive([3], at: .zero)
        #expect(answer == [])
        let nextAnswer = meter.receive([1, 2], at: .zero)
        #expect(nextAnswer == [[0xB1]])
    }

    @Test func unknownRequest_getsTheNextRecordedAnswers() {
        var meter = conversation
        let answers = (0..<4).map { _ in meter.receive([7, 7, 7], at: .zero) }
        #expect(answers == [[[0xA1], [0xA2]], [], [[0xB1]], [[0xA1], [0xA2]]])
    }

    @Test func requestsReadTogether_areAnsweredOneByOne() {
        var meter = conversation
        let answers = meter.receive([1, 2, 3, 1, 2], at: .zero)
        #expect(answers == [[0xA1], [0xA2], [0xB1]])
    }

    @Test func powerCycle_startsTheConversationAnew() {
        var meter = conversation
        _ = meter.receive([1, 2], at: .zero)
        meter.powerCycle()
        let answers = meter.receive([1, 2], at: .zero)
        #expect(answers == [[0xA1], [0xA2]])
    }

    /// Three pushes in 2 s, so one round takes 3 s: the usual pause is 1 s.
    private var pushing: TrafficReplay {
        TrafficReplay(
            model: .atorchUSB,
            messages: [
                message(5000, .fromMeter, [1]), message(6000, .fromMeter, [2]), message(7000, .fromMeter, [3]),
            ])
    }

    @Test func pushes_comeAtTheirPace_overAndOver() {
        var meter = pushing
        var times: [Duration] = []
        var bytes: [UInt8] = []
        for _ in 0..<5 {
            guard let next = meter.nextDue else { break }
            let early = meter.due(at: next - .milliseconds(1))
            #expect(early == [])
            times.append(next)
            bytes += meter.due(at: next).flatMap { $0 }
        }
        #expect(times == (0..<5).map { .seconds($0) })
        #expect(bytes == [1, 2, 3, 1, 2])
        let toRequest = meter.receive([0xF0], at: .seconds(5))
        #expect(toRequest == [])
    }

    @Test func pushesThatWereOverslept_comeTogether_butNotRoundsOfThem() {
        var meter = pushing
        let firstRound = meter.due(at: .seconds(2))
        #expect(firstRound == [[1], [2], [3]])
        let afterAMonth = meter.due(at: .seconds(3_000_001))
        #expect(afterAMonth == [[1], [2]])
        #expect(meter.nextDue == .seconds(3_000_002))
    }

    @Test func pushes_startAnew_afterAPowerCycle() {
        var meter = pushing
        _ = meter.due(at: .seconds(4))
        meter.powerCycle()
        #expect(meter.nextDue == .zero)
        let sent = meter.due(at: .zero)
        #expect(sent == [[1]])
    }

    @Test func recordingOfOneMoment_isTheAnswerToEverything() {
        var meter = TrafficReplay(
            model: .um25c, messages: [message(0, .fromMeter, [1]), message(0, .fromMeter, [2])])
        #expect(meter.nextDue == nil)
        let first = meter.receive([0xF0], at: .zero)
        #expect(first == [[1], [2]])
        let second = meter.receive([0xF0], at: .seconds(1))
        #expect(second == [[1], [2]])
    }

    @Test func emptyRecording_saysNothing() {
        var meter = TrafficReplay(model: .um25c, messages: [message(0, .fromMeter, [])])
        let toRequest = meter.receive([0xF0], at: .zero)
        #expect(toRequest == [])
        let pushed = meter.due(at: .seconds(9))
        #expect(pushed == [])
    }

    @Test func faults_hitAnswersAndPushes() {
        var answering = conversation
        answering.faults = SimulatorFaults(.wrongCheck, every: 2)
        let answers = answering.receive([1, 2], at: .zero)
        #expect(answers == [[0xA1], [0xA2 ^ UInt8(0x5A)]])
        var pushing = pushing
        pushing.faults = SimulatorFaults(.silence, every: 2)
        let pushed = pushing.due(at: .seconds(2))
        #expect(pushed == [[1], [3]])
    }

    /// A recording of a KM003C is played to a driver that uses other ids: its answers are accepted all the same.
    @Test func km003cRecording_answersUnderTheIDsOfToday() throws {
        var recorded = KM003CDriver(model: .km003c)
        var meter = SimulatedKM003C(model: .km003c)
        var messages: [TrafficReplay.Message] = []
        for request in recorded.opening().map(\.bytes) + [recorded.poll(), recorded.poll()] {
            messages.append(.init(time: .zero, direction: .toMeter, bytes: request))
            messages += meter.receive(request, at: .zero).map { .init(time: .zero, direction: .fromMeter, bytes: $0) }
        }
        var replay = TrafficReplay(model: .km003c, messages: messages)
        var driver = KM003CDriver(model: .km003c)
        for _ in 0..<40 { _ = driver.poll() }

        var readings = 0
        for _ in 0..<5 {
            for answer in replay.receive(driver.poll(), at: .zero) {
                driver.receive(answer) { event in
                    if case .frame(let frame) = event { frame.forEachReading { _ in readings += 1 } }
                }
            }
        }
        #expect(readings == 5)
    }
}
