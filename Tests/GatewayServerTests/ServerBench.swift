import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import HummingbirdTesting
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// The routes over a directory on virtual dependencies, with one UM25C.
struct ServerBench {
    static let id = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))
    static let path = "/dev/ttyUSB0"

    let loop = VirtualLoop()
    let links: SimulatedLinks
    let access = ScriptedAccess()
    let store: MeterStore
    let log = LogBook()
    let settings: SettingsService
    let recorder: SampleRecorder
    let recordings: RecordingService
    let marks: MarkService
    let alerts: AlertService
    /// What happened to the meter.
    let happened: LogKeeper
    let directory: MeterDirectory
    let routes: MeterRoutes

    init(
        repository: (any MeterRepository)? = nil, notifier: any AlertNotifier = SilentNotifier(),
        radios: (any RadioSource)? = nil
    ) {
        let changes = ChangeMarks()
        store = .temporary(through: access)
        links = SimulatedLinks(loop: loop)
        let meters = Meters()
        let counts = EnergyCounts(meters: meters, repository: store)
        let recorder = SampleRecorder(
            meters: meters, repository: store, counts: counts, loop: loop, changes: changes, logger: log.logger)
        self.recorder = recorder
        settings = SettingsService(
            repository: repository as? any SettingsRepository ?? store, changes: changes,
            now: { [loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) }, logger: log.logger)
        recordings = RecordingService(
            host: .temporary, meters: meters, repository: store, imports: store,
            settings: settings, loop: loop, logger: log.logger)
        marks = MarkService(
            host: .temporary, settings: settings, repository: store, wallNow: { [loop] in loop.wallNow })
        alerts = AlertService(
            meters: meters, repository: store, notifier: notifier, changes: changes, loop: loop, logger: log.logger)
        happened = LogKeeper(meters: meters, repository: store, loop: loop, logger: log.logger)
        var dependencies = MeterDirectory.Dependencies(
            loop: loop, opener: links, ports: ScriptedSightings(), repository: repository ?? store, settings: settings,
            meters: meters, recorder: recorder, hostID: "pi", makeRNG: { SplitMix64(seed: 7) })
        dependencies.radios = radios
        (dependencies.recordings, dependencies.marks, dependencies.counts) = (recordings, marks, counts)
        (dependencies.alerts, dependencies.log) = (alerts, happened)
        directory = MeterDirectory(dependencies: dependencies, logger: log.logger)
        routes = MeterRoutes(
            directory: directory, version: VersionBody(version: "1.2.3", commit: "abc1234", build: "release"),
            alertsRaised: { [alerts] in alerts.raisedCount }
        ) {
            recorder.status(path: "/var/lib/meterd/meterd.sqlite")
        }
    }

    /// Stored readings, and those that are not stored yet.
    var series: SeriesService {
        SeriesService(repository: store, recorder: recorder, wallNow: { [loop] in loop.wallNow })
    }

    /// Takes files of up to so many stored bytes.
    func imports(storeBytesMax: Int64 = 1 << 30) -> ImportService {
        ImportService(
            repository: store, recordings: recordings, wallNow: { [loop] in loop.wallNow },
            limits: ImportService.Limits(storeBytesMax: storeBytesMax), logger: log.logger)
    }

    /// The log of this host and, if there is a link, of others.
    func zoneLog(shares: Bool = true, link: (any LogLink)? = nil) -> ZoneLog {
        ZoneLog(
            keeper: happened, directory: directory, settings: settings, marks: marks,
            host: LeaseKeeper.Identity(
                host: .temporary, hostName: "alpha",
                session: SessionID(high: 1, low: 1)),
            shares: shares, link: { link },
            now: { [loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) })
    }

    /// Plugs the UM25C in.
    func plugIn() async throws {
        links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: Self.path)
        let sighting = Sighting(id: Self.id, model: .um25c, name: nil, link: .serial(path: Self.path))
        await directory.handle(.appeared(sighting))
    }

    /// The same, with data.
    func connect() async throws {
        try await plugIn()
        _ = try await directory.connect("\(Self.id)", ConnectRequest())
        loop.advance(by: .seconds(1))
    }

    /// One request to the router.
    func request(
        _ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil, with others: [any RouteGroup] = []
    ) async throws -> Answer {
        try await Application(router: routes.router(with: others)).test(.router) { client in
            try await client.execute(uri: uri, method: method, body: body.map { ByteBuffer(string: $0) }) { response in
                Answer(
                    status: response.status.code, contentType: response.headers[.contentType],
                    text: String(buffer: response.body), allow: response.headers[.allow])
            }
        }
    }

    /// The route of the UM25C.
    static func meter(_ rest: String = "") -> String { "/v1/meters/02%3A00%3A00%3A00%3A25%3A0C\(rest)" }
}

struct Answer {
    var status: Int
    var contentType: String?
    var text: String
    /// The methods that its path takes, where it was asked with another.
    var allow: String?

    func decode<Body: Decodable>(_ type: Body.Type = Body.self) throws -> Body {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    var error: ErrorBody? {
        // A body that is no error shows as nil in the test.
        try? decode(ErrorBody.self)
    }

    /// The keys of the answer's object, and of an object inside it.
    func keys(of inner: String? = nil) throws -> Set<String> {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        guard let inner else { return Set(object.keys) }
        return Set(try #require(object[inner] as? [String: Any]).keys)
    }
}
