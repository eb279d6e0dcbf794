import Domain
import MeterCodec
import Testing

struct WITRNPowerDeliveryTests {
    private func frames(_ reports: [[UInt8]]) -> [Frame] {
        decodedFrames(reports.flatMap { $0 }, with: WITRNDecoder())
    }

    private func message(_ report: [UInt8]) -> PDMessage? {
        let events = frames([WITRNSample.Fields().bytes, report]).last?.content.powerDelivery?.events
        guard case .message(let message)? = events?.first?.kind else { return nil }
        return message
    }

    @Test func message_hasItsBytes_andTheMomentAndVoltagesOfTheMeasurementBefore() throws {
        var fields = WITRNSample.Fields()
        (fields.seconds, fields.fraction, fields.cc) = (12, 340, (17, 1))
        let heard = try #require(
            frames([fields.bytes, WITRNSample.heard(WITRNSample.offer)]).last?.content.powerDelivery)

        #expect(heard.milliseconds == 12_340)
        #expect(heard.level == PDLevel(voltage_mV: 9000, current_mA: -1500, cc1_mV: 1700, cc2_mV: 100))
        let message = PDMessage(sop: 0, bytes: WITRNSample.offer)
        #expect(heard.events == [PDEvent(milliseconds: 12_340, kind: .message(message))])
        #expect(message.sourceCapabilities.count == 1)
    }

    @Test func measurement_tellsTheLevel_withoutAnEvent() throws {
        let heard = try #require(frames([WITRNSample.Fields().bytes]).first?.content.powerDelivery)
        #expect(heard.milliseconds == 100_000)
        #expect(heard.level.voltage_mV == 9000)
        #expect(heard.events.isEmpty)
    }

    /// Before the first measurement there is no moment to give; the message is still seen.
    @Test func messageBeforeAnyMeasurement_isShown_andNotInTheTimeline() throws {
        let frame = try #require(frames([WITRNSample.heard(WITRNSample.offer)]).first)
        #expect(frame.content.powerDelivery == nil)
        guard case .text(let text)? = frame.content.details.first?.value else {
            Issue.record("no text")
            return
        }
        #expect(text.hasPrefix("SOP Source_Capabilities"))
    }

    /// A reply to another program is no measurement: the moment stays that of the one before.
    @Test func reply_doesNotMoveTheMoment() {
        let reports = [
            WITRNSample.Fields(seconds: 7).bytes, WITRNSample.replies[0], WITRNSample.heard(WITRNSample.offer),
        ]
        #expect(frames(reports).last?.content.powerDelivery?.milliseconds == 7000)
    }

    @Test func message_hasNoReading() {
        #expect(decodedReadings(WITRNSample.heard(WITRNSample.offer), with: WITRNDecoder()).isEmpty)
    }

    @Test(arguments: [(UInt8(0xE0), UInt8(0)), (0xC0, 1), (0xA0, 2), (0x80, 0x80), (0x60, 0x60)])
    func orderedSet_tellsTheAddressee(byte: UInt8, sop: UInt8) {
        #expect(message(WITRNSample.heard(WITRNSample.offer, orderedSet: byte))?.sop == sop)
    }

    @Test(arguments: [0x00, 0x10, 0x2A, 0xE1, 0xFF] as [UInt8])
    func unknownOrderedSet_isNoReport(byte: UInt8) {
        #expect(frames([WITRNSample.heard(WITRNSample.offer, orderedSet: byte)]).isEmpty)
    }

    @Test(arguments: [0x40, 0x20] as [UInt8])
    func reset_isAFrameWithoutAMessage(byte: UInt8) throws {
        let report = WITRNSample.heard([], orderedSet: byte)
        let frame = try #require(frames([WITRNSample.Fields().bytes, report]).last)
        #expect(frame.content.powerDelivery == nil)
        #expect(frame.content.details == [FrameDetail("pd_ordered_set", .text(Hex.encode([byte])))])
        #expect(frames([WITRNSample.heard(WITRNSample.offer, orderedSet: byte)]).isEmpty)
    }

    /// As long as its header says, to the byte.
    @Test(arguments: [5, 6, 8, 9, 1, 0, 62, 63, 255])
    func lengthThatTheHeaderDoesNotSay_isNoReport(length: Int) {
        #expect(frames([WITRNSample.heard(WITRNSample.offer, length: length)]).isEmpty)
    }

    @Test func controlMessage_isAHeaderAlone() {
        #expect(message(WITRNSample.heard([0xA3, 0x05]))?.bytes == [0xA3, 0x05])
        #expect(frames([WITRNSample.heard([0xA3])]).isEmpty)
    }

    /// The longest: seven objects.
    @Test func longestMessage_isTaken() {
        let longest = [0xA1, 0x71] + [UInt8](repeating: 1, count: 28)
        #expect(message(WITRNSample.heard(longest))?.bytes == longest)
        #expect(frames([WITRNSample.heard(longest + [0])]).isEmpty)
    }

    /// In chunks, its objects are counted; as a whole, its second header has the number of bytes.
    @Test func extendedMessage_isTakenInBothForms() {
        let chunk: [UInt8] = [0xB1, 0x90 | 0x80, 0x02, 0x80, 0x03, 0x00]
        #expect(PDMessage(bytes: chunk).header?.objectCount == 1)
        #expect(message(WITRNSample.heard(chunk))?.bytes == chunk)
        #expect(frames([WITRNSample.heard(chunk.dropLast())]).isEmpty)

        let whole: [UInt8] = [0xB1, 0x80, 0x03, 0x00, 1, 2, 3]
        #expect(message(WITRNSample.heard(whole))?.bytes == whole)
        #expect(message(WITRNSample.heard(Array(whole.prefix(4))))?.bytes.count == 4)
        #expect(frames([WITRNSample.heard(Array(whole.prefix(3)))]).isEmpty)
    }

    /// The end of a damaged report may look like a message. What follows shows that it is none.
    @Test(arguments: [9, 20, 54, 55, 56, 60, 62])
    func measurementsBehindAMessage_speakAgainstIt(place: Int) {
        var bytes = WITRNSample.heard(WITRNSample.offer)
        let begin = WITRNSample.k2.prefix(64 - place)
        bytes.replaceSubrange(place..<64, with: begin)
        var decoder = WITRNDecoder()
        decoder.append(bytes + WITRNSample.k2.dropFirst(begin.count) + WITRNSample.c5)
        var found: [[UInt8]] = []
        while let step = decoder.next() {
            if case .frame = step { found.append(decoder.frameBytes) }
        }
        #expect(found == [WITRNSample.k2, WITRNSample.c5])
    }

    /// The mark alone, with another command behind it, may be anything.
    @Test func markWithAnotherCommand_doesNot() {
        var bytes = WITRNSample.heard(WITRNSample.offer)
        bytes.replaceSubrange(20..<22, with: [0xFF, 0x55])
        #expect(frames([bytes]).count == 1)
    }

    // MARK: In the timeline

    @Test func negotiation_isHeard_andTheVoltageFollows() throws {
        var timeline = PDTimeline()
        var time = WallTime(millisecondsSince1970: 0)
        let script: [[UInt8]] = [
            [0xA1, 0x33, 0x2C, 0x91, 0x01, 0x08, 0x2C, 0xD1, 0x02, 0x00, 0x3C, 0x21, 0xDC, 0xC0], [0x81, 0x02],
            [0x82, 0x10, 0xDC, 0x70, 0x03, 0x23], [0xA3, 0x05], [0xA6, 0x07],
        ]
        var reports: [[UInt8]] = []
        for (step, line) in script.enumerated() {
            reports.append(WITRNSample.Fields(seconds: UInt32(step), volts: 5).bytes)
            reports.append(WITRNSample.heard(line))
        }
        reports += (5...7).map { WITRNSample.Fields(seconds: UInt32($0), volts: 9).bytes }
        for frame in frames(reports) {
            time = time + .milliseconds(10)
            if let report = frame.content.powerDelivery { timeline.add(report, at: time) }
        }

        #expect(timeline.offers.count == 3)
        #expect(try #require(timeline.contract).description.contains("9"))
        #expect(
            timeline.entries.map(\.kind.name) == [
                "listening", "message", "message", "message", "message", "message", "voltage",
            ])
        #expect(timeline.entries.dropFirst().first?.milliseconds == 0)
    }
}
