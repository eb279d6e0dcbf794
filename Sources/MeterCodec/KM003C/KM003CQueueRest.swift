/// Recognises samples beyond the count in their queue's header.
///
/// A captured answer at 50 samples a second contains five samples where its header counts two. On a serial line only
/// sequence numbers show that the other three belong to it.
struct KM003CQueueRest: Sendable {
    let rate: KM003CRate
    let sequence: UInt16

    /// Nil unless the message ends in a queue whose rate is known or follows from its sequence numbers.
    init?(after message: KM003CMessage) {
        guard message.payloads.last?.attribute == .queue else { return nil }
        let count = message.queueCount
        guard let last = message.queueSample(count - 1) else { return nil }
        let step = message.queueSample(count - 2).map { last.sequence &- $0.sequence }
        guard let rate = message.graphRate ?? KM003CRate.allCases.first(where: { $0.sequenceStep == step }) else {
            return nil
        }
        self.init(rate: rate, sequence: last.sequence &+ rate.sequenceStep)
    }

    private init(rate: KM003CRate, sequence: UInt16) {
        self.rate = rate
        self.sequence = sequence
    }

    var next: Self { Self(rate: rate, sequence: sequence &+ rate.sequenceStep) }

    enum Verdict {
        case incomplete
        case sample
        case foreign
    }

    /// Judges whether these bytes, which do not start a message, start the next sample.
    func judge(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        let found = bytes.count == 1 ? UInt16(bytes.u8(0)) | sequence & 0xFF00 : bytes.u16LE(0)
        guard found == sequence else { return .foreign }
        guard bytes.count >= KM003CQueueSample.length else { return .incomplete }
        return KM003CQueueSample(bytes, at: 0).isPlausible ? .sample : .foreign
    }
}
