import MeterCodec
import MeterModel
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
            let (found, skipped) = DecoderVerifier.feed(frames.flatMap { $0 }, chunk: size, to: KM003CDecoder())
            #expect(found == frames)
            #expect(skipped == 0)
        }
        let range = messages(KM003CSample.memoryAnswer).first?.memoryRange
        #expect(range?.address == 0x420)
        #expect(range?.size == 24)
    }

    @Test func memoryAnswer_isNone_whenItsCheckIsWrong() {
        var broken = KM003CSample.memoryAnswer
        broken[16] ^= 1
        let (found, skipped) = DecoderVerifier.feed(broken + KM003CSample.adc, chunk: 100, to: KM003CDecoder())
        #expect(found == [KM003CSample.adc])
        #expect(skipped == broken.count)
    }

    @Test func emptyAnswer_isProvedByTheNextMessage() {
        let empty: [UInt8] = [0x41, 0x09, 0x00, 0x00]
        for next in [KM003CSample.adc, KM003CSample.reject, KM003CSample.memoryAnswer] {
            let (found, skipped) = DecoderVerifier.feed(empty + next, chunk: 3, to: KM003CDecoder())
            #expect(found == [empty, next])
            #expect(skipped == 0)
        }
        #expect(messages(empty).isEmpty)
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

    @Test(arguments: [(3, 0x7F), (7, 0x7F), (25, 0x7F), (36, 0x08)])
    func measurements_areRefused_whenNoMeterMeasuresThem(offset: Int, value: UInt8) {
        var broken = KM003CSample.adc
        broken[8 + offset] = value
        #expect(messages(broken).isEmpty)
        #expect(messages(broken, with: KM003CDecoder(enforcesChecks: false)).count == 1)
    }

    @Test(arguments: [
        "410002020100000a", "4100020203000000", "4100820201800000", "4100020202000214", "41000202100040 02",
    ])
    func implausiblePayloadHeader_isNoMessage(text: String) throws {
        let bytes = try hex(text) + [UInt8](repeating: 0, count: 60)
        #expect(messages(bytes).isEmpty)
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
        // A meter sends none of these, but for the disconnect of a host that is gone.
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
