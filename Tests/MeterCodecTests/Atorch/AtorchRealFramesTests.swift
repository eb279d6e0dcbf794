import Domain
import MeterCodec
import Testing

/// Reports and replies of real meters, each with its source.
struct AtorchRealFramesTests {
    private func report(_ bytes: [UInt8]) throws -> AtorchReport {
        guard case .atorchReport(let report) = try #require(decodedFrames(bytes, with: AtorchDecoder()).first) else {
            throw CodecError.truncated(have: bytes.count)
        }
        return report
    }

    /// A newer J7-C (dallanwagz/j7c_ha, tests/conftest.py, from a log of the vendor's app; the source swaps D+ and D-,
    /// see Docs/Protocols/Atorch.md).
    private let newerJ7C = "ff5501030003860000d2000d6d00000952011901180028000409163c0c800000032000d8"

    @Test func newerJ7C_hasACheckByteOfItsOwn() throws {
        let report = try report(hex(newerJ7C))
        #expect(report.checkRule == .fromType)
        #expect(report.checkMatches)
        #expect(report.reading[.voltage] == 9.02)
        #expect(report.reading[.current] == 2.1)
        #expect(report.reading[.charge] == 3437)
        #expect(report.reading[.energy] == 23.86)
        #expect(report.reading[.temperature] == 40)
        #expect(report.reading[.duration] == 14_962)
    }

    /// A UD18 (NiceLabs/atorch-console, docs/UD18-SPP.pcap), three reports a second apart.
    private let ud18 = [
        "ff55010300049600007003956d0004f42c00e600eb000000c30d093c0000000000000059",
        "ff55010300049600007003956d0004f42c00e600ec000000c30d0a3c000000000000005b",
        "ff55010300049600007003956e0004f42c00e600ec000000c30d0b3c0000000000000065",
    ]

    @Test func ud18_hasTheOlderCheckByte() throws {
        for text in ud18 { #expect(try report(hex(text)).checkRule == .fromMessage) }
    }

    /// Either rule is required once three reports in a row have proved it, and then the other is not accepted.
    @Test func eitherCheckByte_isAskedFor_onceItWasRightThreeTimes() throws {
        let (newer, older) = try (hex(newerJ7C), hex(ud18[0]))
        for (own, other) in [(newer, older), (older, newer)] {
            var spoilt = own
            spoilt[15] ^= 0x10
            let proof = own + own + own
            for wrong in [spoilt, other] {
                let (frames, skipped) = DecoderVerifier.feed(proof + wrong + own, chunk: 20, to: AtorchDecoder())
                #expect(frames == [own, own, own, own])
                #expect(skipped == 36)
                #expect(DecoderVerifier.feed(own + wrong, chunk: 20, to: AtorchDecoder()).frames == [own, wrong])
            }
        }
    }

    /// The check byte of a DL24M follows no rule: the last two reports have the same payload and different check bytes
    /// (flaviutamas.com, 2022, dl24m-reversing). All are accepted.
    @Test func meterWithoutACheckByte_isReadAlways() throws {
        let reports = try [
            "ff55010200003200018c0000080000000000000000000000001600000000000000000013",
            "ff55010200003200018d000008000000000000000000000000160000000000000000007f",
            "ff55010200003200018d00000800000000000000000000000016000000000000000000e3",
        ].map { try hex($0) }
        let stream = (0..<10).flatMap { reports[$0 % 3] }
        let (frames, skipped) = DecoderVerifier.feed(stream, chunk: 20, to: AtorchDecoder())
        #expect(frames.count == 10)
        #expect(skipped == 0)
        #expect(try report(reports[0]).checkRule == nil)
    }

    /// What a J7-H and a UD18 answer (fawno/ATORCH-HiDANCE, docs/J7-H; msillano/UD18-protocol-and-node-red; the codes
    /// 02, 05 and 06 were found on a UD18 by the author of a Lisp library). The fourth byte has no meaning.
    @Test(arguments: [
        ("ff55020301000042", AtorchReply.Outcome.done, "acknowledged"), ("ff5502030300004c", .unsupported, "rejected"),
        ("ff55020101000040", .done, "acknowledged"), ("ff55020103000042", .unsupported, "rejected"),
        ("ff55020102000041", .failed, "rejected"), ("ff5502010500004c", .wrongClass, "rejected"),
        ("ff5502010600004d", .malformed, "rejected"), ("ff55020201000041", .done, "acknowledged"),
        ("ff55020104000043", .unknown, "rejected"), ("ff5502017700003e", .unknown, "rejected"),
    ])
    func reply_isReadByItsCode_whateverTheMeter(text: String, outcome: AtorchReply.Outcome, meaning: String) throws {
        let bytes = try hex(text)
        guard case .atorchReply(let reply) = try #require(decodedFrames(bytes, with: AtorchDecoder()).first) else {
            Issue.record("no reply")
            return
        }
        #expect(reply.outcome == outcome)
        #expect(reply.bytes == bytes)
        var driver = AtorchDriver(model: .atorchUSB)
        driver.receive(bytes) { event in
            switch event {
            case .acknowledged: #expect(meaning == "acknowledged")
            case .rejected: #expect(meaning == "rejected")
            default: Issue.record("\(event)")
            }
        }
    }

    /// A J7-H has 1.00 before the check byte (the field: fawno/ATORCH-HiDANCE, docs/J7-H; no whole report is public, so
    /// it is put into a UD18's here). Like 0, and unlike any other value, it is accepted with any check byte.
    @Test(arguments: [(UInt8(0x64), 1, 1.0), (0x00, 1, nil), (0x63, 0, nil)] as [(UInt8, Int, Double?)])
    func powerFactor_isNoReasonToRefuse(byte: UInt8, count: Int, powerFactor: Double?) throws {
        var bytes = try hex(ud18[0])
        bytes[34] = byte
        bytes[35] = 0xA7
        let frames = decodedFrames(bytes, with: AtorchDecoder())
        #expect(frames.count == count)
        guard let frame = frames.first else { return }
        let detail = frame.content.details.first { $0.key == "power_factor" }
        #expect(detail?.value == powerFactor.map { .number($0) })
    }

    /// The buttons of a DC meter (syssi/esphome-atorch-dl24, issues 76 to 78): first 33 and 34; after `unsupported`, 11
    /// and 12, which other DC meters have (NiceLabs/atorch-console).
    @Test func keysOfADCMeter_areTheOther_afterARefusal() throws {
        var driver = AtorchDriver(model: .atorchDC)
        func keys() throws -> [String] {
            try [MeterCommand(.plus), MeterCommand(.minus)].map { Hex.encode(try driver.encode($0)) }
        }
        #expect(try keys() == ["ff551102330000000002", "ff551102340000000003"])
        try driver.receive(hex("ff55020103000042")) { _ in }
        #expect(try keys() == ["ff551102110000000060", "ff551102120000000061"])
        try driver.receive(hex("ff55020101000040")) { _ in }
        #expect(try keys() == ["ff551102110000000060", "ff551102120000000061"])
        try driver.receive(hex("ff55020103000042")) { _ in }
        #expect(try keys().first == "ff551102330000000002")
        _ = driver.opening()
        #expect(try keys().first == "ff551102330000000002")
    }

    /// On a DL24, 32 switches the load, and no report says whether it is on (tshaddack/dl24).
    @Test func enter_isNoCommandOfADCMeter() {
        #expect(throws: CodecError.unsupportedCommand(.enter, model: .atorchDC)) {
            try AtorchDriver(model: .atorchDC).encode(MeterCommand(.enter))
        }
        #expect(AtorchCommand(MeterCommand(.enter), type: .dc) == nil)
    }

    /// A DT24TW ends each report in 23 (dandrej/usb-meters, ble/atorch.py, which leaves out the first two bytes and that one):
    /// 13.0 V, 150 Ah, 20 °C, 37:26:40.
    @Test func constantCheckByte_isNoReasonToRefuse() throws {
        let bytes = try hex("ff550102000082000000003a980000000000000000000000001400251a283c0000000023")
        let (frames, skipped) = DecoderVerifier.feed((0..<10).flatMap { _ in bytes }, chunk: 20, to: AtorchDecoder())
        #expect(frames.count == 10)
        #expect(skipped == 0)
        let report = try report(bytes)
        #expect(report.reading[.voltage] == 13)
        #expect(report.reading[.current] == 0)
        #expect(report.reading[.charge] == 150_000)
        #expect(report.reading[.temperature] == 20)
        #expect(report.duration == 37 * 3600 + 26 * 60 + 40)
    }

    /// An older J7-C (syssi/esphome-atorch-dl24, docs/pdus/atorch-j7-c.txt) and an S1 (the same, tests/esp32-atorch-s1-faker.yaml),
    /// whose last byte nobody has worked out: each report is read, by its shape.
    @Test(arguments: [
        [
            "ff5501030007ef00002300015a000002bf00090009001f000026003c0dac01220320000d",
            "ff5501030007f000002100015a000002bf00090009001f000026013c0dac0122032000be",
            "ff5501030007ef00002300015a000002bf00090009001e000026023c0dac0122032000e8",
        ],
        [
            "ff550101000906000028000007000000ed00006401f400530020000e0d083c000000005f",
            "ff550101000902000028000007000000ed00006401f4004f001e000e0d093c00000000e9",
            "ff550101000901000028000008000000ed00006401f40059001f000e0d0a3c0000000007",
        ],
    ])
    func unknownCheckByte_isNoReasonToRefuse(texts: [String]) throws {
        let reports = try texts.map { try hex($0) }
        for bytes in reports { #expect(try report(bytes).checkRule == nil) }
        let (frames, skipped) = DecoderVerifier.feed(reports.flatMap { $0 }, chunk: 20, to: AtorchDecoder())
        #expect(frames == reports)
        #expect(skipped == 0)
    }
}
