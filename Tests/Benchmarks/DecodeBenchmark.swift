import CBenchmarks
import Domain
import MeterCodec
import MeterSimulator

/// How fast each decoder is on one core, and how often it asks for memory.
///
/// A frame comes in by `append`, as from a channel, and its readings are taken. The first rounds are not counted, so
/// that what is counted is the steady state.
enum DecodeBenchmark {
    static func run() {
        Report.title("Decoding, one core (processor time of the thread; best of 5 rounds)")
        let um = SimulatedUM(model: .um25c, refresh: .milliseconds(10))
        measure("UM blocks", frames(of: um, asking: [0xF0]), UMDecoder(), per: "block", goal: 1_000_000)
        let tc66 = SimulatedTC66(model: .tc66c, refresh: .milliseconds(10))
        let getva = TC66Request.values.bytes
        measure(
            "TC66 blocks, AES included", frames(of: tc66, asking: getva), TC66Decoder(), per: "block", goal: 200_000)
        let km003c = SimulatedKM003C(model: .km003c, refresh: .milliseconds(10))
        let adc = KM003CHeader(.getData, id: 1, parameter: KM003CAttributes.adc.rawValue).bytes
        measure("KM003C ADC packets", frames(of: km003c, asking: adc), KM003CDecoder(), per: "packet", goal: 3_000_000)
        var fnb58 = SimulatedFNIRSIUSB()
        _ = fnb58.receive(FNIRSIUSBCommand.start.bytes, at: .zero)
        let packets = fnb58.due(at: .seconds(1))
        measure("FNIRSI USB samples", packets, FNIRSIUSBDecoder(), per: "packet", goal: 5_000_000)
        var atorch = SimulatedAtorch(model: .atorchUSB)
        measure("Atorch reports", atorch.due(at: .seconds(30)), AtorchDecoder(), per: "report", goal: nil)
        var witrn = SimulatedWITRN(model: .witrnU3)
        measure("WITRN reports", witrn.due(at: .seconds(1)), WITRNDecoder(), per: "report", goal: 1_000_000)
        var ct3 = SimulatedCT3()
        _ = ct3.receive(CT3Request.start(interval_ms: 10).bytes(id: 1), at: .zero)
        measure("CT-3 samples", ct3.due(at: .seconds(1)), CT3Decoder(), per: "frame", goal: 1_000_000)
        var zy1280 = SimulatedZY1280()
        measure("ZY1280 reports", zy1280.due(at: .seconds(10)), ZY1280Decoder(), per: "report", goal: 1_000_000)
        var km001 = SimulatedKM001(interval: .milliseconds(10))
        _ = km001.receive(KM001Request.samples.bytes(for: .km001Pro), at: .zero)
        let samples = km001.due(at: .seconds(1))
        measure("KM001 Pro reports", samples, KM001Decoder(.km001Pro), per: "report", goal: 1_000_000)
        let acd15p = SimulatedKM001(model: .acd15p, dialect: .acd15p)
        let request = KM001Request.samples.bytes(for: .acd15p)
        measure(
            "ACD15P reports", frames(of: acd15p, asking: request), KM001Decoder(.acd15p), per: "report", goal: 1_000_000
        )
        var ppk2 = SimulatedPPK2()
        for request in PPK2Request.ammeterConversation { _ = ppk2.receive(request.bytes, at: .zero) }
        let blocks = [SimulatedPPK2.metadata] + ppk2.due(at: .milliseconds(100))
        // A window of 100 samples a reading: 1000 readings a second are what a PPK2 sends.
        measure("PPK2 windows of 100 samples", blocks, PPK2Decoder(), per: "block", goal: 50_000)
        var board = SimulatedBoard(model: .generic, .usual)
        measure("Lines of a board", board.due(at: .seconds(31)), LineDecoder(.usual), per: "line", goal: 1_000_000)
        measure(
            "DL24 queries and answers", loadAnswers(), AtorchDecoder(from: .loadAndHost), per: "answer", goal: 1_000_000
        )
    }

    /// Queries of a load, each with its answer behind it.
    private static func loadAnswers() -> [[UInt8]] {
        var quirks = SimulatedDL24.Quirks()
        (quirks.losesOneIn, quirks.losesCollisions, quirks.sendsReports, quirks.startsOn) = (0, false, false, true)
        var load = SimulatedDL24(quirks: quirks)
        return (1...30).map { place in
            let query = [PX100Query.voltage, .current, .charge, .energy, .temperature][place % 5]
            let time = Duration.milliseconds(500 * place)
            _ = load.receive(query.bytes, at: time)
            return query.bytes + load.due(at: time + .milliseconds(200)).joined()
        }
    }

    /// Thirty different answers.
    private static func frames(of meter: some SimulatedMeter, asking request: [UInt8]) -> [[UInt8]] {
        var meter = meter
        return (1...30).map { meter.receive(request, at: .milliseconds(500 * $0)).flatMap { $0 } }
    }

    private static func measure(
        _ name: String, _ frames: [[UInt8]], _ fresh: some FrameDecoder, per frame: String, goal: Double?
    ) {
        var decoder = fresh
        var sum = 0.0
        var readings = 0
        func round(_ repetitions: Int) {
            for _ in 0..<repetitions {
                for frame in frames {
                    decoder.append(frame)
                    while let step = decoder.next() {
                        guard case .frame(let frame) = step else { continue }
                        frame.forEachReading { reading in
                            sum += reading[.voltage] ?? reading[.current] ?? 0
                            readings += 1
                        }
                    }
                }
            }
        }
        round(50)
        var best = 0.0
        var allocations = 0.0
        for _ in 0..<5 {
            readings = 0
            let allocated = cb_allocations()
            let start = Clocks.thread
            var repetitions = 0
            while Clocks.thread - start < 0.25 {
                round(200)
                repetitions += 200
            }
            let rate = Double(readings) / (Clocks.thread - start)
            if rate > best {
                best = rate
                allocations = Double(cb_allocations() - allocated) / Double(repetitions * frames.count)
            }
        }
        precondition(sum.isFinite && readings > 0, "The decoder reads what the simulator sends")
        let goals = goal.map { (best >= $0, "\($0.grouped)/s") }
        Report.figure(name, "\(best.grouped)/s", goal: goals)
        Report.figure("  heap allocations per \(frame)", allocations.fixed(2))
    }
}
