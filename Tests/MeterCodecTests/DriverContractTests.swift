import Domain
import MeterCodec
import MeterSimulator
import Testing

/// What every driver owes the session that drives it, over every link of every model.
struct DriverContractTests {
    private static let links = MeterCatalogue.standard.models.flatMap { model in
        MeterCatalogue.standard.transports(of: model).map { (model, $0) }
    }

    /// A link that was lost in the middle of something leaves nothing to the next one.
    @Test(arguments: links)
    func driverThatIsOpenedAgain_isAsNew(_ model: ModelName, _ transport: LinkAddress.Transport) throws {
        for kind in [SimulatorFaults.Kind.shortBlock, .garbage] {
            var used = try Talk(model, transport)
            used.meter.faults = SimulatorFaults(kind, every: 3)
            _ = used.open(.milliseconds(1570))
            used.hear([0xAA, 0x00, 0x04, 0xFF, 0x55, 0x01])
            // As a session closes a link.
            _ = used.driver.closing()
            _ = used.driver.discardPartial()
            #expect(used.driver.discardPartial() == 0, "\(kind)")

            var fresh = try Talk(model, transport)
            used.meter = fresh.meter
            let (first, second) = (fresh.open(.seconds(5)), used.open(.seconds(5)))
            #expect(!first.readings.isEmpty)
            #expect(second == first, "after \(kind)")
        }
    }

    /// However long a meter answered nothing useful, or was off: once it is well, it is read.
    @Test(arguments: links)
    func meterThatIsWellAgain_isReadAgain(_ model: ModelName, _ transport: LinkAddress.Transport) throws {
        for (place, kind) in SimulatorFaults.Kind.allCases.enumerated() {
            var talk = try Talk(model, transport)
            _ = talk.open(.seconds(1))
            talk.meter.faults = SimulatorFaults(kind)
            _ = talk.run(.milliseconds(4130))
            talk.meter.faults = .none
            if place.isMultiple(of: 2) { talk.meter.powerCycle() }
            // An exchange would have given up the last answer by now.
            _ = talk.driver.discardPartial()
            let heard = talk.run(.seconds(12), until: { $0.readings.count > 3 })
            #expect(heard.readings.count > 3, "after \(kind)")
        }
    }
}

/// A driver and the meter that it talks to, on virtual time.
private struct Talk {
    var driver: any MeterDriver
    var meter: any SimulatedMeter
    private var now = Duration.zero
    private var outgoing: ArraySlice<Outgoing> = []
    private var nextSend = Duration.zero
    private var heard = Heard()

    struct Heard: Equatable {
        var readings: [Reading] = []
        var skipped = 0
        /// When something was sent, and how long it was: some count their requests on.
        var sent: [Duration: Int] = [:]
    }

    init(_ model: ModelName, _ transport: LinkAddress.Transport) throws {
        driver = try #require(MeterCatalogue.standard.driver(for: model, over: transport))
        meter = try #require(SimulatorCatalogue.standard.meter(model, over: transport))
    }

    /// A new link, and the talk over it.
    mutating func open(_ length: Duration) -> Heard {
        now = .zero
        nextSend = .zero
        outgoing = driver.opening()[...]
        return run(length)
    }

    mutating func run(_ length: Duration, until isEnough: (Heard) -> Bool = { _ in false }) -> Heard {
        heard = Heard()
        let end = now + length
        while now < end, !isEnough(heard) {
            step()
            now += .milliseconds(10)
        }
        return heard
    }

    private mutating func step() {
        var written = meter.due(at: now)
        if now >= nextSend {
            let step = outgoing.popFirst() ?? Outgoing(driver.poll(), pause: period)
            if !step.bytes.isEmpty { heard.sent[now] = step.bytes.count }
            written += meter.receive(step.bytes, at: now)
            nextSend = now + (step.pause == .zero ? period : step.pause)
        }
        for bytes in written { hear(bytes) }
    }

    private var period: Duration {
        switch driver.profile.rhythm {
        case .poll(let interval, _), .rounds(_, let interval): interval
        case .push(_, let keepAlive): keepAlive ?? .seconds(60)
        }
    }

    mutating func hear(_ bytes: [UInt8]) {
        var heard = heard
        driver.receive(bytes) { event in
            switch event {
            case .frame(let frame), .confirmed(let frame): frame.forEachReading { heard.readings.append($0) }
            case .skipped(let count, _): heard.skipped += count
            case .held, .acknowledged, .rejected, .readBack, .identified, .filtered: break
            }
        }
        self.heard = heard
    }
}
