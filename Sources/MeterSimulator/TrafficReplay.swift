package import Domain

/// A meter that replays recorded messages, without simulating a meter's state.
///
/// - With requests: each request gets the answer recorded for its next occurrence. An unknown request gets the answer
///   to the next recorded request.
/// - Without requests, with messages at different times: the replay repeats the messages endlessly with the recorded
///   intervals.
/// - Otherwise every request gets the whole recording.
///
/// If a family's answers repeat an id (`FamilySimulator.echoedIDOffset`), requests are compared without it, and answers
/// get the current request's id.
package struct TrafficReplay: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    private let exchanges: [Exchange]
    private let idOffset: Int?
    /// Messages that the meter sent without a request, by time since the start of the recording.
    private let pushes: [Message]
    /// Duration of one repetition of `pushes`; zero without pushes.
    private let roundLength: Duration
    private var nextExchange = 0
    private var nextPush = 0
    private var round = 0
    private var answers = 0

    package struct Message: Hashable, Sendable {
        /// Duration since an origin that all messages share.
        package var time: Duration
        package var direction: Direction
        package var bytes: [UInt8]

        package init(time: Duration, direction: Direction, bytes: [UInt8]) {
            self.time = time
            self.direction = direction
            self.bytes = bytes
        }
    }

    package enum Direction: Hashable, Sendable {
        case toMeter, fromMeter
    }

    private struct Exchange {
        var request: [UInt8]
        var answers: [[UInt8]]
    }

    /// - Parameter messages: in the order of recording. The meter's messages before the first request are not replayed.
    package init(model: ModelName, messages: [Message], in simulators: SimulatorCatalogue = .standard) {
        self.model = model
        idOffset = simulators[model.family]?.echoedIDOffset
        let messages = messages.filter { !$0.bytes.isEmpty }
        let exchanges = Self.exchanges(in: messages)
        let times = messages.map(\.time)
        let span = (times.max() ?? .zero) - (times.min() ?? .zero)
        if !exchanges.isEmpty {
            (self.exchanges, pushes, roundLength) = (exchanges, [], .zero)
        } else if messages.count > 1, span > .zero {
            let start = times.min() ?? .zero
            self.exchanges = []
            pushes = messages.map { Message(time: $0.time - start, direction: .fromMeter, bytes: $0.bytes) }
                .sorted { $0.time < $1.time }
            // The pause between two repetitions is the average pause between messages.
            roundLength = span + span / (messages.count - 1)
        } else {
            self.exchanges = [Exchange(request: [], answers: messages.map(\.bytes))]
            (pushes, roundLength) = ([], .zero)
        }
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        guard pushes.isEmpty else { return [] }
        var rest = bytes[...]
        var sent: [[UInt8]] = []
        while !rest.isEmpty {
            let request = rest
            guard let exchange = takeExchange(for: &rest) else { break }
            sent += exchange.answers.compactMap { spoil(withID(of: request, $0, recordedFor: exchange.request)) }
        }
        return sent
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        guard var next = nextDue, next <= time else { return [] }
        if time - next > roundLength {
            round = Int(clamping: time.nanoseconds / max(1, roundLength.nanoseconds))
            nextPush = 0
        }
        var sent: [[UInt8]] = []
        while next <= time, sent.count < 2 * pushes.count {
            if let bytes = spoil(pushes[nextPush].bytes) { sent.append(bytes) }
            nextPush += 1
            if nextPush == pushes.count { (nextPush, round) = (0, round + 1) }
            next = roundLength * round + pushes[nextPush].time
        }
        return sent
    }

    package var nextDue: Duration? {
        pushes.isEmpty ? nil : roundLength * round + pushes[nextPush].time
    }

    package mutating func powerCycle() {
        (nextExchange, nextPush, round) = (0, 0, 0)
    }

    /// Finds and removes the recorded request with which `rest` starts, searching onwards from the last match.
    private mutating func takeExchange(for rest: inout ArraySlice<UInt8>) -> Exchange? {
        guard !exchanges.isEmpty else { return nil }
        for step in exchanges.indices {
            let place = (nextExchange + step) % exchanges.count
            let exchange = exchanges[place]
            guard !exchange.request.isEmpty, begins(rest, with: exchange.request) else { continue }
            rest.removeFirst(exchange.request.count)
            nextExchange = (place + 1) % exchanges.count
            return exchange
        }
        rest.removeAll()
        let exchange = exchanges[nextExchange]
        nextExchange = (nextExchange + 1) % exchanges.count
        return exchange
    }

    private func begins(_ bytes: ArraySlice<UInt8>, with request: [UInt8]) -> Bool {
        guard bytes.count >= request.count else { return false }
        return zip(bytes, request).enumerated().allSatisfy { $0.offset == idOffset || $0.element.0 == $0.element.1 }
    }

    private func withID(of request: ArraySlice<UInt8>, _ answer: [UInt8], recordedFor recorded: [UInt8]) -> [UInt8] {
        guard let idOffset, answer.count > idOffset, recorded.count > idOffset, request.count > idOffset,
            answer[idOffset] == recorded[idOffset]
        else { return answer }
        var answer = answer
        answer[idOffset] = request[request.startIndex + idOffset]
        return answer
    }

    private mutating func spoil(_ bytes: [UInt8]) -> [UInt8]? {
        answers += 1
        return faults.apply(to: bytes, number: answers, checkOffset: bytes.count - 1)
    }

    private static func exchanges(in messages: [Message]) -> [Exchange] {
        var exchanges: [Exchange] = []
        for message in messages {
            switch message.direction {
            case .toMeter: exchanges.append(Exchange(request: message.bytes, answers: []))
            case .fromMeter: exchanges.indices.last.map { exchanges[$0].answers.append(message.bytes) }
            }
        }
        return exchanges
    }
}
