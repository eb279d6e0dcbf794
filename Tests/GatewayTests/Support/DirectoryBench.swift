import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import Testing

/// A directory on a virtual host. Two of them on one store are one daemon before and after a restart.
struct DirectoryBench {
    let host: VirtualHost
    let sightings = ScriptedSightings()
    let store: MeterStore
    let settings: SettingsService
    let directory: MeterDirectory
    /// What happened to the meters.
    let happened: LogKeeper

    /// - Parameters:
    ///   - store: by default the host's.
    ///   - meters: by default in the store.
    ///   - records: the settings, by default in the store.
    ///   - formulas: of computed meters, by name.
    init(
        _ store: MeterStore? = nil, meters: (any MeterRepository)? = nil,
        settings records: (any SettingsRepository)? = nil,
        on host: VirtualHost? = nil, gate: (any LinkGate)? = nil,
        recordings: RecordingService? = nil, counts: EnergyCounts? = nil, alerts: AlertService? = nil,
        log: LogKeeper? = nil, otherKeepers: [any MeterKeeping] = [], formulas: [String: Formula] = [:]
    ) {
        let host = host ?? VirtualHost(store: store)
        let store = store ?? host.store
        self.host = host
        self.store = store
        settings = SettingsService(
            repository: records ?? store,
            now: { [loop = host.loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) }, logger: host.log.logger)
        happened =
            log ?? LogKeeper(meters: host.meters, repository: host.store, loop: host.loop, logger: host.log.logger)
        let computed = ComputedMeters(formulas, on: host.loop)
        let openers: [LinkAddress.Transport: any ChannelOpener] = [.serial: host.links, .computed: computed]
        let opener: any ChannelOpener =
            formulas.isEmpty ? host.links : ChannelOpeners(openers, loop: host.loop)
        var dependencies = MeterDirectory.Dependencies(
            loop: host.loop, opener: opener, ports: sightings, repository: meters ?? store, settings: settings,
            meters: host.meters, recorder: host.recorder, hostID: "pi", makeRNG: { SplitMix64(seed: 7) })
        (dependencies.recordings, dependencies.counts) = (recordings, counts ?? host.counts)
        (dependencies.alerts, dependencies.log) = (alerts, happened)
        (dependencies.otherKeepers, dependencies.gate) = (otherKeepers, gate)
        dependencies.computed = formulas.isEmpty ? nil : computed
        directory = MeterDirectory(dependencies: dependencies, logger: host.log.logger)
    }

    /// Plugs in a simulated meter, which the watcher reports.
    func plugIn(_ model: ModelName, id: MeterID = .um, at path: String = .port, name: String? = nil) async throws {
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(model)), at: path)
        await directory.handle(.appeared(.of(model, id: id, at: path, name: name)))
    }

    /// Applies settings as a page from the cloud does: another host wrote them for the UM25C a minute from now.
    func receive(_ values: [String: SettingValue]) async throws { await settings.merged(try await apply(values)) }

    /// Has the store merge such settings, of which nobody is told yet.
    func apply(_ values: [String: SettingValue]) async throws -> MergeOutcome {
        let other = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)
        let written = UInt64(clamping: (host.loop.wallNow + .seconds(60)).millisecondsSince1970)
        let stamp = Stamp(milliseconds: written, counter: 0, host: other)
        let record = SyncRecord(
            key: .settings(of: .um), properties: values.mapValues { Register(value: $0, stamp: stamp) })
        let page = ChangesPage(type: .deviceSettings, records: [record], token: "t", moreComing: false, epoch: "e")
        return try await store.apply(page)
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
