import Cloud
import CloudAPI
import CloudServer
import CloudStore
import FoundationEssentials
import GatewayAPI
import LinuxIO
import Logging
import MeterModel
import ServiceLifecycle

/// The cloud, where this meterd serves it itself (`[cloud] serve = true`, and the demo): the same service, store and
/// routes as `metercloud serve`, in a folder of the state directory.
struct EmbeddedCloud {
    private let folder: CloudFolder
    private let listen: Configuration.Cloud.Listen
    private let engine: SQLiteCloudEngine
    private let service: CloudService
    private let clock: CloudClock
    private let certificate: ServerCertificate
    private let logger: Logger

    /// Opens the store, and makes folder, certificate, zone and the first token where they are missing.
    init(path: String, listen: Configuration.Cloud.Listen, logger: Logger) async throws {
        try Folder.make(path, mode: 0o700)
        folder = CloudFolder(path: path)
        self.listen = listen
        self.logger = logger
        clock = CloudClock(
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow },
            sleep: { time in try await ContinuousClock().sleep(for: max(.zero, time - LinuxClock.now)) })
        var dice = SystemRandomNumberGenerator()
        engine = try SQLiteCloudEngine.open(directory: path, now: clock.now(), dice: &dice)
        service = CloudService(engine: engine, clock: clock, dice: SystemRandomNumberGenerator(), logger: logger)
        _ = try await folder.prepareFirstZone(of: service, makeToken: Self.makeToken)
        let names = Set([Host.systemName, "localhost", "127.0.0.1", "::1"] + IPAddress.ofThisMachine())
        certificate = try folder.certificate(names: names, at: clock.wallNow())
    }

    /// - Parameter onRunning: called once hosts can connect, with the port.
    func services(
        onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws -> [ServiceGroupConfiguration.ServiceConfiguration] {
        let routes = CloudRoutes(
            service: service, gate: RequestGate(limits: RequestGate.Limits(), now: clock.now), clock: clock,
            version: VersionBody.current.version, makeToken: Self.makeToken)
        let application = CloudApplication(
            routes: routes, host: listen.host, port: listen.port, tls: try certificate.tlsConfiguration(),
            logger: logger)
        return [
            .init(service: CloudRounds(service: service)),
            .init(service: try application.service(onRunning: onRunning)),
            .init(service: CloudStreamEnder(service: service)),
        ]
    }

    func close() throws { try engine.close() }

    /// How this very host joins; nil where somebody took the token's file away.
    func joinRequest(port: Int) -> CloudJoinRequest? {
        // Without the file a person decides who joins, this host included.
        guard let text = try? String(contentsOfFile: folder.enrolmentTokenPath, encoding: .utf8) else { return nil }
        let token = text.filter { !$0.isWhitespace }
        return CloudJoinRequest(urls: ["https://127.0.0.1:\(port)"], token: token, pin: certificate.pin.description)
    }

    /// The line that joins another host, for people to copy.
    func joinLine(port: Int) -> String {
        let host = listen.host == "0.0.0.0" || listen.host == "::" ? Host.systemName : listen.host
        let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        return "meterctl cloud join https://\(authority) --token-file \(folder.enrolmentTokenPath) --pin "
            + "\(certificate.pin)"
    }

    @Sendable private static func makeToken() -> BearerToken {
        var dice = SystemRandomNumberGenerator()
        return BearerToken(using: &dice)
    }
}
