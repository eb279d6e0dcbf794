import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Meters that a person wants removed, and ids that nobody gives any more.
@Suite(.timeLimit(.minutes(10)))
struct ForgettingTests {
    private let store = MeterStore.temporary()
    private let bench: DirectoryBench

    init() { bench = DirectoryBench(store) }

    @Test func forgottenMeter_isGoneWithItsSettings() async throws {
        try await bench.directory.restore()
        _ = try await bench.directory.connect("/dev/ttyUSB9", ConnectRequest(model: "um25c", id: "\(MeterID.um)"))
        _ = try await bench.directory.set(["name": "Slip"], for: "\(MeterID.um)")

        let gone = try await bench.directory.forget("slip", readings: false)

        #expect(gone.id == "\(MeterID.um)" && gone.name == "Slip" && gone.settings && gone.readings == nil)
        #expect(await bench.directory.status().isEmpty)
        #expect(try await store.meters().isEmpty && bench.sightings.watched.isEmpty)
        #expect(try await bench.store.record(.settings(of: .um))?.isTombstone == true)
        #expect(await bench.failure { try await $0.connect("slip", ConnectRequest()) }?.code == .noSuchMeter)
        #expect(await bench.leave() == .none)
    }

    @Test func forgottenMeter_isDisconnectedFirst_andAppearsAnew_whenItIsHere() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        _ = try await bench.directory.set(["name": "Bench"], for: "\(MeterID.um)")
        bench.host.loop.advance(by: .seconds(3))
        #expect(bench.host.links.openChannels == 1)

        let gone = try await bench.directory.forget("bench", readings: true)

        #expect(gone.is_here && gone.readings == 0)
        #expect(bench.host.links.openChannels == 0)
        let status = try await bench.status()
        #expect(status.state == "not-connected" && !status.wanted && status.name == nil)
        #expect(await bench.leave() == .none)
    }

    @Test func forgottenAlias_meansTheMeterNoMore() async throws {
        try await bench.plugIn(.um25c)
        try await bench.settings.add(alias: .tc, of: .um)

        let gone = try await bench.directory.forget("\(MeterID.um)", readings: false)

        #expect(gone.aliases == ["\(MeterID.tc)"])
        #expect(try await bench.settings.aliases().isEmpty)
        #expect(await bench.leave() == .none)
    }

    @Test func idThatNamesTheHost_meansTheMeterThatItIsNow_andIsListedNoMore() async throws {
        let old = MeterID.port(host: "raspberrypi", path: .port)
        let new = old.given(by: HostID(high: 0x4000, low: 1))
        let next = DirectoryBench()
        try await next.store.save(KnownMeter(id: new))
        try StoreFile(next.store.path).edit("INSERT INTO former_id (former, id) VALUES ('\(old)', '\(new)')")
        _ = try await next.settings.set(["name": "Old"], of: old, for: nil)
        try await next.directory.restore()

        #expect(try await next.directory.meter("port:raspberrypi:/dev/ttyUSB0") == new)
        #expect(try await next.settings.meters().isEmpty)
        #expect(try await next.directory.forget("\(old)", readings: false).settings)
        #expect(try await next.store.record(.settings(of: old))?.isTombstone == true)
        #expect(await next.leave() == .none)
    }
}
