import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// A directory on a virtual host. Two of them on the same repositories are one daemon before and after a restart.
struct DirectoryBench {
    let host: VirtualHost
    let sightings = ScriptedSightings()
    let repository: InMemorySettings
    let settings: SettingsService
    let directory: MeterDirectory
    /// What happened to the meters.
    let happened: LogKeeper

    /// - Parameter failing: makes the settings repository fail too.
    init(
        _ repository: any MeterRepository, settings records: InMemorySettings = InMemorySettings(),
        failing: FailingRepository? = nil, on host: VirtualHost = VirtualHost(), gate: (any LinkGate)? = nil,
        recordings: RecordingService? = nil, counts: EnergyCounts? = nil, alerts: AlertService? = nil,
        log: LogKeeper? = nil
    ) {
        self.host = host
        self.repository = records
        settings = SettingsService(
            repository: failing ?? records,
            now: { [loop = host.loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) }, logger: host.log.logger)
        happened = log ?? LogKeeper(repository: host.store, loop: host.loop, logger: host.log.logger)
        let dependencies = MeterDirectory.Dependencies(
            loop: host.loop, opener: host.links, ports: sightings, repository: repository, settings: settings,
            recorder: host.recorder, recordings: recordings, counts: counts ?? host.counts,
            alerts: alerts, log: happened, hostID: "pi",
            makeRNG: { SplitMix64(seed: 7) },
            gate: gate)
        directory = MeterDirectory(dependencies: dependencies, logger: host.log.logger)
    }

    /// Plugs in a simulated meter, which the watcher reports.
    func plugIn(_ model: ModelName, id: MeterID = .um, at path: String = .port, name: String? = nil) async throws {
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(model)), at: path)
        await directory.handle(.appeared(.of(model, id: id, at: path, name: name)))
    }

    /// Applies settings as a page from the cloud does: another host wrote them for the UM25C a minute from now.
    func receive(_ values: [String: SettingValue]) async throws {
        let other = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)
        let written = UInt64(clamping: (host.loop.wallNow + .seconds(60)).millisecondsSince1970)
        let stamp = Stamp(milliseconds: written, counter: 0, host: other)
        let record = SyncRecord(
            key: .settings(of: .um), properties: values.mapValues { Register(value: $0, stamp: stamp) })
        let page = ChangesPage(type: .deviceSettings, records: [record], token: "t", moreComing: false, epoch: "e")
        await settings.merged(try await repository.apply(page))
    }

    func status(of id: MeterID = .um) async throws -> MeterStatus {
        try #require(await directory.status().first { $0.id == "\(id)" })
    }

    func leave() async -> Leftovers {
        await directory.shutdown()
        return Leftovers(on: host.loop, host.links)
    }

    /// The error that a request ends with, if any.
    func failure(_ request: (MeterDirectory) async throws -> some Sendable) async -> GatewayError? {
        do {
            _ = try await request(directory)
            return nil
        } catch {
            return error as? GatewayError
        }
    }
}
