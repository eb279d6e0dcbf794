import Domain
import MeterCodec
import MeterSimulator
import Testing

/// What a simulated meter hears on its CC line, as a host hears it through the driver.
struct SimulatedKM003CPowerTests {
    private struct Bench {
        var meter = SimulatedKM003C(model: .km003c)
        var driver = KM003CDriver(model: .km003c)
        var timeline = PDTimeline()
        var volts: [Int: Double] = [:]

        /// Asks five times a second, as meterd does.
        mutating func listen(until end: Int) {
            for step in driver.opening() { hear(step.bytes, at: 0) }
            for time in stride(from: 200, through: end, by: 200) { hear(driver.poll(), at: time) }
        }

        private mutating func hear(_ bytes: [UInt8], at milliseconds: Int) {
            var frames: [Frame] = []
            for write in meter.receive(bytes, at: .milliseconds(milliseconds)) {
                driver.receive(write) {
                    if case .frame(let frame) = $0 { frames.append(frame) }
                    if case .skipped(let count, let error) = $0 { Issue.record("\(count) bytes skipped: \(error)") }
                }
            }
            let time = WallTime(millisecondsSince1970: Int64(milliseconds))
            for frame in frames {
                if let report = frame.content.powerDelivery { timeline.add(report, at: time) }
                frame.forEachReading { volts[milliseconds / 1000] = $0[.voltage] }
            }
        }

        var said: [String] {
            timeline.entries.compactMap { entry in
                if case .message(let heard) = entry.kind, heard.message.header?.isAcknowledgement == true { return nil }
                return entry.words
            }
        }
    }

    @Test func phone_isChargedByAFixedVoltage_andByAProgrammableOne() throws {
        var bench = Bench()
        bench.listen(until: 60_000)
        let said = bench.said

        #expect(said[1] == "plugged in, CC1")
        #expect(said[2...3].allSatisfy { $0.hasPrefix("Vendor_Defined: Discover Identity") })
        #expect(said[4...6].allSatisfy { $0.hasPrefix("Source_Capabilities: 5 V 3 A, 9 V 3 A") && $0.contains("PPS") })
        #expect(
            said[7...9] == ["Request: 5 V 3 A of object 1, 5 V 3 A", "Accept: agreed", "PS_RDY: the supply is ready"])
        let requests = said.filter { $0.hasPrefix("Request") }
        #expect(
            requests == [
                "Request: 5 V 3 A of object 1, 5 V 3 A", "Request: 9 V 2.2 A of object 2, 9 V 3 A",
                "Request: 8.4 V 2 A of object 6, PPS 3.3-11 V 3 A", "Request: 8.44 V 2 A of object 6, PPS 3.3-11 V 3 A",
                "Request: 8.48 V 2 A of object 6, PPS 3.3-11 V 3 A",
                "Request: 8.52 V 2 A of object 6, PPS 3.3-11 V 3 A",
                "Request: 8.56 V 2 A of object 6, PPS 3.3-11 V 3 A",
            ])
        #expect(said.contains { $0.hasPrefix("VBUS is 9") }, "the voltage follows")
        #expect(abs(try #require(bench.volts[5]) - 5) < 0.2)
        #expect(abs(try #require(bench.volts[15]) - 9) < 0.3)
        #expect(bench.timeline.contract?.voltage_mV == 8560)
        #expect(bench.timeline.latest?.level.cc1_mV == 1652)
    }

    /// As captured: the receipts of source and sink are of other revisions than their messages.
    @Test func receipts_areThoseOfACapture() throws {
        var bench = Bench()
        bench.listen(until: 2000)
        let receipts = bench.timeline.entries.compactMap { entry -> [UInt8]? in
            guard case .message(let heard) = entry.kind, heard.message.sop == 0,
                heard.message.header?.isAcknowledgement == true
            else { return nil }
            return heard.message.bytes
        }
        #expect(receipts.map { Array($0) } == [[0x41, 0x00], [0x21, 0x01], [0x41, 0x02], [0x41, 0x04]])
    }

    @Test func laptop_isChargedInTheExtendedRange_andUnplugged() throws {
        var bench = Bench()
        bench.listen(until: 599_000)
        let said = bench.said
        let start = try #require(said.firstIndex(of: "plugged in, CC2"))

        #expect(said[..<start].contains("unplugged, CC1"))
        let laptop = Array(said[start...])
        #expect(
            laptop.filter { $0.hasPrefix("EPR_Mode") } == [
                "EPR_Mode: enter", "EPR_Mode: enter: heard", "EPR_Mode: enter: done", "EPR_Mode: exit",
            ])
        #expect(
            laptop.contains {
                $0.hasPrefix("EPR_Source_Capabilities: 5 V 3 A") && $0.contains("EPR AVS 15-28 V 140 W")
            })
        #expect(
            laptop.filter { $0.hasPrefix("EPR_Request") }.prefix(3) == [
                "EPR_Request: 28 V 5 A of object 8, 28 V 5 A",
                "EPR_Request: 24 V 4 A of object 9, EPR AVS 15-28 V 140 W",
                "EPR_Request: 24.5 V 4 A of object 9, EPR AVS 15-28 V 140 W",
            ])
        let assured = laptop.filter { $0 == "Extended_Control: EPR_KeepAlive" }.count
        #expect((28...70).contains(assured), "most are added to these: \(assured)")
        #expect(abs(try #require(bench.volts[310]) - 28) < 1)
        #expect(abs(try #require(bench.volts[318]) - 24) < 1)
        #expect(said.last == "VBUS is 0 V")
        #expect(bench.timeline.isAttached == false)
        #expect(bench.timeline.contract == nil)
        #expect(bench.timeline.dropped == 0)
    }

    @Test func visits_comeAgain() throws {
        var meter = SimulatedKM003C(model: .km003c)
        var driver = KM003CDriver(model: .km003c)
        var timeline = PDTimeline()
        // Nobody asked for an hour; then what is left waits, and no more than the meter can keep.
        for time in [3_600_900, 3_601_100] {
            for write in meter.receive(driver.poll(), at: .milliseconds(time)) {
                driver.receive(write) {
                    if case .frame(let frame) = $0, let report = frame.content.powerDelivery {
                        timeline.add(report, at: WallTime(millisecondsSince1970: Int64(time)))
                    }
                }
            }
        }
        #expect(timeline.contract?.description == "5 V 3 A of object 1, 5 V 3 A")
        #expect(timeline.isAttached == true)
    }
}
