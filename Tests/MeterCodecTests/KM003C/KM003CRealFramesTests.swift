import Domain
import MeterCodec
import Testing

/// Messages of real meters and of other readers' test suites, each with its source.
struct KM003CRealFramesTests {
    private func messages(_ bytes: [UInt8], with decoder: KM003CDecoder = KM003CDecoder()) -> [KM003CMessage] {
        decodedFrames(bytes, with: decoder).compactMap { if case .km003c(let message) = $0 { message } else { nil } }
    }

    private func details(_ message: KM003CMessage) -> [String: FrameDetail.Value] {
        Dictionary(message.details.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// 40 bytes, as the vendor's paper has them (inuchanbt/KM003C-CLI, tests/test_km003c.py: a test vector, not captured).
    private let short =
        "410080020100000a40548900c0bdf0ffdc538900c1bdf0ff38a28700c86ff2ff80ffba18740e820adc0ae88002000000"

    @Test func measurementsOf40Bytes_areRead() throws {
        let message = try #require(messages(hex(short)).first)
        let reading = try #require(decodedReadings(hex(short), with: KM003CDecoder()).first)

        #expect(reading[.voltage] == 9)
        #expect(reading[.current] == -1)
        #expect(reading[.temperature] == -1)
        #expect(reading[.cc1] == 0.633)
        #expect(reading[.cc2] == 0.37)
        #expect(reading[.dataPlus] == 0.269)
        #expect(reading[.dataMinus] == 0.278)
        #expect(reading[.supplyVoltage] == 3.3)
        let details = details(message)
        #expect(details["average_voltage_V"] == .number(8.9999))
        #expect(details["average_current_A"] == .number(-0.999999))
        #expect(details["rate_sps"] == .integer(50))
        // The bytes after the rate are not zeroed, and have no meaning.
        for key in ["adc_flags", "cc2_average_V", "dp_average_V", "dn_average_V"] { #expect(details[key] == nil) }
    }

    /// In the vendor's own example the six bits above the rate and the three bytes after it hold noise.
    @Test func spareBitsOf40Bytes_changeNothing() throws {
        var bytes = try hex(short)
        bytes.replaceSubrange(44..<48, with: [0xFE, 0x80, 0xA5, 0x5A])
        let expected = decodedReadings(try hex(short), with: KM003CDecoder())
        #expect(decodedReadings(bytes, with: KM003CDecoder()) == expected)
        #expect(details(try #require(messages(bytes).first))["rate_sps"] == .integer(50))
    }

    @Test func measurementsOfEitherLength_comeOneBehindTheOther_inAnyPieces() throws {
        // The shorter ones end where the next begins.
        DecoderVerifier.verify(
            frames: [try hex(short), KM003CSample.adc, try hex(short), KM003CSample.pdAttach], guessesEnds: true
        ) { KM003CDecoder() }
    }

    @Test(arguments: [(39, 0), (41, 0), (43, 0), (44, 1), (48, 1), (64, 1), (65, 0)])
    func measurementsOfAnotherLength(length: Int, count: Int) throws {
        let filling = [UInt8](repeating: 0x5A, count: 30)
        let payload = Array((KM003CSample.adcPayload + filling).prefix(length))
        let bytes = KM003CHeader(.data, id: 1).bytes + KM003CPayloadHeader(.adc, size: length).bytes + payload
        let found = messages(bytes)
        #expect(found.count == count)
        if length > 44, let message = found.first {
            let rest = String(repeating: "5a", count: length - 44)
            #expect(details(message)["payload_adc"] == .text(rest))
            #expect(message.adc?.microvolts == 9_000_000)
        }
    }

    /// A KM003C (okhsunrog/km003c-rs, km003c-lib/tests/adc_tests.rs).
    @Test func measurementsOf44Bytes_areRead() throws {
        let real =
            "410080020100000b451c4d00ae9efeffdb1c4d00239ffeff" + "e11c4d00819ffeffc90c8a100e0000000000787e"
            + "0080020000000000"
        let reading = try #require(decodedReadings(try hex(real), with: KM003CDecoder()).first)
        #expect(try abs(#require(reading[.voltage]) - 5.054) < 0.001)
        #expect(try abs(#require(reading[.current]) + 0.09) < 0.001)
        #expect(try abs(#require(reading[.power]) + 0.457) < 0.003)
        #expect(reading[.temperature] == 25.5703125)
        #expect(reading[.cc1] == 0.4234)
    }

    /// One wrapped message, then flag 05 (inuchanbt/KM003C-CLI, tests/test_km003c.py: a test vector, not captured).
    @Test func eventsBeforeAnUnknownFlag_areKept_andSoAreTheBytesBehindIt() throws {
        let bytes = try hex(
            "4100400210008008d0070000282318fc7902720187cf07000000430105c70700000487d0070000004301")
        let message = try #require(messages(bytes).first)
        let status = try #require(message.pdStatus)

        #expect(status.events.map(\.milliseconds) == [1999])
        #expect(status.events.first?.kind.description == "SOP Accept #0: agreed")
        #expect(status.voltage_mV == 9000)
        #expect(status.current_mA == -1000)
        #expect(status.unknownFlag == 0x05)
        let details = details(message)
        #expect(details["pd_unknown_event"] == .text("05"))
        #expect(details["pd_rest"] == .text("05c70700000487d0070000004301"))
        // The next answer starts afresh.
        #expect(messages(bytes + KM003CSample.pdAttach).count == 2)
    }

    /// Bytes that a known flag announces and that are missing were lost.
    @Test(arguments: ["45efa901", "87cf070000", "87cf07000000a3"])
    func eventThatEndsTooEarly_costsItsAnswer(event: String) throws {
        let payload = try hex("d0070000282318fc79027201" + event)
        let bytes = KM003CHeader(.data, id: 1).bytes + KM003CPayloadHeader(.pd, size: payload.count).bytes + payload
        let (found, _) = DecoderVerifier.feed(bytes + KM003CSample.adc, chunk: 100, to: KM003CDecoder())
        #expect(found == [KM003CSample.adc])
        #expect(messages(bytes, with: KM003CDecoder(enforcesChecks: false)).count == 1)
    }

    /// A KM003C with firmware 1.9.9 (okhsunrog/km003c-rs, km003c-lib/tests/pd_trace_tests.rs).
    @Test func trace_namesItsCodes() throws {
        let message = try #require(messages(hex("410682002000000005020b01000005000b010000")).first)
        let details = details(message)
        #expect(details["pd_states"] == .text("02@267"))
        #expect(details["pd_state_names"] == .text("AttachedResistance"))
        #expect(details["pd_protocol_event_names"] == .text("Disabled"))
    }

    /// The ends and some of the middle of the published list of states.
    @Test(arguments: [
        (UInt8(0x00), "Disabled"), (0x08, "AttachedSource"), (0x0F, "IllegalCable"), (0x12, "AttachedLightningPlug"),
        (0x17, "AttachedSink"), (0x1E, "CableCross"), (0x20, "ErrorRecovery"), (0x24, "AttachWaitAccessory"),
    ])
    func state_hasItsName(code: UInt8, name: String) {
        #expect(KM003CPDTrace.stateName(code) == name)
    }

    @Test func codeThatNobodyNamed_staysANumber() {
        #expect(KM003CPDTrace.stateName(0x25) == nil)
        #expect(KM003CPDTrace.eventName(0x82) == "MessageReceived")
        #expect(KM003CPDTrace.eventName(0x76) == nil)
    }
}
