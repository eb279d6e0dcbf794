import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import Testing

/// A device that looks like a meter and goes as it came, such as a neighbour's gadget, leaves nothing behind: through
/// the real directory, recorder, recordings and lease keeper.
@Suite(.timeLimit(.minutes(10)))
struct PassersByTests {
    private let zone = LeaseBench(.keep)
    private let host: LeaseHost
    private let recordings: RecordingService
    private let bench: DirectoryBench

    init() {
        host = zone.host(1)
        let settings = SettingsService(
            repository: host.host.store, now: { [loop = zone.loop] in .init(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: host.host.log.logger)
        recordings = RecordingService(
            host: host.keeper.identity.host, meters: host.host.meters, repository: host.host.store,
            settings: settings, loop: zone.loop,
            logger: host.host.log.logger)
        bench = DirectoryBench(
            on: host.host, gate: host.keeper, recordings: recordings)
    }

    @Test func threeThousand_leaveEveryListAndTheWorkOfAStatus_asTheyWere() async throws {
        try await bench.directory.restore()
        await zone.advance(by: .seconds(1), host)
        try await bench.plugIn(.um25c)
        let before = try await Lists(of: self)
        var passed: [WeakSession] = []

        for number in 0..<3000 {
            let sighting = try passerBy(number)
            await bench.directory.handle(.appeared(sighting))
            passed.append(WeakSession(try await bench.directory.session("\(sighting.id)")))
            await bench.directory.handle(.heard(sighting.id, sighting.link, rssi: -90))
            var merge = MergeOutcome(changed: [.settings(of: sighting.id)])
            merge.present = [SyncRecord(key: .settings(of: sighting.id))]
            merge.number = UInt64(number) + 1
            await bench.settings.merged(merge)
            if number == 0 { #expect(try await Lists(of: self) != before) }
            await bench.directory.handle(.vanished(sighting))
            // Finds a list that grows before it makes the rest take long.
            if number == 100 { try #require(await Lists(of: self) == before) }
        }

        #expect(try await Lists(of: self) == before)
        #expect(passed.allSatisfy { $0.session == nil })
        try await leave()
    }

    @Test func passerByUnderAnotherID_goesToo() async throws {
        try await bench.directory.restore()
        let (alias, meter) = (try passerBy(1), try passerBy(2).id)
        try await bench.settings.add(alias: alias.id, of: meter)

        await bench.directory.handle(.appeared(alias))
        #expect(await bench.directory.status().map(\.id) == ["\(meter)"])
        await bench.directory.handle(.vanished(alias))

        #expect(await bench.directory.status().isEmpty && bench.host.meters.all.isEmpty)
        try await leave()
    }

    @Test func recordedPasserBy_isRecordedOn_andGoesWithTheEndOfThat() async throws {
        let sighting = try passerBy(1)
        await bench.directory.handle(.appeared(sighting))
        _ = try await recordings.start(sighting.id, name: nil)

        await bench.directory.handle(.vanished(sighting))
        #expect(await bench.directory.status().isEmpty && bench.host.meters.all == [sighting.id])
        #expect(try await recordings.stop(sighting.id).end == .hand)

        #expect(bench.host.meters.all.isEmpty)
        try await leave()
    }

    /// A grant that is on its way when its meter goes is released all the same.
    @Test func meterThatGoesWhileItIsAskedFor_keepsNoLease() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        let forgetting = Task { [directory = bench.directory] in
            try await directory.forget("\(MeterID.um)", readings: false)
        }
        _ = try await zone.advance(until: forgetting, host)

        await zone.advance(by: .seconds(5), host)

        #expect(zone.zone.holder(of: .um) == nil)
        try await leave()
    }

    /// Takes one turn of the loop, however many meters there are, so that none changes while others are looked at.
    @Test func statusOfManyMeters_isOneLookAtAll() async throws {
        try await bench.plugIn(.um25c)
        let one = await workOfAStatus()
        for number in 0..<20 { await bench.directory.handle(.appeared(try passerBy(number))) }

        #expect(await bench.directory.status().count == 21)
        #expect(await workOfAStatus() == one)
        try await leave()
    }

    private func passerBy(_ number: Int) throws -> Sighting {
        let address = MACAddress(bits: 0xC000_0000_0000 + UInt64(number))
        let adapter = MACAddress(bits: 0x001A_7DDA_7113)
        return Sighting(
            id: .mac(address), model: nil, name: "neighbour",
            link: .ble(RadioLink(address: address, isRandom: false, adapter: adapter)))
    }

    /// How often the loop is used for one status.
    fileprivate func workOfAStatus() async -> Int {
        let before = zone.loop.jobsRun
        _ = await bench.directory.status()
        return zone.loop.jobsRun - before
    }

    private func leave() async throws {
        await bench.directory.shutdown()
        #expect(try await zone.leave(host) == .none)
    }

    /// What is stored for each meter, in every place that stores something.
    private struct Lists: Equatable {
        var listed: [String]
        var support: Int
        var names: [String?]
        var recorded: [MeterID]
        var recordings: [MeterID]
        var leases: [MeterID]
        var timers: Int
        var work: Int

        init(of tests: PassersByTests) async throws {
            let directory = tests.bench.directory
            listed = await directory.status().map(\.id)
            support = await directory.support().meters.count
            names = await directory.scan().map(\.name)
            recorded = tests.bench.host.meters.used
            recordings = tests.bench.host.meters.all
            leases = await tests.host.keeper.meters
            timers = tests.zone.loop.pendingTimers
            work = await tests.workOfAStatus()
        }
    }
}

private struct WeakSession {
    weak var session: DeviceSession?

    init(_ session: DeviceSession) { self.session = session }
}
