import Domain
import MeterCodec
import MeterSimulator

extension FuzzTarget {
    /// Whatever comes while a meter is looked for: at most one is found, and nothing is said that is an order.
    static let identify = FuzzTarget(name: "identify", run: runIdentify, seeds: identifySeeds)

    /// The first byte says who may be there, the second the length of the pieces, 1 to 64.
    private static func runIdentify(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let families = MeterCatalogue.standard.families.map(\.family).enumerated().filter {
            input[0] & 1 << $0.offset != 0
        }.map(\.element)
        var driver = IdentifyingDriver(among: Set(families), guess: .um25c)
        var found: [ModelName] = []
        promise(driver.opening().isEmpty, "it listens first")
        for piece in pieces(input.dropFirst(2), length: Int(input[1] & 0x3F) + 1) {
            driver.receive(piece) { event in
                guard case .identified(let model) = event else { return promise(false, "it finds, and does no more") }
                found.append(model)
            }
            let said = driver.poll()
            let isOrder = said.contains { (0xF1...0xF4).contains($0) || (0xA0...0xEF).contains($0) }
            promise(!families.contains(.um) || !isOrder, "nothing is an order to a UM meter")
            promise(found.isEmpty || said.isEmpty, "what is found is not asked for")
        }
        promise(found.count <= 1, "one link, one meter")
        promise(found.allSatisfy { families.contains($0.family) }, "only who may be there is found")
    }

    private static func identifySeeds() -> [[UInt8]] {
        [Streams.um(), Streams.tc66(), Streams.atorch(), Streams.fnirsiBLE()].flatMap { streams in
            streams.prefix(2).map { [0x1F, 0x13] + $0 }
        }
    }

    /// Whatever comes while a log is read: it ends in one way, asks for nothing but what it may, and loses no count.
    static let download = FuzzTarget(name: "km003c-log", run: runDownload, seeds: downloadSeeds)

    /// The first byte says what is wanted and from which model, the second the length of the pieces; after each piece of
    /// one byte FF there is silence.
    private static func runDownload(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let wishes: [LogRequest] = [.device, .catalogue, .log(named: "A01.d"), .log(named: "A02.d")]
        var transfer = KM003CLogDownload(
            wishes[Int(input[0]) % wishes.count], model: input[0] & 0x80 != 0 ? .km002c : .km003c)
        var ends = 0
        look(at: transfer.start(), &ends)
        for piece in pieces(input.dropFirst(2), length: Int(input[1]) + 1) {
            look(at: piece == [0xFF] ? transfer.answerOverdue() : transfer.receive(piece), &ends)
            let progress = transfer.progress
            promise(progress.done >= 0 && progress.done <= progress.total ?? 0, "no more is done than there is")
        }
        promise(ends <= 1, "it ends once")
    }

    private static func look(at step: TransferStep<KM003CLogDownload.Outcome>, _ ends: inout Int) {
        switch step {
        case .wait:
            break
        case .send(let outgoing):
            promise(ends == 0, "nothing is said after the end")
            let kinds: [KM003CKind] = [.connect, .memoryRead, .streamingAuth, .getData]
            for bytes in outgoing.map(\.bytes) where !bytes.isEmpty {
                promise(kinds.contains { $0.rawValue == bytes[0] }, "only what may be asked is asked")
            }
        case .finished(let outcome):
            ends += 1
            for sample in outcome.log?.samples ?? [] {
                promise(sample.isPlausible, "samples are possible")
                sample.reading.forEach { promise($1?.isFinite ?? true, "\($0) is a number") }
            }
        case .failed(let failure):
            ends += 1
            promise(!failure.description.isEmpty, "a failure has words")
        }
    }

    /// All that the simulator says to a whole download.
    private static func downloadSeeds() -> [[UInt8]] {
        [ModelName.km003c, .km002c].flatMap { model in (0..<3).map { downloadSeed($0, of: model) } }
    }

    private static func downloadSeed(_ wish: Int, of model: ModelName) -> [UInt8] {
        var transfer = KM003CLogDownload([.device, .catalogue, .log(named: "A01.d")][wish], model: model)
        var meter = SimulatedKM003C(model: model)
        var said: [UInt8] = []
        var step = transfer.start()
        while case .send(let outgoing) = step {
            let answer = outgoing.flatMap { meter.receive($0.bytes, at: .seconds(1)).flatMap { $0 } }
            said += answer
            step = transfer.receive(answer)
        }
        return [UInt8(wish) | (model == .km002c ? 0x80 : 0), 0x13] + said
    }

    /// A stream of which absurd samples are taken out: none is lost but for one that waits for its neighbour, and what was
    /// replaced is counted.
    static let glitches = FuzzTarget(
        name: "fnirsi-filter", run: runGlitches, seeds: { Streams.fnirsiUSB().map { [0x3F] + $0 } })

    /// The first byte says the length of the pieces; check sums are put right.
    private static func runGlitches(_ input: [UInt8]) {
        guard let first = input.first else { return }
        var driver = FNIRSIUSBDriver(model: .fnbC2)
        var plain = FNIRSIUSBDriver(model: .fnbC2)
        plain.isFiltering = false
        _ = driver.opening()
        _ = plain.opening()
        var shown: [[Double?]] = []
        var sent: [[Double?]] = []
        var replaced = 0
        for piece in pieces(Repair.fnirsiUSB(Array(input.dropFirst()))[...], length: Int(first) + 1) {
            driver.receive(piece) { event in
                if case .filtered(let samples) = event { replaced += samples }
                if case .frame(let frame) = event {
                    frame.forEachReading { shown.append([$0[.voltage], $0[.current]]) }
                }
            }
            plain.receive(piece) { event in
                promise({ if case .filtered = event { false } else { true } }(), "a filter that is off filters nothing")
                if case .frame(let frame) = event {
                    frame.forEachReading { sent.append([$0[.voltage], $0[.current]]) }
                }
            }
        }
        promise((sent.count - 1...sent.count).contains(shown.count), "one sample may wait, and none is lost")
        let changed = zip(shown, sent).filter { $0 != $1 }
        promise(changed.count == replaced, "what was replaced is counted")
        promise(
            [0, 1].allSatisfy { place in Set(shown.map { $0[place] }).isSubset(of: sent.map { $0[place] }) },
            "what stands for a sample was measured beside it")
    }

    /// What is said over a power line: every byte of a status belongs to an event or to the rest, and all can be told.
    static let power = FuzzTarget(
        name: "usb-pd", run: runPower,
        seeds: {
            Streams.km003c().prefix(1).map { Array($0.suffix(200)) } + [
                [0xA1, 0x33, 0x2C, 0x91, 0x01, 0x08, 0x2C, 0xD1, 0x02, 0x00, 0x3C, 0x21, 0xDC, 0xC0],
                [0x82, 0x10, 0xDC, 0x70, 0x03, 0x23, 0xA3, 0x05], [0xB1, 0xFD, 0x28, 0x80, 0xAA],
            ]
        })

    private static func runPower(_ input: [UInt8]) {
        promise(!PDMessage(bytes: input).description.isEmpty, "a message has words")
        var negotiation = PDNegotiation()
        for piece in pieces(input[...], length: Int(input.first ?? 0) % 30 + 1) {
            negotiation.heard(PDMessage(bytes: piece))
            promise(!(negotiation.contract?.description.isEmpty ?? false), "a contract has words")
        }
        if let status = input.withUnsafeBytes({ KM003CPDStatus($0) }) {
            let told = status.events.reduce(0) { total, event in
                if case .message(let message) = event.kind { total + 6 + message.bytes.count } else { total + 6 }
            }
            let whole = KM003CPDStatus.preambleLength + told + status.rest.count
            promise(whole == input.count, "each byte of a status is an event's or left over")
            promise(status.details.count >= 5 + status.events.count, "each event is told")
        }
        runTimeline(input)
        _ = input.withUnsafeBytes { KM003CPDTrace($0)?.details }
        for entry in input.withUnsafeBytes({ KM003CLogEntry.all(in: $0) }) {
            let end = entry.range.map { UInt64(KM003CMemory.log($0).address) + UInt64($0.size) } ?? 0
            promise(end <= UInt64(KM003CMemory.logs) + UInt64(KM003CLogRange.end), "a log lies among the logs")
        }
    }

    /// Statuses of any bytes, one after the other: what is kept is in order and within bounds, and has words in every form.
    private static func runTimeline(_ input: [UInt8]) {
        var timeline = PDTimeline()
        var time = WallTime(millisecondsSince1970: 0)
        for piece in pieces(input[...], length: max(KM003CPDStatus.preambleLength, Int(input.last ?? 0))) {
            time = time + .milliseconds(200)
            if let status = piece.withUnsafeBytes({ KM003CPDStatus($0) }) { timeline.add(status.report, at: time) }
        }
        promise(timeline.entries.count <= PDTimeline.longest, "no more than that is kept")
        promise(timeline.entries.allSatisfy { !$0.words.isEmpty }, "each entry has words")
        promise(timeline.entries.last.map(\.number) ?? 0 == timeline.count, "they are counted")
        promise(PDText.lines(timeline, of: .usb(vendor: 1, product: 1, serial: "1")).count >= 2, "it is a text")
        promise(PDCapture.file(of: timeline.entries).count.isMultiple(of: 4), "it is a file")
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>, length: Int) -> [[UInt8]] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: length).map {
            Array(bytes[$0..<min($0 + length, bytes.endIndex)])
        }
    }
}
