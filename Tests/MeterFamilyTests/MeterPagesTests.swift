import Domain
import Foundation
import MeterCodec
import MeterSimulator
import Testing

/// What the pages say, held against what the drivers do.
struct MeterPagesTests {
    private let pages = MeterPages.standard
    private static let families = MeterCatalogue.standard.families.map(\.family)

    @Test(arguments: families)
    func page_namesEveryCommand_andItsLargestNumber(family: MeterFamily) throws {
        let page = try pages.page(of: family)
        for rule in pages.rules(of: family) {
            #expect(MeterPages.names(of: rule.kind).contains { page.contains($0) }, "\(rule.kind.rawValue)")
            guard let largest = rule.numbers?.upperBound else { continue }
            #expect(page.contains("`\(largest)`"), "\(rule.kind.rawValue) takes up to \(largest)")
        }
    }

    @Test(arguments: families)
    func page_namesNoCommandThatNoneHas(family: MeterFamily) throws {
        let page = try pages.page(of: family)
        let known = Set(pages.rules(of: family).map(\.kind))
        for kind in MeterCommand.Kind.allCases where !known.contains(kind) {
            #expect(!MeterPages.names(of: kind).contains { page.contains($0) }, "\(kind.rawValue)")
        }
    }

    /// What a page promises comes out of a simulated meter, and nothing comes that its page does not explain.
    @Test(arguments: families)
    func page_promisesWhatIsTold_besideReadings(family: MeterFamily) throws {
        var told: Set<String> = []
        for model in SimulatorCatalogue.standard.models where model.family == family {
            for transport in MeterCatalogue.standard.transports(of: model) {
                told.formUnion(try Self.toldKeys(of: model, over: transport))
            }
        }
        // No simulated meter asks a charger for a voltage.
        if family == .fnirsi { told.insert("trigger") }

        #expect(try pages.liveKeys(of: family) == told)
    }

    /// All of it is in the state that the broker has, and has an entity in Home Assistant.
    @Test(arguments: families)
    func brokerHears_whatPagesPromise(family: MeterFamily) throws {
        let keys = try pages.liveKeys(of: family)
        var meter = BridgedMeter(
            .mac(MACAddress(bits: 1)), state: .dataAvailable, since: WallTime(millisecondsSince1970: 0), isWanted: true)
        var told = TelemetryBody()
        for key in keys { told.details[key] = .unknown }
        var reading = Reading()
        reading[.voltage] = 5
        (meter.told, meter.reading) = (
            told, TimedReading(wallTime: WallTime(millisecondsSince1970: 0), time: .origin, reading: reading)
        )
        let topics = BrokerTopics(host: "bench", id: HostID(high: 0x1A2B_3C4D_0000_4000, low: 0x8000_0000_0000_0001))
        var machine = BridgeMachine(BridgeMachine.Settings(topics: topics, version: "1"))
        var published: [BrokerMessage] = []
        let actions =
            machine.start(at: .origin) + machine.linkOpened(at: .origin)
            + machine.observed([meter], at: .origin, random: 0)
        for case .publish(_, let message) in actions { published.append(message) }

        func object(_ topic: String) throws -> [String: Any] {
            let message = try #require(published.last { $0.topic == topic })
            let object = try JSONSerialization.jsonObject(with: Data(message.payload))
            return try #require(object as? [String: Any])
        }
        let state = try object(topics.state(meter.id))["told"] as? [String: Any]
        #expect(Set((state?["details"] as? [String: Any] ?? [:]).keys) == keys)
        let announcement = try object(topics.discovery(meter.id))
        let entities = try #require(announcement["components"] as? [String: Any])
        #expect(Set(entities.keys.filter { $0.hasPrefix("told_") }) == Set(keys.map { "told_\($0)" }))
    }

    /// Half a minute of a meter, asked as its driver asks.
    private static func toldKeys(
        of model: ModelName, over transport: LinkAddress.Transport
    ) throws -> Set<String> {
        // Some kinds of link are not simulated for some models.
        guard var meter = SimulatorCatalogue.standard.meter(model, over: transport) else { return [] }
        var driver = try #require(MeterCatalogue.standard.driver(for: model, over: transport))
        var keys: Set<String> = []
        func hear(_ pieces: [[UInt8]]) {
            for bytes in pieces {
                driver.receive(bytes) { event in
                    guard case .frame(let frame) = event else { return }
                    keys.formUnion(frame.content.details.filter(\.isTold).map(\.key))
                }
            }
        }
        for step in driver.opening() { hear(meter.receive(step.bytes, at: .zero)) }
        for quarter in 1...120 {
            let time = Duration.milliseconds(250 * quarter)
            if case .push = driver.profile.rhythm {} else { hear(meter.receive(driver.poll(), at: time)) }
            hear(meter.due(at: time))
        }
        return keys
    }

    @Test(arguments: MeterCatalogue.standard.models)
    func everyModel_isInTheList(model: ModelName) throws {
        let family = try #require(try pages.line(of: model.family))
        if model.family != .atorch { #expect(family.contains(model.displayName)) }
        for transport in MeterCatalogue.standard.transports(of: model) {
            let words: [LinkAddress.Transport: String] = [
                .serial: "USB", .hid: "USB", .bulk: "USB", .network: "network", .ble: "Bluetooth LE", .spp: "Classic",
                .computed: "computed",
            ]
            // No radio module has a serial port that people could reach.
            if model.family == .um, transport == .serial { continue }
            let word = model.family == .atorch && transport == .serial ? "serial" : words[transport]
            #expect(family.contains(try #require(word)), "\(transport)")
        }
    }
}
