import Domain
import MeterCodec
import MeterSimulator

extension FuzzTarget {
    /// Stored chunks: any bytes end in samples or an error, and samples survive being stored.
    static let chunks = FuzzTarget(name: "chunk", run: runChunk, seeds: chunkSeeds)

    /// The first byte says how many samples the chunk claims, and in its top bit that the check is put right.
    private static func runChunk(_ input: [UInt8]) {
        guard let meter = MeterID("01:02:03:04:05:06"), let first = input.first else { return }
        var bytes = Array(input.dropFirst())
        if first & 0x80 != 0 { bytes = [1] + bytes + check([1] + bytes) }
        let chunk = SampleChunk(
            meter: meter, first: WallTime(millisecondsSince1970: 0), last: WallTime(millisecondsSince1970: 0),
            count: Int(first & 0x7F), bytes: bytes)
        let samples: [StoredSample]
        do {
            samples = try chunk.samples()
        } catch {
            return promise(!error.description.isEmpty, "an error has words")
        }
        promise(samples.count == chunk.count, "a chunk holds as many samples as it says")
        var builder = SampleChunkBuilder(meter: meter)
        for sample in samples {
            sample.reading.forEach { quantity, value in promise(value?.isFinite ?? true, "\(quantity) is a number") }
            builder.append(sample.time, sample.reading)
        }
        guard let again = builder.finish() else { return promise(samples.isEmpty, "samples make a chunk") }
        // Any other error than none would be a chunk that its own builder made and its own reader refuses.
        promise((try? again.samples()) == samples, "samples come back from a chunk as they went in")
    }

    /// FNV-1a, little-endian, as SampleChunkFormat describes it.
    private static func check(_ bytes: [UInt8]) -> [UInt8] {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return (0..<4).map { UInt8(truncatingIfNeeded: hash >> UInt32(8 * $0)) }
    }

    private static func chunkSeeds() -> [[UInt8]] {
        guard let meter = MeterID("01:02:03:04:05:06") else { return [] }
        return DecoderTarget.all.compactMap { target in
            var builder = SampleChunkBuilder(meter: meter)
            for stream in target.streams() {
                var decoder = target.make(true)
                decoder.append(stream)
                while let step = decoder.next() {
                    guard case .frame(let frame) = step else { continue }
                    frame.forEachReading { reading in
                        guard builder.count < 100 else { return }
                        let time = 1_800_000_000_000 + 500 * Int64(builder.count)
                        builder.append(WallTime(millisecondsSince1970: time), reading)
                    }
                }
            }
            return builder.finish().map { [0x80 | UInt8($0.count)] + $0.bytes.dropFirst().dropLast(4) }
        }
    }
}

extension FuzzTarget {
    /// A replay of any recording answers, pushes and ends its rounds on any input, and never sends without end.
    static let replay = FuzzTarget(
        name: "replay", run: runReplay,
        seeds: {
            [
                [0x04, 0x01, 0xF0, 0x05, 0x82, 0x09, 0xC9, 0x00, 0x01, 0xF0],
                [0x01, 0x82, 0xAA, 0x07, 0x03, 0x81, 0x55, 0x02, 0x84, 0x01, 0x02, 0x03, 0x04],
            ]
        })

    /// Each message is a step of time, a byte with direction and length, and so many bytes. What is asked of the replay
    /// are the same bytes again.
    private static func runReplay(_ input: [UInt8]) {
        var messages: [TrafficReplay.Message] = []
        var rest = input[...]
        var time = Duration.zero
        while rest.count >= 2, messages.count < 64 {
            let head = Array(rest.prefix(2))
            rest = rest.dropFirst(2)
            time += .milliseconds(Int64(head[0]))
            let bytes = Array(rest.prefix(Int(head[1] & 0x1F)))
            rest = rest.dropFirst(bytes.count)
            messages.append(.init(time: time, direction: head[1] & 0x80 != 0 ? .fromMeter : .toMeter, bytes: bytes))
        }
        var meter = TrafficReplay(model: .um25c, messages: messages)
        meter.faults = SimulatorFaults(SimulatorFaults.Kind.allCases[input.count % 5], every: 3)
        let longest = messages.reduce(0) { $0 + $1.bytes.count + 7 }
        for (index, message) in messages.enumerated() {
            let sent = meter.receive(message.bytes, at: .milliseconds(7 * index))
            promise(
                sent.reduce(0) { $0 + $1.count } <= longest * max(1, message.bytes.count), "an answer has an end")
            let moment = Duration.milliseconds(Int64(index) * Int64(index) * 97)
            promise(meter.due(at: moment).count <= 2 * messages.count + 1, "a round has an end")
            promise(meter.nextDue.map { $0 >= .zero } ?? true, "what is due has a time")
        }
        meter.powerCycle()
        promise(meter.due(at: .zero).count <= messages.count, "it begins anew")
    }
}

extension FuzzTarget {
    /// What people and files write: hex, addresses, ids, times. What is read can be printed and read again.
    static let text = FuzzTarget(
        name: "text", run: runText,
        seeds: {
            [
                "0x09, c9 01:ff", "AA:BB:CC:DD:EE:FF", "aa-bb-cc-dd-ee-ff", "usb:0483:fffe:071KBP", "1.5s", "500ms",
                "usb:1a86:7523:box:1-1.4", "port:box:/dev/rfcomm0", "um25c",
            ].map { Array($0.utf8) }
        })

    private static func runText(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        if let bytes = Hex.decode(text) { promise(Hex.decode(Hex.encode(bytes)) == bytes, "hex reads what it writes") }
        promise(Hex.decode(Hex.encode(input)) == input, "hex keeps bytes")
        if let mac = MACAddress(text) { promise(MACAddress(mac.description) == mac, "an address reads what it prints") }
        if let id = MeterID(text) { promise(MeterID(id.description) == id, "an id reads what it prints") }
        let models = MeterCatalogue.standard
        if let name = models.model(named: text) {
            promise(models.model(named: name.rawValue) == name, "a model reads what it prints")
        }
        if let duration = Duration(shortText: text) { promise(duration >= .zero, "a time is not negative") }
        let words = input.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let stamp = WallTime(millisecondsSince1970: Int64(bitPattern: words)).description
        promise(stamp.utf8.count == 24, "a moment prints in 24 characters")
    }
}

extension FuzzTarget {
    /// Formulas: any text ends in a formula with a bounded result, or in an error within the text.
    static let formula = FuzzTarget(
        name: "formula", run: runFormula,
        seeds: {
            [
                "charger.power - laptop.power", "bench.voltage * 1.0023 + 4e-3",
                #""Desk charger".power / "01:23:45:67:89:AB".power"#,
            ].map { Array($0.utf8) }
        })

    private static func runFormula(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        do throws(FormulaError) {
            var machine = FormulaMachine(try FormulaParser.formula(text))
            for (index, operand) in machine.formula.operands.enumerated() {
                promise(Formula.quantities.contains(operand.quantity), "an operand is measured")
                machine.heard(Double(index) - 1, of: index, at: .origin, lasting: .seconds(1))
            }
            guard let reading = machine.reading(at: .origin) else { return promise(false, "a reading is due") }
            let result = reading[machine.formula.quantity]
            promise(result.map { $0.magnitude <= Formula.valueMax } ?? true, "a result is bounded")
        } catch {
            promise((1...text.count + 1).contains(error.place), "an error is in the text")
        }
    }
}

extension FuzzTarget {
    /// JSON: what is read can be written and read again, and nothing else is passed over.
    static let json = FuzzTarget(
        name: "json", run: runJSON,
        seeds: {
            [
                #"{"header":{"revision":"3"},"kvs":[{"key":"YQ==","more":true}]}"#,
                #" [ -0.5e+3 , null, "\u00e9\ud83d\ude00" ] "#,
                #"{"time":"2026-11-21T13:40:05Z","voltage_V":5.1,"told":{"details":{"a\n":false}}}"#,
            ].map { Array($0.utf8) }
        })

    private static func runJSON(_ input: [UInt8]) {
        let copy = try? input.read { $0.copy() }
        let isPassed = (try? input.read { $0.passValue() ? true : nil }) != nil
        promise(copy == nil || isPassed, "what is read can be passed over")
        if let copy { promise((try? copy.read { $0.copy() }) == copy, "JSON reads what it writes") }
        let text = String(decoding: input, as: UTF8.self)
        var written: [UInt8] = []
        JSONText.write(text, to: &written)
        promise((try? written.read { $0.string() }) == text, "a text comes back")
        promise(written.count <= JSONText.bytesMax(of: text), "a text has room")
        promise(written.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "no control character is written")
    }
}

extension JSONReader {
    /// The value that follows, in its shortest form.
    fileprivate mutating func copy() -> [UInt8]? {
        var text: [UInt8] = []
        switch peek {
        case UInt8(ascii: "{"):
            guard open("{") else { return nil }
            while let key = key(), let value = copy() {
                text.append(UInt8(ascii: text.isEmpty ? "{" : ","))
                JSONText.write(key, to: &text)
                text += [UInt8(ascii: ":")] + value
            }
            text += Array(text.isEmpty ? "{}".utf8 : "}".utf8)
        case UInt8(ascii: "["):
            guard open("[") else { return nil }
            while element(), let value = copy() { text += [UInt8(ascii: text.isEmpty ? "[" : ",")] + value }
            text += Array(text.isEmpty ? "[]".utf8 : "]".utf8)
        case UInt8(ascii: "\""): if let string = string() { JSONText.write(string, to: &text) }
        case UInt8(ascii: "t"), UInt8(ascii: "f"): text += Array((flag() == true ? "true" : "false").utf8)
        case UInt8(ascii: "n"): text += Array((passValue() ? "null" : "").utf8)
        default: text += Array((double().map { "\($0)" } ?? "").utf8)
        }
        return problem == nil ? text : nil
    }
}

extension FuzzTarget {
    /// Messages behind a broker: any bytes end in lines that are readings, or in remarks.
    static let smartPlug = FuzzTarget(
        name: "smart-plug", run: runSmartPlug,
        seeds: {
            let texts = [
                #"{"Time":"2018-01-17T18:59:50","ENERGY":{"Total":1.956,"Power":9,"Voltage":231,"Current":0.089}}"#,
                #"{"StatusSNS":{"ENERGY":{"Power":[1,0,0],"Total":0}}}"#,
                #"{"at":1790000000,"apower":0.0,"aenergy":{"total":30473.355,"by_minute":[0.000]}}"#, "101.123",
                #"{"state":"online"}"#,
            ]
            return texts.flatMap { text in (0..<8).map { [$0] + Array(text.utf8) } }
        })

    private static func runSmartPlug(_ input: [UInt8]) {
        guard let mode = input.first else { return }
        let presets = SmartPlugPreset.allCases
        let preset = presets[Int(mode & 3) % presets.count]
        guard var plug = preset.description("t", channel: mode & 4 == 0 ? nil : 1, component: "switch:0") else {
            return
        }
        plug.timePath = mode & 8 == 0 ? nil : ["at"]
        let wall = WallTime(millisecondsSince1970: 1_790_000_000_000)
        for topic in plug.topics {
            var machine = SmartPlugMachine(plug, at: .origin)
            var driver = SmartPlugFamily().driver(for: plug.model, over: .network)
            for action in machine.received(BrokerMessage(topic, Array(input.dropFirst())), at: .origin, wall) {
                guard case .line(let line) = action else { continue }
                var readings = 0
                driver?.receive(line) { event in
                    if case .frame(let frame) = event { frame.forEachReading { _ in readings += 1 } }
                }
                promise(readings == 1, "a line is a reading: \(String(decoding: line, as: UTF8.self))")
            }
            promise(machine.remark?.isEmpty != true, "a remark has words")
        }
    }
}
