import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// Meters that are computed from a UM25C, the charger, and a TC66C, the laptop.
@Suite(.timeLimit(.minutes(10)))
struct ComputedMetersTests {
    private static let losses = MeterID.port(host: "pi", path: "losses")
    private static let laptopPort = "/dev/ttyACM0"
    private let store = MeterStore.temporary()

    private static func bench(
        _ store: MeterStore, _ formulas: [String: String], gate: (any LinkGate)? = nil
    ) async throws -> DirectoryBench {
        let bench = DirectoryBench(
            store, gate: gate, formulas: try formulas.mapValues { text in try FormulaParser.formula(text) })
        try await bench.directory.restore()
        for name in formulas.keys.sorted() {
            try await bench.directory.declare(
                DeclaredPort(.computed(name: name), model: .byFormula, name: name), wanted: true)
        }
        return bench
    }

    /// Plugs in both meters, wanted and named.
    private static func plugInBoth(_ bench: DirectoryBench) async throws {
        for (name, id, model, path) in [
            ("charger", MeterID.um, ModelName.um25c, String.port), ("laptop", .tc, .tc66c, laptopPort),
        ] {
            try await bench.plugIn(model, id: id, at: path)
            _ = try await bench.directory.set(["name": name], for: "\(id)")
            _ = try await bench.directory.connect(name, ConnectRequest())
        }
    }

    private static func unplug(_ bench: DirectoryBench, _ model: ModelName, _ id: MeterID, _ path: String) async {
        bench.host.links.unplug(path)
        await bench.directory.handle(.vanished(.of(model, id: id, at: path)))
    }

    private static func round(_ value: Double?) -> Double? { value.map { ($0 * 1e9).rounded() / 1e9 } }

    @Test func difference_isAMeterLikeAnyOther() async throws {
        let bench = try await Self.bench(
            store,
            [
                "losses": "charger.power - laptop.power",
                "calibrated": "\"02:00:00:00:25:0C\".voltage * 1.0023 + 0.004",
                "efficiency": "laptop.power / charger.power",
            ])
        try await Self.plugInBoth(bench)
        bench.host.loop.advance(by: .seconds(10))

        let (charger, laptop) = (try await bench.status(), try await bench.status(of: .tc))
        let status = try await bench.status(of: Self.losses)
        #expect((status.state, status.name, status.model) == ("data-available", "losses", "Computed"))
        #expect((status.transport, status.port, status.error) == ("computed", "formula losses", nil))
        #expect(status.local_only && status.wanted && status.lease?.state == LeaseStatus.State.none)
        let above = try #require(charger.reading?.reading[.power])
        let below = try #require(laptop.reading?.reading[.power])
        #expect(status.reading?.reading[.power] == Self.round(above - below))
        // Two readings a second, as its parts.
        #expect((18...21).contains(status.counters.readings))
        #expect(status.counters.skipped_bytes == 0)
        #expect(status.counted != nil)
        let calibrated = try await bench.status(of: .port(host: "pi", path: "calibrated"))
        let volts = try #require(charger.reading?.reading[.voltage])
        #expect(calibrated.reading?.reading[.voltage] == Self.round(volts * 1.0023 + 0.004))
        let efficiency = try await bench.status(of: .port(host: "pi", path: "efficiency"))
        #expect(efficiency.reading?.reading[.ratio] == Self.round(below / above))
        #expect(efficiency.reading?.reading.supported == QuantitySet(.ratio))

        // It takes no command, and no scan finds it.
        let failure = await bench.failure { try await $0.command(MeterCommand(.rotate), "losses", by: .person) }
        #expect(failure?.code == .badRequest)
        #expect(await bench.directory.scan().map(\.id).sorted() == ["\(MeterID.um)", "\(MeterID.tc)"].sorted())
        #expect(bench.sightings.watched.isEmpty)
        _ = try await bench.directory.disconnect("losses")
        #expect(try await bench.status(of: Self.losses).state == "not-connected")
        #expect(await bench.leave() == .none)
    }

    @Test func slowestPart_givesTheRate() async throws {
        let bench = try await Self.bench(store, ["losses": "charger.power - laptop.power"])
        try await Self.plugInBoth(bench)
        _ = try await bench.directory.set(["poll-interval": "5s"], for: "laptop")
        bench.host.loop.advance(by: .seconds(60))
        let before = try await bench.status(of: Self.losses).counters.readings
        bench.host.loop.advance(by: .seconds(60))

        let status = try await bench.status(of: Self.losses)
        #expect((11...13).contains(status.counters.readings - before))
        #expect(status.state == "data-available" && status.reading?.reading[.power] != nil)
        #expect(await bench.leave() == .none)
    }

    /// A value that lacks a part is unknown; a meter that lacks all has no data, and nothing runs for it.
    @Test func partsThatGo_areNamed_andComeBack() async throws {
        let bench = try await Self.bench(store, ["losses": "charger.power - laptop.power"])
        #expect(try await bench.status(of: Self.losses).error == "no meter here is called \"charger\"")
        #expect(try await bench.status(of: Self.losses).name == "losses")
        #expect(bench.host.loop.timersRun(in: .seconds(3600)) == 0)
        try await Self.plugInBoth(bench)
        bench.host.loop.advance(by: .seconds(5))

        await Self.unplug(bench, .tc66c, .tc, Self.laptopPort)
        bench.host.loop.advance(by: .seconds(5))
        var status = try await bench.status(of: Self.losses)
        #expect(status.state == "data-available")
        #expect(status.reading.map { $0.reading.supported.contains(.power) && $0.reading[.power] == nil } == true)
        #expect(status.error == "\"laptop\" is offline, so the value is unknown")

        await Self.unplug(bench, .um25c, .um, .port)
        status = try await bench.status(of: Self.losses)
        #expect((status.state, status.error) == ("offline", "\"charger\" is offline"))
        let readings = status.counters.readings
        bench.host.loop.advance(by: .seconds(60))
        #expect(try await bench.status(of: Self.losses).counters.readings == readings)

        try await bench.plugIn(.um25c)
        try await bench.plugIn(.tc66c, id: .tc, at: Self.laptopPort)
        bench.host.loop.advance(by: .seconds(5))
        status = try await bench.status(of: Self.losses)
        #expect((status.state, status.error) == ("data-available", nil))
        #expect(status.reading?.reading[.power] != nil)

        // A meter that is silent over its open link, and one that is forgotten.
        bench.host.links.setFaults(SimulatorFaults(.silence), at: Self.laptopPort)
        bench.host.loop.advance(by: .seconds(10))
        #expect(try await bench.status(of: Self.losses).reading?.reading[.power] == nil)
        _ = try await bench.directory.forget("charger", readings: false)
        status = try await bench.status(of: Self.losses)
        #expect((status.state, status.error) == ("offline", "no meter here is called \"charger\""))
        #expect(await bench.leave() == .none)
    }

    @Test func formula_followsTheNamesOfMeters() async throws {
        let bench = try await Self.bench(store, ["losses": "charger.power", "twice": "losses.power * 2"])
        try await Self.plugInBoth(bench)
        bench.host.loop.advance(by: .seconds(3))
        #expect(try await bench.status(of: Self.losses).state == "data-available")
        let twice = try await bench.status(of: .port(host: "pi", path: "twice"))
        #expect((twice.state, twice.error) == ("offline", "\"losses\" is computed itself"))

        _ = try await bench.directory.set(["name": "supply"], for: "charger")
        #expect(try await bench.status(of: Self.losses).error == "no meter here is called \"charger\"")
        _ = try await bench.directory.set(["name": "Charger"], for: "laptop")
        bench.host.loop.advance(by: .seconds(3))
        let status = try await bench.status(of: Self.losses)
        #expect(status.state == "data-available")
        #expect(status.reading?.reading[.power] == Self.round(try await bench.status(of: .tc).reading?.reading[.power]))
        #expect(await bench.leave() == .none)
    }

    /// No other host could compute it, so nobody is asked.
    @Test func computedMeter_needsNoLease() async throws {
        let gate = OpenGate()
        let bench = try await Self.bench(store, ["losses": "charger.power - laptop.power"], gate: gate)
        try await Self.plugInBoth(bench)
        bench.host.loop.advance(by: .seconds(3))
        #expect(try await bench.status(of: Self.losses).state == "data-available")

        let next = OpenGate()
        await bench.directory.use(next)
        bench.host.loop.advance(by: .seconds(3))
        #expect(try await bench.status(of: Self.losses).state == "data-available")
        #expect(gate.asked == [.um, .tc] && next.asked == [.um, .tc])
        #expect(await bench.leave() == .none)
    }

    @Test func meterWhoseFormulaIsGone_saysSo() async throws {
        let bench = try await Self.bench(store, ["losses": "charger.power"])
        #expect(await bench.leave() == .none)

        let next = DirectoryBench(store)
        try await next.directory.restore()
        let status = try await next.status(of: Self.losses)
        #expect(status.error == "meterd.toml has no [meter.losses] any more. Put it back, or forget the meter.")
        #expect(status.state == "offline" && next.sightings.watched.isEmpty)
        _ = try await next.directory.forget("losses", readings: false)
        #expect(await next.directory.status().isEmpty)
        #expect(await next.leave() == .none)
    }
}

/// A gate that permits each link without a lease.
private final class OpenGate: LinkGate {
    private let state = Mutex((asked: Set<MeterID>(), tell: [MeterID: @Sendable (LinkVerdict) -> Void]()))

    var asked: Set<MeterID> { state.withLock { $0.asked } }

    func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?) {
        state.withLock { $0.tell[meter] = tell }
    }

    func ask(for meter: MeterID, _ intent: LeaseIntent, over transport: LeaseTransport, isUp: Bool) {
        let tell = state.withLock { state in
            state.asked.insert(meter)
            return state.tell[meter]
        }
        tell?(.permitted(.unleased))
    }

    func linkUp(_ meter: MeterID) {}
    func channelClosed(_ meter: MeterID, _ end: ChannelEnd) {}
    func cancel(_ meter: MeterID) {}
    var role: HostRole { .full }
    func lease(of meter: MeterID) -> LeaseStatus { LeaseStatus(.unleased) }
    func searchTime(for meter: MeterID) -> Duration { .seconds(30) }
    func givenBack(_ meter: MeterID) async {}
    func look() async -> [MeterID: LeaseStatus] { [:] }
}
