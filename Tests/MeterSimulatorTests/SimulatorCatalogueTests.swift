import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatorCatalogueTests {
    /// Each link that has a driver, as (model, transport).
    static let links = MeterCatalogue.standard.models.flatMap { model in
        MeterCatalogue.standard.transports(of: model).map { (model, $0) }
    }

    @Test func links_areThoseThatTheModelsHave() {
        #expect(MeterCatalogue.standard.transports(of: .um25c) == [.serial, .ble, .spp])
        #expect(MeterCatalogue.standard.transports(of: .tc66) == [.serial])
        #expect(MeterCatalogue.standard.transports(of: .tc66c) == [.serial, .ble])
        #expect(MeterCatalogue.standard.transports(of: .fnb58) == [.hid, .ble])
        #expect(MeterCatalogue.standard.transports(of: .km003c) == [.serial, .bulk])
        #expect(MeterCatalogue.standard.transports(of: .atorchDC) == [.serial, .ble, .spp])
    }

    /// Ten seconds of conversation in steps of 10 ms, as in a session.
    @Test(arguments: Self.links)
    func everyLink_hasASimulator_thatItsDriverReads(_ model: ModelName, _ transport: LinkAddress.Transport) throws {
        var meter = try #require(SimulatorCatalogue.standard.meter(model, over: transport))
        var driver = try #require(MeterCatalogue.standard.driver(for: model, over: transport))
        let period: Duration? =
            switch driver.profile.rhythm {
            case .poll(let interval, _), .rounds(_, let interval): interval
            case .push(_, let keepAlive): keepAlive
            }
        var outgoing = driver.opening()[...]
        var nextSend = Duration.zero
        var lengths: [Int] = []
        var readings = 0
        var skipped = 0
        for now in (0..<1000).map({ Duration.milliseconds(10 * $0) }) {
            var written = meter.due(at: now)
            if now >= nextSend {
                let step = outgoing.popFirst() ?? Outgoing(driver.poll(), pause: period ?? .seconds(60))
                written += meter.receive(step.bytes, at: now)
                nextSend = now + (step.pause == .zero ? period ?? .seconds(60) : step.pause)
            }
            lengths += written.map(\.count)
            for bytes in written {
                driver.receive(bytes) { event in
                    switch event {
                    case .frame(let frame), .confirmed(let frame): frame.forEachReading { _ in readings += 1 }
                    case .skipped: skipped += 1
                    case .held, .acknowledged, .rejected, .readBack, .identified, .filtered: break
                    }
                }
            }
        }

        #expect(meter.model == model)
        #expect(readings >= 5)
        #expect(skipped == 0)
        switch transport {
        case .ble: #expect(lengths.allSatisfy { (1...20).contains($0) })
        case .hid: #expect(lengths.allSatisfy { $0 == 64 })
        case .serial, .bulk, .network, .spp, .computed: break
        }
    }

    @Test func notifications_areAsLongAsTheLinkTakes() throws {
        var meter = try #require(SimulatorCatalogue.standard.meter(.um25c, over: .ble, notificationMax: 100))
        #expect(meter.receive([0xF0], at: .zero).map(\.count) == [100, 30])
    }

    @Test func linkThatAModelLacks_hasNoSimulator() {
        #expect(SimulatorCatalogue.standard.meter(.tc66, over: .ble) == nil)
        #expect(SimulatorCatalogue.standard.meter(.um25c, over: .hid) == nil)
        #expect(SimulatorCatalogue.standard.meter(.fnb58, over: .serial) == nil)
    }
}
