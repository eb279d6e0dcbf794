import Domain
import MeterCodec
import Testing

struct KM003CDecoderTests {
    private func messages(_ bytes: [UInt8], with decoder: KM003CDecoder = KM003CDecoder()) -> [KM003CMessage] {
        decodedFrames(bytes, with: decoder).compactMap { if case .km003c(let message) = $0 { message } else { nil } }
    }

    @Test func messages_decodeInAnyPieces_andAmongRubbish() {
        let frames = [
            KM003CSample.adc, KM003CSample.accept, KM003CSample.queue(sequences: [500, 1000]), KM003CSample.settings,
            KM003CSample.noLogs, KM003CSample.adcAndQueue(sequences: [1]), KM003CSample.pdAttach, KM003CSample.pdTrace,
            KM003CSample.queue(sequences: []), KM003CSample.reject, KM003CSample.adc,
        ]
        for side in [KM003CFraming.Side.meter, .both] {
            DecoderVerifier.verify(frames: frames) { KM003CDecoder(side: side) }
        }
    }

    @Test func memory_isTakenAsAnnounced_whateverItLooksLike() {
        let frames = [KM003CSample.memoryAnswer, KM003CSample.memory, KM003CSample.adc]
        for size in [1, 7, 64, 200] {
            let (found, skipped) = DecoderVerifier.feed(
                frames.flatMap { $0 }, chunk: size, to: KM003CDecoder(side: .both))
            #expect(found == frames)
            #expect(skipped == 0)
        }
        let range = messages(KM003CSample.memoryAnswer, with: KM003CDecoder(side: .both)).first?.memoryRange
        #expect(range?.address == 0x420)
        #expect(range?.size == 24)
    }

    /// Whole blocks of the cipher, in pieces of up to 2544 bytes.
    @Test(
        arguments: [
            (0, []), (1, [16]), (16, [16]), (17, [32]), (2544, [2544]), (2545, [2544, 16]), (5088, [2544, 2544]),
        ] as [(UInt32, [Int])])
    func memory_comesInPieces_toTheCiphersEnd(size: UInt32, pieces: [Int]) {
        let memory = [UInt8](repeating: 0x41, count: pieces.reduce(0, +))
        for chunk in [500, 10_000] {
            let (found, skipped) = DecoderVerifier.feed(
                KM003CSample.memoryAnswer(size: size) + memory + KM003CSample.adc, chunk: chunk,
                to: KM003CDecoder(side: .both))
            #expect(found.map(\.count) == [20] + pieces + [52])
            #expect(skipped == 0)
        }
    }

    @Test func memoryAnswer_isNone_whenItsCheckIsWrong() {
        var broken = KM003CSample.memoryAnswer
        broken[16] ^= 1
        let (found, skipped) = DecoderVerifier.feed(
            broken + KM003CSample.adc, chunk: 100, to: KM003CDecoder(side: .both))
        #expect(found == [KM003CSample.adc])
        #expect(skipped == broken.count)
    }

    @Test func emptyAnswer_isProvedByTheNextMessage() {
        let empty: [UInt8] = [0x41, 0x09, 0x00, 0x00]
        for next in [KM003CSample.adc, KM003CSample.reject, KM003CSample.memoryAnswer] {
            let (found, skipped) = DecoderVerifier.feed(empty + next, chunk: 3, to: KM003CDecoder(side: .both))
            #expect(found == [empty, next])
            #expect(skipped == 0)
        }
        #expect(messages(empty).isEmpty)
    }

    /// Neither a message that counts an object nor one that announces a further payload is proved by the next.
    @Test(arguments: [[0x41, 0x09, 0x40, 0x00], [0x41, 0x09, 0x00, 0x00, 0x10, 0x80, 0x00, 0x00]] as [[UInt8]])
    func messageThatPromisesMore_isNone(head: [UInt8]) {
        for next in [KM003CSample.adc, KM003CSample.reject] {
            let (found, skipped) = DecoderVerifier.feed(head + next, chunk: 3, to: KM003CDecoder())
            #expect(found == [next] && skipped == head.count)
        }
    }

    @Test func samplesBeyondTheHeadersNumber_areKept_whileTheyGoOn() {
        let queue = KM003CSample.adcAndQueue(sequences: [65_490, 65_510])
        let more = KM003CSample.queueSamples(sequences: [65_530, 14, 99])
        for size in [1, 3, 64, 300] {
            let (found, skipped) = DecoderVerifier.feed(
                queue + more + KM003CSample.adc, chunk: size, to: KM003CDecoder())
            #expect(found == [queue, Array(more[0..<20]), Array(more[20..<40]), KM003CSample.adc])
            #expect(skipped == 20)
        }
        let readings = decodedReadings(queue + more, with: KM003CDecoder())
        #expect(readings.map { $0[.cc1] } == [16.5, 16.5, 16.5, 16.5])
    }

    @Test func sampleWithoutItsQueue_isRubbish() {
        let bytes = KM003CSample.adc + KM003CSample.queueSamples(sequences: [20]) + KM003CSample.adc
        let (found, skipped) = DecoderVerifier.feed(bytes, chunk: 500, to: KM003CDecoder())
        #expect(found == [KM003CSample.adc, KM003CSample.adc])
        #expect(skipped == 20)
    }

    @Test func halfAnAnswer_costsItselfAlone() {
        let bytes = Array(KM003CSample.settings.prefix(90)) + KM003CSample.settings + KM003CSample.adc
        let (found, _) = DecoderVerifier.feed(bytes, chunk: 64, to: KM003CDecoder())
        #expect(found == [KM003CSample.settings, KM003CSample.adc])
    }

    @Test func settings_areRefused_whenOneOfTheirChecksIsWrong() {
        for offset in [8 + 4, 8 + 0x70] {
            var broken = KM003CSample.settings
            broken[offset] ^= 1
            #expect(messages(broken).allSatisfy { $0.settings == nil })
            #expect(messages(broken, with: KM003CDecoder(enforcesChecks: false)).first?.settings != nil)
        }
    }

    @Test(arguments: [
        (3, 0x7F), (7, 0x7F), (11, 0x7F), (15, 0x7F), (19, 0x02), (23, 0x02), (25, 0x7F), (35, 0x00), (35, 0xFF),
    ])
    func measurements_areRefused_whenNoMeterMeasuresThem(offset: Int, value: UInt8) {
        var broken = KM003CSample.adc
        broken[8 + offset] = value
        #expect(messages(broken).isEmpty)
        #expect(messages(broken, with: KM003CDecoder(enforcesChecks: false)).count == 1)
    }

    @Test(arguments: [
        "410002020100000a", "4100020203000000", "4100820201800000", "4100020202000214", "41000202100040 02",
        // Settings of 176 and of 1008 bytes, a status of 304, a trace with a size and with a chunk, attribute 80 with 36
        // bytes, a catalogue of 2 by 96, and the two attributes that no meter was seen to use.
        "410002020800002c", "41000202080000fc", "410002021000004c", "4100020220000001", "4100020220000100",
        "4100020280000009", "4100020200020218", "4100020204000001", "4100020240000001",
    ])
    func implausiblePayloadHeader_isNoMessage(text: String) throws {
        let bytes = try hex(text) + [UInt8](repeating: 0, count: 1100)
        #expect(messages(bytes).isEmpty)
    }

    /// Whatever is lost, the next answer starts before this one has its full length.
    @Test(arguments: 4...48, 1...9)
    func answerWithBytesLost_costsItselfAlone(offset: Int, lost: Int) throws {
        var damaged = KM003CSample.adc
        damaged.removeSubrange(offset..<min(offset + lost, 52))
        let (found, skipped) = DecoderVerifier.feed(
            damaged + KM003CSample.adc + KM003CSample.adc, chunk: 500, to: KM003CDecoder())
        #expect(found == [KM003CSample.adc, KM003CSample.adc])
        #expect(skipped == damaged.count)
    }

    /// With CC2 at 2 mV, as on a cable, the averages look like a rate: the flag in the wrong place gives it away, even
    /// before the next answer has arrived completely.
    @Test func twoBytesLostBeforeTheSupplyVoltage_areSeen_inAnyPieces() {
        var answer = KM003CSample.adc
        answer[8 + 38] = 2
        #expect(messages(answer).count == 1)
        var damaged = answer
        damaged.removeSubrange(8 + 26..<8 + 28)
        for size in [1, 7, 500] {
            let (found, _) = DecoderVerifier.feed(damaged + answer + answer, chunk: size, to: KM003CDecoder())
            #expect(found == [answer, answer])
        }
    }

    /// As described in Docs/Protocols/KM003C.md#what-becomes-of-the-payloads: one captured attach has 9.09 V with an
    /// average of 1.85 V, and D+ of 96 mV with an average of 894 mV.
    @Test func averages_mayLagBehind() {
        var answer = KM003CSample.adc
        answer.replaceSubrange(16..<20, with: [0x02, 0x45, 0x1C, 0x00])
        answer.replaceSubrange(24..<28, with: [0x08, 0x45, 0x1C, 0x00])
        answer.replaceSubrange(48..<50, with: [0x7E, 0x03])
        #expect(messages(answer).count == 1)
    }

    @Test(arguments: [1, 3, 20, 500], [9, 13, 28, 31, 47])
    func queueWithBytesLost_givesNoSample_andTheNextAnswerIsTaken(chunk: Int, offset: Int) {
        var damaged = KM003CSample.queue(sequences: [500, 1000, 1500])
        damaged.removeSubrange(offset..<offset + 3)
        let (found, _) = DecoderVerifier.feed(
            damaged + KM003CSample.adc + KM003CSample.adc, chunk: chunk, to: KM003CDecoder(graphRate: .two))
        #expect(found == [KM003CSample.adc, KM003CSample.adc])
    }

    /// Nothing in the samples shows the loss; the answer that starts among them does, be it with the last byte.
    @Test(arguments: [KM003CSample.adc, KM003CSample.shortADC], [1, 3, 8, 20])
    func queueWithLineBytesLost_isNone_whenTheNextAnswerHasCome(_ answer: [UInt8], lost: Int) {
        let damaged = Array(KM003CSample.queue(sequences: [500, 1000, 1500]).dropLast(lost))
        let (found, skipped) = DecoderVerifier.feed(damaged + answer, chunk: 500, to: KM003CDecoder())
        #expect(found == [answer])
        #expect(skipped == damaged.count)
    }

    /// The heads of the next answer and of its measurements, eight bytes, are enough.
    @Test(arguments: [KM003CSample.adc, KM003CSample.shortADC])
    func brokenMessage_isGivenUp_withTheHeadOfTheNextAnswer(_ answer: [UInt8]) {
        let damaged = Array(KM003CSample.queue(sequences: [500, 1000, 1500]).prefix(49))
        let skipped = (0...9).map { length in
            DecoderVerifier.feed(damaged + answer.prefix(length), chunk: 500, to: KM003CDecoder()).skipped
        }
        #expect(skipped == [0, 0, 0, 0, 0, 0, 0, 0, 49, 49])
    }

    @Test(
        arguments: [
            ([0, 500, 500], nil, 0), ([500, 0], nil, 0), ([0, 2001], nil, 0), ([0, 19], .fifty, 0),
            ([0, 100, 150], .ten, 0), ([0, 999], .two, 0), ([0, 2000], nil, 2), ([65_535, 0], nil, 2),
            ([0, 2000], .two, 2), ([0, 20], .fifty, 2), ([0, 100, 300], .ten, 3),
        ] as [([UInt16], KM003CRate?, Int)])
    func queue_isNone_whenItsSequenceCannotBe(sequences: [UInt16], rate: KM003CRate?, samples: Int) {
        let bytes = KM003CSample.queue(sequences: sequences)
        #expect(messages(bytes, with: KM003CDecoder(graphRate: rate)).map(\.queueCount).reduce(0, +) == samples)
        #expect(messages(bytes, with: KM003CDecoder(graphRate: rate, enforcesChecks: false)).count == 1)
    }

    /// Eight stray bytes once swallowed 77 answers as one message of 4008 bytes.
    @Test(arguments: [
        "4101020104003f0f", "41010201400000fa", "410102011000004b", "410102010802bf0c", "4101020100023f0c",
        "4101020180000008",
    ])
    func strayHead_swallowsNoAnswers(text: String) throws {
        let answers = [[UInt8]](repeating: KM003CSample.adc, count: 80)
        for side in [KM003CFraming.Side.meter, .both] {
            for chunk in [1, 52, 10_000] {
                let (found, skipped) = DecoderVerifier.feed(
                    try hex(text) + answers.joined(), chunk: chunk, to: KM003CDecoder(side: side))
                #expect(found == answers)
                #expect(skipped == 8)
            }
        }
    }

    @Test func memoryAnswer_isNone_whenItAnnouncesMoreThanThereIs() {
        for size: UInt32 in [65_535 * 16 + 1, .max] {
            let (found, _) = DecoderVerifier.feed(
                KM003CSample.memoryAnswer(size: size) + KM003CSample.adc, chunk: 7, to: KM003CDecoder(side: .both))
            #expect(found == [KM003CSample.adc])
        }
    }

    @Test func payloadTwiceInOneMessage_isNoMessage() {
        var twice = Array(KM003CSample.adc)
        twice[5] |= 0x80
        #expect(messages(twice + KM003CSample.adc.dropFirst(4)).isEmpty)
    }

    @Test(arguments: [
        ("02010000", "connect", ""), ("0c000200", "get_data", "adc"), ("0c071000", "get_data", "settings"),
        ("0c080004", "get_data", "log_catalogue"), ("0c8f2200", "get_data", "adc pd"), ("0f090000", "stop_graph", ""),
        ("10030200", "pd_monitor_on", ""), ("11040000", "pd_monitor_off", ""), ("03050000", "disconnect", ""),
    ])
    func request_isRead_inACaptureOfBothDirections(text: String, name: String, attributes: String) throws {
        let bytes = try hex(text)
        let message = try #require(messages(bytes, with: KM003CDecoder(side: .both)).first)

        #expect(message.details.contains(FrameDetail("message", .text(name))))
        #expect(message.id == bytes[1])
        if !attributes.isEmpty {
            #expect(message.details.contains(FrameDetail("attributes", .text(attributes))))
        }
        // A meter sends none of these, except the disconnect of a host that has gone.
        #expect(messages(bytes).isEmpty == (name != "disconnect"))
    }

    @Test(arguments: [(0x00, 2), (0x02, 10), (0x04, 50), (0x06, 1000)])
    func startGraph_namesItsRate(parameter: UInt8, rate: Int) throws {
        let message = try #require(messages([0x0E, 0x2A, parameter, 0x00], with: KM003CDecoder(side: .both)).first)
        #expect(message.details.contains(FrameDetail("graph_rate_sps", .integer(rate))))
    }

    @Test(arguments: ["04010000", "08010000", "09010000"])
    func dangerousKind_hasNoName(text: String) throws {
        #expect(try KM003CKind(rawValue: hex(text)[0]) == nil)
    }
}
