import Domain
import MeterCodec
import Testing

/// What becomes of a meter's reports. The messages are those that a KM003C sent (okhsunrog/km003c-rs,
/// km003c-lib/tests/pd_tests.rs; elagil/usbpd, usbpd/src/protocol_layer/message/epr_messages_test.rs and
/// usbpd/src/dummy.rs).
struct PDTimelineTests {
    private static let noon = WallTime(millisecondsSince1970: 1_790_000_000_000)
    private static let level = PDLevel(voltage_mV: 5086, current_mA: 0, cc1_mV: 1653, cc2_mV: 2)
    private static let offers = "a1632c9101082cd102002cc103002cb10400454106003c21dcc0"

    private func event(_ text: String, sop: UInt8 = 0, at milliseconds: UInt32 = 1000) throws -> PDEvent {
        PDEvent(milliseconds: milliseconds, kind: .message(PDMessage(sop: sop, bytes: try hex(text))))
    }

    private func report(
        _ events: [PDEvent] = [], at milliseconds: UInt32 = 1000, volts: Int = 5086, rest: [UInt8] = []
    ) -> PDReport {
        var level = Self.level
        level.voltage_mV = volts
        return PDReport(milliseconds: milliseconds, level: level, events: events, rest: rest)
    }

    private func timeline(of messages: [String]) throws -> PDTimeline {
        var timeline = PDTimeline()
        timeline.add(report(try messages.map { try event($0) }), at: Self.noon)
        return timeline
    }

    @Test func negotiation_isToldMessageByMessage() throws {
        let timeline = try timeline(of: [Self.offers, "4102", "8210dc700323", "2101", "a305", "4104", "a607", "4106"])

        #expect(
            timeline.entries.map(\.words) == [
                "listening begins",
                "Source_Capabilities: 5 V 3 A, 9 V 3 A, 12 V 3 A, 15 V 3 A, 20 V 3.25 A, PPS 3.3-11 V 3 A "
                    + "(does not run from a battery)",
                "GoodCRC", "Request: 9 V 2.2 A of object 2, 9 V 3 A", "GoodCRC", "Accept: agreed", "GoodCRC",
                "PS_RDY: the supply is ready", "GoodCRC",
            ])
        #expect(timeline.entries.map(\.number) == Array(1...9))
        #expect(timeline.contract?.description == "9 V 2.2 A of object 2, 9 V 3 A")
        #expect(timeline.agreedAt == Self.noon)
        #expect(timeline.offers.map(\.position) == [1, 2, 3, 4, 5, 6])
        #expect(timeline.latest?.level == Self.level)
    }

    @Test func time_isThatOfTheReport_lessTheAgeByTheMetersClock() throws {
        var timeline = PDTimeline()
        timeline.add(report(at: 900), at: Self.noon + .seconds(-100))
        // The clock wraps between the event and the report.
        timeline.add(report([], at: .max - 100), at: Self.noon + .seconds(-50))
        timeline.add(report([try event("a305", at: .max - 9)], at: 10), at: Self.noon)
        #expect(timeline.entries.last?.time == Self.noon + .milliseconds(-20))
        #expect(timeline.entries.last?.milliseconds == UInt32.max - 9)
    }

    /// What the meter kept from before the link, and reports that do not come at an even pace.
    @Test func entries_areInOrder() throws {
        var timeline = PDTimeline()
        timeline.add(report([try event("a305", at: 200), try event("4104", at: 210)], at: 1000), at: Self.noon)
        timeline.add(report([try event("a607", at: 1100)], at: 1200), at: Self.noon + .milliseconds(190))
        timeline.add(report([try event("4106", at: 1101)], at: 1400), at: Self.noon + .milliseconds(380))
        let times = timeline.entries.map(\.time)
        #expect(times == times.sorted())
        #expect(times.first == Self.noon + .milliseconds(-800))
        #expect(timeline.entries.map(\.words).first == "listening begins")
    }

    /// A clock that stands is that of the same meter; one that goes back is of a meter that was switched off, of whose plug
    /// nothing is known.
    @Test func clockThatGoesBack_beginsAnew() throws {
        var timeline = PDTimeline()
        func beginnings() -> Int { timeline.entries.count { $0.words == "listening begins" } }
        timeline.add(report([PDEvent(milliseconds: 900, kind: .attached(.cc1))], at: 1000), at: Self.noon)
        #expect(timeline.isAttached == true)
        timeline.add(report(at: 1000), at: Self.noon + .seconds(1))
        #expect(beginnings() == 1)
        timeline.add(report(at: 999), at: Self.noon + .seconds(2))
        #expect(beginnings() == 2)
        #expect(timeline.isAttached == nil)
    }

    /// Type 4 of the standard's data messages: what the sink would take.
    @Test func sinksCapabilities_areOffersInWords() throws {
        let timeline = try timeline(of: ["8410c8900100"])
        #expect(timeline.entries.last?.words.hasPrefix("Sink_Capabilities: 5 V 2 A") == true)
    }

    @Test func text_namesAbilities_whereThereAreAny() throws {
        let timeline = try timeline(of: [Self.offers])
        let lines = PDText.lines(timeline, after: 0, of: .mac(MACAddress(bits: 1))).joined()
        #expect(lines.contains("    object 1: 5 V 3 A (does not run from a battery)\n"))
        #expect(lines.contains("    object 2: 9 V 3 A\n"))
    }

    @Test func parties_areToldByTheHeader() throws {
        func parties(_ text: String, _ sop: UInt8 = 0) throws -> [PDMessage.Party?] {
            let both = PDMessage(sop: sop, bytes: try hex(text)).parties
            return [both?.sender, both?.receiver]
        }
        #expect(try parties("a305") == [.source, .sink])
        #expect(try parties("8210dc700323") == [.sink, .source])
        #expect(try parties("8f1001a000ff", 1) == [.port, .cable])
        #expect(try parties("4101", 2) == [.cable, .port])
        #expect(try parties("a305", 5) == [nil, nil], "another ordered set")
        #expect(try parties("a3") == [nil, nil])
    }

    @Test func messageThatNobodyAcknowledges_isSentAgain() throws {
        let timeline = try timeline(of: [Self.offers, Self.offers, "4102", Self.offers])
        let resent = timeline.entries.compactMap {
            if case .message(let heard) = $0.kind { heard.isResent } else { nil }
        }
        #expect(resent == [false, true, false, false])
    }

    // MARK: The extended range

    private static let firstChunk = "b1fd28802c91910a2cd112002cc113002cb11400f44116006432a4c90000"
    private static let lastChunk = "b1cf28880000f4c11800f4411b00f4011f00"

    @Test func offersInChunks_areOneList_withTheNumbersOfRequests() throws {
        let timeline = try timeline(of: [Self.firstChunk, "4102", "919a008c0000", "2101", Self.lastChunk])
        #expect(timeline.offers.map(\.position) == [1, 2, 3, 4, 5, 6, 8, 9, 10])
        #expect(timeline.offers.suffix(3).map(\.description) == ["28 V 5 A", "36 V 5 A", "48 V 5 A"])
        #expect(timeline.offers[0].abilities.contains("knows the extended range"))
        let words = timeline.entries.map(\.words)
        #expect(words[1].hasPrefix("EPR_Source_Capabilities: chunk 0 of 40 bytes, "))
        #expect(words[3] == "EPR_Source_Capabilities: send chunk 1")
        #expect(words[5].hasPrefix("EPR_Source_Capabilities: 5 V 3 A, ") && words[5].contains("48 V 5 A"))
    }

    @Test(
        arguments: [
            // The second only; the first twice; another between; one of another length; the third for the second.
            [lastChunk], [firstChunk, "b1cf28900000f4c11800f4411b00f4011f00"], [firstChunk, firstChunk],
            [firstChunk, "b1fd2880", lastChunk],
            [firstChunk, "b1cf24880000f4c11800f4411b00f4011f00"],
        ])
    func chunks_ofWhichOneIsMissing_offerNothing(messages: [String]) throws {
        #expect(try timeline(of: messages).offers.isEmpty)
    }

    @Test func chunkThatIsSentAgain_countsOnce() throws {
        let timeline = try timeline(of: [Self.firstChunk, Self.firstChunk, Self.lastChunk, Self.lastChunk])
        #expect(timeline.offers.count == 9)
    }

    @Test func modeOfTheExtendedRange_isInWords() throws {
        let timeline = try timeline(of: [
            "8a1400000001", "aa1900000002", "aa1b00000003", "aa1b00000104", "8928f4d1c780f4c11800", "a305",
        ])
        #expect(
            timeline.entries.dropFirst().map(\.words) == [
                "EPR_Mode: enter", "EPR_Mode: enter: heard", "EPR_Mode: enter: done",
                "EPR_Mode: enter: failed, the cable is not made for it", "EPR_Request: 28 V 5 A of object 8, 28 V 5 A",
                "Accept: agreed",
            ])
        #expect(timeline.contract?.voltage_mV == 28_000)
    }

    /// They come twice a second, and would drive out all the rest.
    @Test func assurancesThatBothAreThere_areOneEntry() throws {
        var timeline = PDTimeline()
        for step in 0..<50 {
            let clock = UInt32(1000 + 400 * step)
            let said = try ["909a02800300", "2105", "b09902800400", "4102"].map { try event($0, at: clock) }
            timeline.add(report(said, at: clock), at: Self.noon + .milliseconds(Int64(400 * step)))
        }
        timeline.add(report([try event("a305", at: 90_000)], at: 90_000), at: Self.noon + .seconds(60))

        #expect(timeline.entries.count == 6)
        #expect(timeline.entries[1].words == "Extended_Control: EPR_KeepAlive")
        #expect(timeline.entries[1].more == 49)
        #expect(timeline.entries[1].until == Self.noon + .milliseconds(49 * 400))
        #expect(timeline.entries[3].words == "Extended_Control: EPR_KeepAlive_Ack")
        #expect(timeline.growing == nil, "something else was said")
    }

    // MARK: Cables

    @Test func whatACableSays_isNamed_andItsObjectsAreBytes() throws {
        var timeline = PDTimeline()
        let said = try [("8f1001a000ff", "ask"), ("8f5141a000ffffff0018000000000000000050200800", "answer")]
            .map { try event($0.0, sop: 1) }
        timeline.add(report(said), at: Self.noon)
        #expect(timeline.entries[1].words == "Vendor_Defined: Discover Identity")
        #expect(
            timeline.entries[2].words
                == "Vendor_Defined: Discover Identity ACK, ffff0018 00000000 00000000 50200800")
        #expect(try PDMessage(bytes: hex("af1111009a05")).description.contains("vendor 059a"))
    }

    // MARK: Plugs and voltages

    @Test func plugs_beginAnew() throws {
        var timeline = try timeline(of: [Self.offers, "8210dc700323", "a305"])
        #expect(timeline.isAttached == nil)
        timeline.add(report([PDEvent(milliseconds: 1100, kind: .detached(.cc1))], at: 1200, volts: 0), at: Self.noon)
        #expect(timeline.isAttached == false)
        #expect(timeline.contract == nil && timeline.offers.isEmpty && timeline.lastOffers == nil)
        timeline.add(report([PDEvent(milliseconds: 1300, kind: .attached(.cc2))], at: 1300), at: Self.noon)
        #expect(timeline.isAttached == true)
        #expect(timeline.entries.suffix(2).map(\.words) == ["unplugged, CC1", "plugged in, CC2"])
    }

    @Test func voltage_isToldOnceItHasSettled() throws {
        var timeline = PDTimeline()
        for (step, volts) in [5080, 5090, 5060, 6500, 8000, 9020, 9010, 9000, 8990, 9200].enumerated() {
            timeline.add(report(at: UInt32(1000 + 200 * step), volts: volts), at: Self.noon)
        }
        #expect(timeline.entries.map(\.words) == ["listening begins", "VBUS is 9.01 V"])
    }

    @Test func newLink_orAMeterThatWasSwitchedOff_isMarked_andKnowsNoContract() throws {
        var timeline = try timeline(of: [Self.offers, "8210dc700323", "a305"])
        let count = timeline.count
        timeline.linkBegan()
        #expect(timeline.contract != nil)
        timeline.add(report(at: 2000), at: Self.noon + .seconds(9))
        #expect(timeline.contract == nil && timeline.offers.isEmpty)
        // The source is probably the same, so what it offered is kept, with its time.
        #expect(timeline.lastOffers?.offers.map(\.position) == [1, 2, 3, 4, 5, 6])
        #expect(timeline.lastOffers.map { $0.time < Self.noon + .seconds(1) } == true)
        timeline.add(report(at: 50), at: Self.noon)
        #expect(timeline.entries.dropFirst(count).map(\.words) == ["listening begins", "listening begins"])
    }

    @Test func bytesThatNobodyReads_areShown() throws {
        var timeline = PDTimeline()
        timeline.add(report(rest: [0x05, 0xC7]), at: Self.noon)
        timeline.add(report([PDEvent(milliseconds: 1, kind: .plug(code: 0x31))], at: 1001), at: Self.noon)
        #expect(timeline.entries.dropFirst().map(\.words) == ["not understood: 05c7", "plug event 31"])
    }

    // MARK: How much is kept

    @Test func oldEntries_areDropped_andCounted() throws {
        var timeline = PDTimeline()
        for step in 0..<1500 {
            let clock = UInt32(1000 + step)
            timeline.add(report([try event("a305", at: clock)], at: clock), at: Self.noon)
        }
        #expect(timeline.entries.count == PDTimeline.longest)
        #expect(timeline.dropped == 501)
        #expect(timeline.count == 1501)
        #expect(timeline.entries(after: 1500).map(\.number) == [1501])
        #expect(timeline.entries(after: 1501).isEmpty)
        #expect(timeline.entries(after: 9999).isEmpty)
        #expect(timeline.entries(after: 3).count == PDTimeline.longest)
        let lines = PDText.lines(timeline, of: .usb(vendor: 1, product: 2, serial: "S"))
        #expect(lines.contains("501 older entries were dropped\n"))
    }

    // MARK: Ends, and the second time

    /// An event may be a little off, and then stands where the last one does; a second is not a little.
    @Test(arguments: [(0, 0), (1, 0), (999, 0), (1000, 1000), (5000, 5000)])
    func entry_standsNoLessThanASecondBeforeTheLast(back: Int, shown: Int) throws {
        var timeline = PDTimeline()
        timeline.add(report(at: 9000), at: Self.noon)
        timeline.add(report([try event("a305", at: 9000 - UInt32(back))], at: 9000), at: Self.noon)
        #expect(timeline.entries.last?.time == Self.noon + .milliseconds(-Int64(shown)))
    }

    /// A step of 400 mV that has settled to less than 100, measured from what was told last; one that comes back is none.
    @Test func voltage_isTold_byItsStepAndItsRest() throws {
        for (volts, told) in [
            ([5000, 5400, 5400], ["VBUS is 5.4 V"]), ([5000, 5399, 5399], []), ([5000, 4600, 4699], []),
            ([5000, 4600, 4600], ["VBUS is 4.6 V"]), ([5000, 5500, 5599], ["VBUS is 5.599 V"]),
            ([5000, 5500, 5600], []),
            ([5000, 5600, 5500], []), ([5000, 5500, 5600, 5501], ["VBUS is 5.501 V"]),
            ([5000, 5500, 5000, 5500], []), ([5000, 5500, 5000, 5500, 5500], ["VBUS is 5.5 V"]),
            ([5000, 9000, 9000, 9300, 9300], ["VBUS is 9 V"]), ([5000, 9000, 9000, 5000], ["VBUS is 9 V"]),
            ([5000, 9000, 9000, 5000, 5000], ["VBUS is 9 V", "VBUS is 5 V"]),
        ] as [([Int], [String])] {
            var timeline = PDTimeline()
            for (step, value) in volts.enumerated() {
                timeline.add(report(at: UInt32(1000 + step), volts: value), at: Self.noon)
            }
            #expect(timeline.entries.dropFirst().map(\.words) == told, "\(volts)")
            // Over the next link the first voltage is the one that is known.
            timeline.linkBegan()
            for step in 0..<3 { timeline.add(report(at: UInt32(2000 + step), volts: 20_000), at: Self.noon) }
            #expect(timeline.entries.dropFirst(1 + told.count).map(\.words) == ["listening begins"], "\(volts)")
        }
    }

    /// Plugged in, unplugged or a new link: nothing of what was agreed is left, and what is said again is not a repetition.
    @Test(arguments: ["attached", "detached", "link"])
    func beginning_forgetsWhatWasSaid(kind: String) throws {
        var timeline = try timeline(of: [Self.offers, "8210dc700323", "a305", "4104", "a607"])
        #expect(timeline.agreedAt == Self.noon)
        let later = Self.noon + .seconds(10)
        switch kind {
        case "link": timeline.linkBegan()
        default:
            let plug = kind == "attached" ? PDEvent.Kind.attached(nil) : .detached(nil)
            timeline.add(report([PDEvent(milliseconds: 1100, kind: plug)], at: 1100), at: later)
        }
        timeline.add(report([try event("a607", at: 1200)], at: 1200), at: later)
        #expect(timeline.contract == nil)
        #expect(timeline.agreedAt == nil)
        guard case .message(let heard) = timeline.entries.last?.kind else {
            Issue.record("no message")
            return
        }
        #expect(!heard.isResent)
        #expect(timeline.isAttached == (kind == "attached" ? true : kind == "detached" ? false : nil))
        // The next contract has its own time.
        timeline.add(
            report(
                try [Self.offers, "4102", "8210dc700323", "4104", "a305"].map { try event($0, at: 1300) }, at: 1300),
            at: later)
        #expect(timeline.agreedAt == later)
        timeline.add(report([try event("4104", at: 1400)], at: 1400), at: later + .seconds(9))
        #expect(timeline.agreedAt == later)
    }

    /// An assurance that grows: what belongs to it, what ends it, and that the next one is an entry of its own.
    @Test func assurances_growUntilSomethingElseIsSaid() throws {
        let round = ["909a02800300", "2105", "b09902800400", "4102"]
        for other in [["a305"], ["8210dc700323"], [Self.offers]] {
            var timeline = PDTimeline()
            var clock: UInt32 = 1000
            func say(_ messages: [String]) throws {
                clock += 400
                timeline.add(report(try messages.map { try event($0, at: clock) }, at: clock), at: Self.noon)
            }
            for _ in 0..<3 { try say(round) }
            #expect(timeline.growing?.more == 2)
            #expect(timeline.count == 5)
            try say(other)
            #expect(timeline.growing == nil)
            try say(round)
            #expect(timeline.count == 10)
            #expect(timeline.growing?.number == 7)
            #expect(timeline.growing?.more == 0)
            timeline.add(report(at: clock + 1, rest: [1]), at: Self.noon)
            #expect(timeline.growing == nil)
            // A receipt of its own is an entry, too.
            try say(["4102"])
            #expect(timeline.count == 12)
        }
    }

    @Test func list_isFullAtItsLength() throws {
        var timeline = PDTimeline()
        for step in 0..<PDTimeline.longest {
            #expect(timeline.dropped == 0)
            let clock = UInt32(1000 + step)
            let events = step == 0 ? [] : [try event("a305", at: clock)]
            timeline.add(report(events, at: clock), at: Self.noon)
        }
        #expect((timeline.count, timeline.dropped) == (PDTimeline.longest, 0))
        #expect(timeline.entries(after: 0).count == PDTimeline.longest)
        #expect(timeline.entries(after: PDTimeline.longest - 1).map(\.number) == [PDTimeline.longest])
        #expect(timeline.entries(after: -5).count == PDTimeline.longest)
        timeline.add(report([try event("a305", at: 3000)], at: 3000), at: Self.noon)
        #expect((timeline.count, timeline.dropped) == (PDTimeline.longest + 1, 1))
        #expect(timeline.entries(after: 1).count == PDTimeline.longest)
        #expect(timeline.entries(after: 2).count == PDTimeline.longest - 1)
    }

    /// Whatever comes is kept in order, within bounds, and can be told in every form.
    @Test(arguments: 0..<20)
    func anyBytes_areTold(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var timeline = PDTimeline()
        var clock: UInt32 = 0
        for _ in 0..<300 {
            clock &+= UInt32.random(in: 0...500, using: &random)
            let events = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                PDEvent(milliseconds: UInt32.random(in: 0 ... .max, using: &random), kind: kind(&random))
            }
            let level = PDLevel(
                voltage_mV: Int.random(in: 0...65_535, using: &random), current_mA: -5, cc1_mV: 1, cc2_mV: 2)
            timeline.add(PDReport(milliseconds: clock, level: level, events: events), at: Self.noon)
        }
        #expect(timeline.entries.count <= PDTimeline.longest, "seed \(seed)")
        let numbers = timeline.entries.map(\.number)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "seed \(seed)")
        #expect(timeline.entries.allSatisfy { !$0.words.isEmpty }, "seed \(seed)")
        #expect(!PDText.lines(timeline, of: .usb(vendor: 1, product: 2, serial: "S")).isEmpty)
        #expect(PDCapture.file(of: timeline.entries).count % 4 == 0, "seed \(seed)")
    }

    private func kind(_ random: inout SplitMix64) -> PDEvent.Kind {
        switch UInt8.random(in: 0...9, using: &random) {
        case 0: return .attached(.cc1)
        case 1: return .detached(nil)
        case 2: return .plug(code: UInt8.random(in: 0 ... .max, using: &random))
        default:
            let bytes = (0..<Int.random(in: 0...34, using: &random)).map { _ in
                UInt8.random(in: 0 ... .max, using: &random)
            }
            return .message(PDMessage(sop: UInt8.random(in: 0...3, using: &random), bytes: bytes))
        }
    }

    // MARK: Files

    @Test func text_hasALineForEachEntry_andTheOffersInATable() throws {
        let timeline = try timeline(of: [Self.offers, "4102", "8210dc700323", "a305"])
        let lines = PDText.lines(timeline, of: .usb(vendor: 0x5FC9, product: 0x63, serial: "S"))
        #expect(lines[0] == "USB Power Delivery heard by usb:5fc9:0063:S\n")
        #expect(lines[1] == "contract: 9 V 2.2 A of object 2, 9 V 3 A\n")
        #expect(lines[2] == "    object 1: 5 V 3 A (does not run from a battery)\n")
        #expect(lines.last == "2026-09-21T14:13:20.000Z 5.086 V   SOP source > sink    #2 Accept: agreed [a305]\n")
    }

    /// By the tables of draft-ietf-opsawg-pcapng: section header, interface description, enhanced packet.
    @Test func capture_isPcapng_withAPacketForEachEntry() throws {
        var timeline = PDTimeline()
        timeline.add(report([try event("4102", sop: 1)]), at: Self.noon)
        let file = PDCapture.file(of: timeline.entries)

        var expected = try hex(
            "0a0d0d0a" + "20000000" + "4d3c2b1a" + "01000000" + "ffffffffffffffff" + "00000000" + "20000000")
        // Link type 147, any length, named, times in thousandths.
        expected += try hex(
            "01000000" + "2c000000" + "93000000" + "00000000" + "02000700" + "4343206c696e6500" + "09000100"
                + "03000000"
                + "00000000" + "2c000000")
        #expect(Array(file.prefix(expected.count)) == expected)
        var offset = expected.count
        var packets: [[UInt8]] = []
        while offset < file.count {
            let (kind, length, size) = file.withUnsafeBytes { raw in
                (word(raw, offset), Int(word(raw, offset + 4)), Int(word(raw, offset + 20)))
            }
            #expect(kind == 6)
            #expect(file.withUnsafeBytes { word($0, offset + length - 4) } == UInt32(length))
            packets.append(Array(file[offset + 28..<offset + 28 + size]))
            offset += length
        }
        #expect(packets == [[0xFF] + Array("listening begins".utf8), try [1] + hex("4102")])
        #expect(String(decoding: file, as: UTF8.self).contains("VBUS 5.086 V, CC1 1.653 V, CC2 0.002 V"))
    }

    private func word(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian
    }
}
