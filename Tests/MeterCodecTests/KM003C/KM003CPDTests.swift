import Domain
import MeterCodec
import Testing

/// PD status, trace and log catalogue, laid out by hand from Docs/Protocols/KM003C.md#usb-power-delivery and
/// Docs/Protocols/KM003C.md#logs.
struct KM003CPDTests {
    /// A PD status at 10 000 ms, 9.000 V, -1.500 A, 1.65 V and 0.029 V, followed by some events.
    private func status(_ events: String) throws -> [UInt8] {
        try hex("10270000" + "2823" + "24fa" + "7206" + "1d00" + events)
    }

    private func message(_ payload: [UInt8], _ attribute: KM003CAttributes = .pd) -> [UInt8] {
        KM003CHeader(.data, id: 1).bytes + KM003CPayloadHeader(attribute, size: payload.count).bytes + payload
    }

    private func parsed(_ payload: [UInt8]) -> KM003CPDStatus? { payload.withUnsafeBytes { KM003CPDStatus($0) } }

    @Test func preamble_isWhatTheMeterMeasures() throws {
        let status = try #require(parsed(status("")))
        #expect(status.milliseconds == 10_000)
        #expect(status.voltage_mV == 9000)
        #expect(status.current_mA == -1500)
        #expect(status.cc1_mV == 1650)
        #expect(status.cc2_mV == 29)
        #expect(status.events.isEmpty && status.rest.isEmpty)
    }

    @Test(arguments: [
        ("21", PDEvent.Kind.attached(.cc2)), ("22", .detached(.cc2)), ("11", .attached(.cc1)), ("12", .detached(.cc1)),
        ("31", .plug(code: 0x31)), ("13", .plug(code: 0x13)), ("01", .plug(code: 1)),
    ])
    func plugEvent_isNamedByItsCode(code: String, kind: PDEvent.Kind) throws {
        let status = try #require(parsed(status("45" + "0f2700" + "00" + code)))
        #expect(status.events == [.init(milliseconds: 9999, kind: kind)])
    }

    /// The clock is at 01 00 00 10; the event is of a little before 01 00 00 00, and its clock has no fourth byte.
    @Test(arguments: [("f0ffff", UInt32(0x00FF_FFF0)), ("000000", 0x0100_0000), ("200000", 0x0100_0020)])
    func plugEvent_isAtTheNearestTime(time: String, milliseconds: UInt32) throws {
        let bytes = try hex("10000001" + "2823" + "24fa" + "7206" + "1d00" + "45" + time + "0011")
        #expect(try #require(parsed(bytes)).events == [.init(milliseconds: milliseconds, kind: .attached(.cc1))])
    }

    @Test func messages_areReadByTheLengthInTheirFirstByte() throws {
        // Two objects, then a control message to the cable, then an attach.
        let events =
            "8f" + "08270000" + "00" + "a1232c9101082cd10200" + "87" + "09270000" + "01" + "4102" + "450a27000021"
        let status = try #require(parsed(status(events)))
        let kinds = status.events.map { $0.kind.description }
        #expect(
            kinds == [
                "SOP Source_Capabilities #1: 5 V 3 A, 9 V 3 A (does not run from a battery)", "SOP' GoodCRC #1",
                "attached (CC2)",
            ])
        #expect(status.events.map(\.milliseconds) == [9992, 9993, 9994])
    }

    /// An extended message of 30 bytes is longer than 9F could say.
    @Test func longMessage_isReadWhole() throws {
        let wire = "b1fd2880" + String(repeating: "aa", count: 26)
        let status = try #require(parsed(status("a3" + "08270000" + "00" + wire)))
        guard case .message(let message) = status.events.first?.kind else {
            Issue.record("no message")
            return
        }
        #expect(try message.bytes == hex(wire))
        #expect(status.rest.isEmpty)
    }

    @Test(arguments: ["45", "450f270000", "87", "8708270000", "ff", "84112233445566", "00"])
    func whatIsNoEvent_isKept(text: String) throws {
        let status = try #require(parsed(status("450f27000021" + text)))
        #expect(try status.rest == hex(text))
        #expect(status.events.first?.kind == .attached(.cc2))
    }

    @Test func statusThatIsTooShort_isNone() throws {
        for length in 0..<12 { #expect(parsed(Array(try status("").prefix(length))) == nil) }
    }

    @Test func details_sayWhatHappenedAndWhatWasAgreed() throws {
        let offer = "8f" + "08270000" + "00" + "a1232c9101082cd10200"
        let request = "8b" + "09270000" + "00" + "8210dc700323"
        let accept = "87" + "0a270000" + "00" + "a305"
        let bytes =
            message(try status(offer + request)) + message(try status(accept)) + message(try status(""))
            + message(try status("450f27000022")) + KM003CSample.reject
        let details = decodedFrames(bytes, with: KM003CDecoder()).prefix(4).map(\.content.details)

        #expect(details[0].contains(FrameDetail("pd_event_2", .text("9993 ms SOP Request #0: object 2"))))
        #expect(details[0].contains(FrameDetail("pd_voltage_V", .number(9))))
        #expect(!details[0].contains { $0.key == "pd_contract" })
        let contract = FrameDetail("pd_contract", .text("9 V 2.2 A of object 2, 9 V 3 A"))
        #expect(details[1].contains(contract))
        #expect(details[2].contains(contract))
        #expect(!details[3].contains { $0.key == "pd_contract" })
    }

    @Test func trace_isTwoListsOfCodesAndSeconds() throws {
        let payload = try hex("0a12ab00000005ac000000" + "0576ab000000")
        let trace = try #require(payload.withUnsafeBytes { KM003CPDTrace($0) })
        #expect(trace.states == [.init(code: 0x12, seconds: 171), .init(code: 5, seconds: 172)])
        #expect(trace.protocolEvents == [.init(code: 0x76, seconds: 171)])
        #expect(trace.details.first == FrameDetail("pd_states", .text("12@171 05@172")))
        #expect(
            trace.details[1] == FrameDetail("pd_state_names", .text("AttachedLightningPlug UnattachedDebSource")))
        #expect(trace.details.last == FrameDetail("pd_protocol_event_names", .text("76")))
        for length in 0..<payload.count {
            let cut = Array(payload.prefix(length))
            #expect(cut.withUnsafeBytes { KM003CPDTrace($0) } == nil, "\(length) bytes")
        }
    }

    @Test func catalogue_hasAnEntryForEachLog() throws {
        let entry = try hex(
            "4130312e64" + String(repeating: "00", count: 11) + "450a" + "0902" + "1027" + "0000" + "50140000"
                + "a1a2f3ff" + "e04da8ff" + "c0000000" + "0000000000000000")
        let frame = try #require(decodedFrames(message(entry, .logCatalogue), with: KM003CDecoder()).first)
        guard case .km003c(let message) = frame else { return }
        let log = try #require(message.logCatalogue?.first)

        #expect(log.name == "A01.d")
        #expect(log.sampleCount == 521)
        #expect(log.interval_ms == 10_000)
        #expect(log.duration_s == 5200)
        #expect(log.charge_uAh == -810_335)
        #expect(log.energy_uWh == -5_747_232)
        #expect(log.range?.size == 8336)
        #expect(log.range?.offset == 192)
        #expect(message.details.contains(FrameDetail("log_count", .integer(1))))
    }

    @Test func catalogue_ofNoLogs_isEmpty() throws {
        let frame = try #require(decodedFrames(KM003CSample.noLogs, with: KM003CDecoder()).first)
        #expect(frame.content.details.contains(FrameDetail("log_count", .integer(0))))
    }
}
