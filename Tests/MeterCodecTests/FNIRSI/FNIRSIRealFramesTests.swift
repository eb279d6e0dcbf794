import Domain
import MeterCodec
import Testing

/// Frames that real meters sent over Bluetooth LE, each with its source; and frames laid out from the vendor's app
/// where nobody has published any.
struct FNIRSIRealFramesTests {
    private func frames(_ text: String) throws -> [Frame] { decodedFrames(try hex(text), with: FNIRSIBLEDecoder()) }

    private func details(_ text: String) throws -> [String: FrameDetail.Value] {
        let details = try #require(frames(text).first).content.details
        return Dictionary(uniqueKeysWithValues: details.map { ($0.key, $0.value) })
    }

    /// One notification of an FNB58 (osnwt/ha-fnirsi-fnb58, tests/test_parser.py, which states the values): 20.27 V and
    /// 3.299 V on both lines are what QC2.0 gives at 20 V.
    @Test func fnb58_atTwentyVolts() throws {
        let notification = "aa0606e30ce30c050069aa07042d4fd9070aaa040ccb170300824e00006937060024aa0507f389010001780144"
        let readings = decodedReadings(try hex(notification), with: FNIRSIBLEDecoder())
        try #require(readings.count == 4)
        #expect(readings[0][.dataPlus] == 3.299)
        #expect(readings[0][.dataMinus] == 3.299)
        #expect(readings[1][.voltage] == 20.269)
        #expect(readings[1][.current] == 2.009)
        #expect(readings[2][.voltage] == 20.2699)
        #expect(readings[2][.current] == 2.0098)
        #expect(readings[2][.power] == 40.7401)
        #expect(readings[3][.temperature] == 37.6)
        #expect(readings[3][.resistance] == 10.0851)
        let details = try details(notification)
        #expect(details["protocol_code"] == .integer(5))
        #expect(details["protocol"] == .text("QC2.0 20V"))
        #expect(details["second_protocol"] == .unknown)
    }

    /// An FNB48S on a plain charger (dandrej/usb-meters, ble/fnirsi.py, comments; the leading AA 06 is put back).
    @Test(arguments: ["aa060600000400010b93", "aa060604000400010b32", "aa060601000000010bc2"])
    func fnb48s_namesBothProtocols(text: String) throws {
        let details = try details(text)
        #expect(details["protocol"] == .text("DCP1.5A"))
        #expect(details["protocol_code"] == .integer(0x0B01))
        #expect(details["second_protocol"] == .text("USB2.0 High"))
    }

    /// The same source: the load's frames, and the info frame of the unit that is called FNB48s-021356, whose check byte
    /// it does not give.
    @Test func fnb48s_loadAndInfo() throws {
        let reading = try #require(
            decodedReadings(try hex("aa0507a9c9050001240159"), with: FNIRSIBLEDecoder()).first)
        #expect(reading[.resistance] == 37.9305)
        #expect(reading[.temperature] == 29.2)
        let info = try hex("aa030e30006e006c5300003e0300000a07")
        let frame = try #require(
            decodedFrames(info + [FNIRSIBLEFrame.check(info)], with: FNIRSIBLEDecoder()).first)
        #expect(frame.content.device == DeviceInfo(serial: "21356", firmware: "1.10", powerOnCount: 830))
    }

    // MARK: - Built from the vendor's app (CapnBry/fnb48-web, PROTOCOL.md), not captured

    @Test func currentBackwards_isNegative() throws {
        let quick = try #require(decodedReadings(try hex("aa0704282324fa6a"), with: FNIRSIBLEDecoder()).first)
        #expect(quick[.voltage] == 9)
        #expect(quick[.current] == -1.5)
        let fine = try #require(
            decodedReadings(try hex("aa040c905f010068c5ffffa8f0fdffed"), with: FNIRSIBLEDecoder()).first)
        #expect(fine[.voltage] == 9)
        #expect(fine[.current] == -1.5)
        #expect(fine[.power] == -13.5)
    }

    @Test func group10_isAGroup_inEachFrameThatNamesOne() throws {
        let text = "aa08110aa0860100204e0000100e00003c00000033"
        let frame = try #require(frames(text).first)
        let totals = frame.content
        #expect(frame.countingGroup == 10)
        #expect(totals.groups == [GroupTotals(index: 10, charge_mAh: 200, energy_mWh: 1000)])
        let reading = try #require(decodedReadings(try hex(text), with: FNIRSIBLEDecoder()).first)
        #expect(reading[.energy] == 1)
        #expect(reading[.charge] == 200)
        #expect(reading[.duration] == 3600)
        #expect(try details(text)["power_on_s"] == .integer(60))

        let other = try #require(frames("aa0a090aa0860100204e00009f").first).content
        #expect(other.groups == totals.groups)
        // They may belong to a group that is not counting.
        #expect(try decodedReadings(hex("aa0a090aa0860100204e00009f"), with: FNIRSIBLEDecoder()).isEmpty)

        let info = try details("aa030e2600650039300000070000000a0a03")
        #expect(info["selected_group"] == .integer(10))
        #expect(info["model_code"] == .integer(38))
    }

    @Test func noLoad_isNoResistance() throws {
        let reading = try #require(decodedReadings(try hex("aa0507ffe0f50501fd008c"), with: FNIRSIBLEDecoder()).first)
        #expect(reading[.resistance] == nil)
        #expect(reading.supported.contains(.resistance))
        #expect(reading[.temperature] == 25.3)
    }

    @Test func trigger_hasAName() throws {
        #expect(try details("aa0901015c")["trigger"] == .text("QC2.0"))
        #expect(FNIRSITriggerState(code: 9) == .superVOOC)
        #expect(FNIRSITriggerState(code: 10) == .superVOOC)
        #expect(FNIRSITriggerState(code: 11) == nil)
    }
}
