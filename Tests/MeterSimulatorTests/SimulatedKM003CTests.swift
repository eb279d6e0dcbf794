import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedKM003CTests {
    private func converse(
        _ meter: inout SimulatedKM003C, _ driver: inout KM003CDriver, _ bytes: [UInt8], at time: Duration
    ) -> [MeterEvent] {
        var events: [MeterEvent] = []
        for write in meter.receive(bytes, at: time) { driver.receive(write) { events.append($0) } }
        return events
    }

    private func messages(_ events: [MeterEvent]) -> [KM003CMessage] {
        events.compactMap { if case .frame(.km003c(let message)) = $0 { message } else { nil } }
    }

    /// The shortest exchange in Docs/Protocols/KM003C.md#link.
    @Test func getData_isAnsweredWith52Bytes_andTheSameNumber() throws {
        var meter = SimulatedKM003C(model: .km003c)
        let answer = try #require(meter.receive([0x0C, 0x2A, 0x02, 0x00], at: .zero).first)
        #expect(answer.count == 52)
        #expect(Array(answer.prefix(8)) == [0x41, 0x2A, 0x80, 0x02, 0x01, 0x00, 0x00, 0x0B])
    }

    @Test func driver_connectsReadsAndLeaves() throws {
        let load = ElectricalLoad(seed: 3)
        var meter = SimulatedKM003C(model: .km002c, load: load)
        var driver = KM003CDriver(model: .km002c)
        for step in driver.opening() {
            guard case .acknowledged = converse(&meter, &driver, step.bytes, at: .zero).first else {
                Issue.record("not acknowledged")
                return
            }
        }
        #expect(meter.isConnected)

        var readings: [Reading] = []
        messages(converse(&meter, &driver, driver.poll(), at: .seconds(4))).first?.forEachReading {
            readings.append($0)
        }
        let state = load.state(step: 8, length: 0.5)
        let reading = try #require(readings.first)
        #expect(abs(try #require(reading[.voltage]) - state.voltage) < 0.000001)
        #expect(abs(try #require(reading[.current]) - state.current) < 0.000001)
        #expect(abs(try #require(reading[.temperature]) - state.temperature) < 0.01)

        for step in driver.closing() { _ = converse(&meter, &driver, step.bytes, at: .seconds(5)) }
        #expect(!meter.isConnected)
    }

    @Test func attributes_areMasked_withoutAuthentication() throws {
        var meter = SimulatedKM003C(model: .km003c)
        var driver = KM003CDriver(model: .km003c)
        let events = converse(&meter, &driver, driver.request(.known), at: .seconds(1))
        let message = try #require(messages(events).first)

        #expect(message.adc != nil)
        #expect(message.payloads.map(\.attribute) == [.settings, .pd])
        #expect(message.settings?.brightnessPercent == 44)
        #expect(message.settings?.name == "POWER-Z")
        #expect(message.pdStatus?.events.first?.kind == .attached(.cc1))
        #expect(message.contract?.description == "5 V 3 A of object 1, 5 V 3 A")
        #expect(message.contract == nil || message.pdStatus?.rest == [])
    }

    @Test func nothingVisible_isAnAnswerWithoutPayloads() {
        var meter = SimulatedKM003C(model: .km003c)
        #expect(meter.receive([0x0C, 0x05, 0x00, 0x04], at: .zero) == [[0x41, 0x05, 0x00, 0x00]])
    }

    @Test(arguments: [
        (KM003CRate.two, 500), (.ten, 100), (.fifty, 20), (.thousand, 1),
    ])
    func queue_stepsByItsRate(rate: KM003CRate, step: Int) throws {
        var meter = SimulatedKM003C(model: .km003c, grantsStreaming: true)
        var driver = KM003CDriver(model: .km003c)
        for out in driver.opening() { _ = converse(&meter, &driver, out.bytes, at: .seconds(64)) }
        start(rate, of: &meter, at: .seconds(64))
        var sequences: [UInt16] = []
        // Across the wrap of the meter's clock at 65.536 s.
        for poll in 1...100 {
            let time = Duration.seconds(64) + .milliseconds(40 * poll)
            for message in messages(converse(&meter, &driver, driver.request([.adc, .queue]), at: time)) {
                sequences += message.queueSamples.map(\.sequence)
                #expect(message.adc != nil)
            }
        }

        #expect(sequences.count == 4000 / step)
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $1 &- $0 == UInt16(step) })
    }

    @Test func queue_holdsAboutOneSecond_andTheNewest() throws {
        var meter = SimulatedKM003C(model: .km003c, grantsStreaming: true)
        var driver = KM003CDriver(model: .km003c)
        start(.fifty, of: &meter, at: .zero)

        let first = try #require(messages(converse(&meter, &driver, driver.request(.queue), at: .seconds(10))).first)
        let second = try #require(messages(converse(&meter, &driver, driver.request(.queue), at: .seconds(10))).first)

        #expect(first.queueSamples.count == 48)
        #expect(second.queueSamples.map(\.sequence) == [9980, 10_000])
    }

    @Test func queue_isNotShown_withoutStreaming_orOnceStopped() {
        var meter = SimulatedKM003C(model: .km003c)
        var driver = KM003CDriver(model: .km003c)
        start(.ten, of: &meter, at: .zero)
        let both = driver.request([.adc, .queue])
        #expect(messages(converse(&meter, &driver, both, at: .seconds(1))).allSatisfy { $0.payloads.isEmpty })

        meter.grantsStreaming = true
        let again = driver.request([.adc, .queue])
        #expect(messages(converse(&meter, &driver, again, at: .seconds(1))).contains { !$0.queueSamples.isEmpty })
        _ = meter.receive(KM003CHeader(.stopGraph, id: 201).bytes, at: .seconds(2))
        #expect(
            messages(converse(&meter, &driver, driver.request(.queue), at: .seconds(3))).allSatisfy {
                $0.queueSamples.isEmpty
            })
    }

    @Test(
        arguments: [[UInt8]]([
            [0x04, 0x09, 0, 0], [0x08, 0x09, 0, 0], [0x01, 0x09, 0, 0], [0x0E, 0x09, 0x08, 0],
            [0x44, 0x09, 1, 1] + [UInt8](repeating: 1, count: 32),
        ]))
    func unknownRequest_isRejected(request: [UInt8]) {
        var meter = SimulatedKM003C(model: .km003c)
        #expect(meter.receive(request + [0x02, 0x0A, 0, 0], at: .zero) == [[0x06, 0x09, 0, 0], [0x05, 0x0A, 0, 0]])
    }

    @Test(arguments: [(false, UInt8(0x01)), (true, 0x03)])
    func authentication_isAnsweredByWhetherStreamingIsGranted(isGranted: Bool, word: UInt8) throws {
        var meter = SimulatedKM003C(model: .km003c, grantsStreaming: isGranted)
        let request: [UInt8] = [0x4C, 0x09, 0x00, 0x02] + [UInt8](repeating: 1, count: 32)
        let answer = try #require(meter.receive(request, at: .zero).first)
        #expect(Array(answer.prefix(4)) == [0x4C, 0x00, word, 0x02])
        #expect(answer.count == 36)
    }

    @Test(arguments: [[0x00], [0xFF], [0x41], [0x02], [0x05], [0x4C], [0x13, 0x37, 0x00]] as [[UInt8]])
    func strayBytes_costNoMoreThanOneRequest(stray: [UInt8]) {
        var meter = SimulatedKM003C(model: .km003c)
        _ = meter.receive(stray + [0x0C, 0x07, 0x02, 0x00], at: .zero)
        #expect(meter.receive([0x0C, 0x08, 0x02, 0x00], at: .zero).last?.prefix(2) == [0x41, 0x08])
    }

    @Test func request_mayComeInPieces() {
        var meter = SimulatedKM003C(model: .km003c)
        #expect(meter.receive([0x0C, 0x01], at: .zero).isEmpty)
        #expect(meter.receive([0x02, 0x00], at: .zero).map(\.count) == [52])
    }

    @Test func powerCycle_forgetsTheHostAndTheGraph() {
        var meter = SimulatedKM003C(model: .km003c, grantsStreaming: true)
        var driver = KM003CDriver(model: .km003c)
        for out in driver.opening() { _ = converse(&meter, &driver, out.bytes, at: .zero) }
        start(.ten, of: &meter, at: .zero)
        meter.powerCycle()
        #expect(!meter.isConnected)
        let both = driver.request([.adc, .queue])
        #expect(messages(converse(&meter, &driver, both, at: .seconds(1))).allSatisfy { $0.queueSamples.isEmpty })
    }

    /// Starts the graph, as a driver does once it has proved itself.
    private func start(_ rate: KM003CRate, of meter: inout SimulatedKM003C, at time: Duration) {
        let request = KM003CHeader(.startGraph, id: 200, parameter: UInt16(rate.rawValue)).bytes
        #expect(meter.receive(request, at: time) == [KM003CHeader(.accept, id: 200).bytes])
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_givesNoReading_andTheNextAnswerDoes(kind: SimulatorFaults.Kind) {
        var meter = SimulatedKM003C(model: .km003c)
        meter.faults = SimulatorFaults(kind, every: 2)
        var driver = KM003CDriver(model: .km003c)
        var frames = 0
        for second in 1...6 {
            _ = driver.discardPartial()
            frames += messages(converse(&meter, &driver, driver.poll(), at: .seconds(second))).count
        }
        // A shifted answer is still a good one after its stray bytes.
        #expect(frames == (kind == .shifted ? 6 : 3))
    }
}
