import Domain
import MeterCodec
import Testing

/// The meaning of payloads, from Docs/Protocols/KM003C.md#what-becomes-of-the-payloads,
/// Docs/Protocols/KM003C.md#usb-power-delivery and Docs/Protocols/KM003C.md#logs.
struct KM003CPayloadTests {
    private func message(_ bytes: [UInt8], graphRate: KM003CRate? = nil) throws -> KM003CMessage {
        let frame = decodedFrames(bytes, with: KM003CDecoder(graphRate: graphRate)).first
        guard case .km003c(let message) = frame else { throw CodecError.truncated(have: bytes.count) }
        return message
    }

    private func readings(_ message: KM003CMessage) -> [Reading] {
        var readings: [Reading] = []
        message.forEachReading { readings.append($0) }
        return readings
    }

    /// As they are in JSON, which people's programs read.
    @Test func attributes_haveNames_oneByOne() {
        let names = KM003CAttributes.known.singles.map(\.name)
        #expect(
            names == [
                "adc", "queue", "fast_queue", "settings", "pd", "pd_trace", "quick_charge", "unknown_80",
                "log_catalogue",
            ])
        #expect(KM003CAttributes([.adc, .pd]).name == nil && KM003CAttributes(rawValue: 0x100).name == nil)
    }

    @Test func measurements_holdWhatTheTableSays() throws {
        let message = try message(KM003CSample.adc)
        let reading = try #require(readings(message).first)

        #expect(KM003CSample.adc.count == 52)
        #expect(reading[.voltage] == 9)
        #expect(reading[.current] == -1.5)
        #expect(reading[.power] == -13.5)
        #expect(reading[.temperature] == 25.5)
        #expect(reading[.cc1] == 1.65)
        #expect(reading[.cc2] == 0.029)
        #expect(reading[.dataPlus] == 0.6)
        #expect(reading[.dataMinus] == 0.5998)
        #expect(reading[.supplyVoltage] == 3.2405)
        #expect(!reading.supported.contains(.energy))
        #expect(message.details.contains(FrameDetail("average_voltage_V", .number(9.001))))
        #expect(message.details.contains(FrameDetail("average_current_A", .number(-1.499))))
        #expect(message.details.contains(FrameDetail("uncalibrated_average_voltage_V", .number(9.002))))
        #expect(message.details.contains(FrameDetail("rate_sps", .integer(50))))
        #expect(message.details.contains(FrameDetail("adc_flags", .integer(0x80))))
        #expect(message.details.contains(FrameDetail("dp_average_V", .number(0.6))))
    }

    @Test func temperature_isUnknown_whenTheMeterDidNotMeasureIt() throws {
        var bytes = KM003CSample.adc
        bytes.replaceSubrange(32..<34, with: [0x00, 0x80])
        let reading = try #require(readings(message(bytes)).first)
        #expect(reading.supported.contains(.temperature))
        #expect(reading[.temperature] == nil)
    }

    @Test func power_isRoundedToMicrowatts() throws {
        var bytes = KM003CSample.adc
        bytes.replaceSubrange(8..<16, with: [0x01, 0x00, 0x4C, 0x00, 0x07, 0x00, 0x01, 0x00])
        // 4.980737 V times 0.065543 A is 0.326452... W.
        let reading = try #require(readings(message(bytes)).first)
        #expect(reading[.power] == 0.326452)
    }

    @Test func queue_countsTenthsOfAMillivolt_atTwoSamplesASecond() throws {
        // The clock wraps between the second and the third.
        let message = try message(KM003CSample.queue(sequences: [64_700, 65_200, 164]))
        let readings = readings(message)

        #expect(readings.count == 3)
        #expect(message.queueSamples.map(\.sequence) == [64_700, 65_200, 164])
        #expect(message.queueSamples.first?.marker == 0x3C)
        #expect(readings.allSatisfy { $0[.cc1] == 1.65 && $0[.dataMinus] == 0.5998 && $0[.power] == -13.5 })
        #expect(readings.first?[.temperature] == nil)
    }

    @Test(arguments: [UInt16(100), 20, 1])
    func queue_countsMillivolts_atFasterRates(step: UInt16) throws {
        // One sample was lost: the smallest step still tells.
        let message = try message(KM003CSample.queue(sequences: [0, step, 501 + step]))
        #expect(readings(message).map { $0[.cc1] } == [16.5, 16.5, 16.5])
    }

    @Test func oneSampleAlone_hasLinesOnlyWhenTheRateIsKnown() throws {
        let bytes = KM003CSample.queue(sequences: [7])
        let unknown = try #require(readings(message(bytes)).first)
        #expect(unknown[.voltage] == 9)
        #expect(unknown.supported.contains(.cc1) && unknown[.cc1] == nil)
        #expect(try readings(message(bytes, graphRate: .two)).first?[.cc1] == 1.65)
        #expect(try readings(message(bytes, graphRate: .ten)).first?[.cc1] == 16.5)
    }

    @Test func newestSample_takesTheTemperatureOfMeasurementsBesideIt() throws {
        let both = try readings(message(KM003CSample.adcAndQueue(sequences: [0, 20])))
        #expect(both.map { $0[.temperature] } == [nil, 25.5])
        #expect(both.map { $0[.supplyVoltage] } == [nil, 3.2405])
        let alone = try readings(message(KM003CSample.adcAndQueue(sequences: [])))
        #expect(alone.map { $0[.cc1] } == [1.65])
    }

    @Test func settings_sayWhatTheTableSays() throws {
        let settings = try #require(message(KM003CSample.settings).settings)
        #expect(settings.language == 1)
        #expect(!settings.isUncalibrated)
        #expect(settings.brightnessPercent == 44)
        #expect(settings.sampleInterval_us == 10_000)
        #expect(settings.orientation == 3)
        #expect(settings.mode == 0)
        #expect(settings.page == 1)
        #expect(settings.name == "POWER-Z")
        #expect(readings(try message(KM003CSample.settings)).isEmpty)
    }

    @Test func otherPayloads_keepTheirBytes() throws {
        let attach = try message(KM003CSample.pdAttach)
        let trace = try message(KM003CSample.pdTrace)
        #expect(attach.payloads.map(\.attribute) == [.pd])
        #expect(attach.payload(.pd) == Array(KM003CSample.pdAttach.dropFirst(8)))
        #expect(trace.payload(.pdTrace)?.count == 17)
        #expect(trace.details.contains(FrameDetail("payload_unknown_80", .text("0102030405060708"))))
        #expect(try message(KM003CSample.noLogs).payload(.logCatalogue) == [])
    }
}
