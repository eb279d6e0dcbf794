import Cloud
import CloudAPI
import CloudClient
import CloudHosting
import CloudServer
import Domain
import FoundationEssentials
import GatewayAPI
import LinuxIO
import Logging
import ServerKit
import ServiceLifecycle

/// The cloud served by this meterd (`[cloud] serve = true`, or `--demo`), in a subfolder of the state directory.
struct EmbeddedCloud {
    private let settings: Configuration.Cloud
    private let connections: ConnectionBounds
    private let backups: BackupSettings
    private let cloud: HostedCloud
    private let certificate: ServerCertificate

    /// Creates folder, certificate, zone and first access token if they are missing.
    init(
        path: String, settings: Configuration.Cloud, connections: ConnectionBounds,
        backups: BackupSettings = BackupSettings(), logger: Logger
    ) async throws {
        try Folder.make(path, mode: 0o700)
        self.settings = settings
        self.connections = connections
        self.backups = backups
        let listen = settings.listen
        cloud = try HostedCloud(folder: CloudFolder(path: path), logger: logger)
        _ = try await cloud.prepareFirstZone()
        var names = Set([HostName.system, "localhost", "127.0.0.1", "::1"] + IPAddress.ofThisMachine())
        if !IPAddress.isAny(listen.host) { names.insert(listen.host) }
        certificate = try cloud.folder.certificate(names: names, at: cloud.clock.wallNow())
    }

    enum Event {
        case running(port: Int)
        /// The server could not listen. It retries.
        case unserved(ListenFailure)
    }

    func services(
        tell: @escaping @Sendable (Event) -> Void
    ) throws -> [ServiceGroupConfiguration.ServiceConfiguration] {
        var serving = HostedCloud.Serving(
            host: settings.listen.host, port: settings.listen.port, certificate: certificate,
            connections: connections, proxies: settings.proxies, version: VersionBody.current.version)
        serving.backups = backups
        return try cloud.services(
            serving,
            unserved: { [listen = settings.listen] error in
                let failure = ListenFailure(
                    error, at: IPAddress.authority(listen.host, listen.port), setting: "[cloud] listen in meterd.toml"
                ) { PortHolder.program(listeningOn: listen.port)?.description }
                tell(.unserved(failure))
            },
            onRunning: { tell(.running(port: $0)) })
    }

    func close() { cloud.close() }

    /// Returns once the cloud's store has processed a request (`HostedCloud.turn`).
    func turn() async { await cloud.turn() }

    /// Returns the request with which this host joins its own cloud; nil if the file with the access token is missing.
    func joinRequest(port: Int) -> CloudJoinRequest? {
        // Without the file, which a user may remove, no host joins automatically.
        guard let text = try? String(contentsOfFile: cloud.folder.enrolmentTokenPath, encoding: .utf8) else {
            return nil
        }
        let token = text.filter { !$0.isWhitespace }
        return CloudJoinRequest(urls: [ownURL(port: port)], token: token, pin: certificate.pin.description)
    }

    private func ownURL(port: Int) -> String {
        let host = IPAddress.isAny(settings.listen.host) ? "127.0.0.1" : settings.listen.host
        return "https://\(IPAddress.authority(host, port))"
    }

    /// Returns the new URL for a member whose stored URLs no longer reach this cloud, because of a change of `listen`
    /// or a random port; nil if none is needed.
    func newURL(for membership: CloudMembership, port: Int) -> String? {
        guard membership.pin == certificate.pin, !membership.urls.contains(where: { leadsHere($0, port) }) else {
            return nil
        }
        return ownURL(port: port)
    }

    private func leadsHere(_ url: String, _ port: Int) -> Bool {
        guard let rest = url.split(separator: "://", maxSplits: 1).last, let authority = URLAuthority(rest),
            authority.port.map(Int.init) == port
        else { return false }
        // Any host name may refer to one of this machine's addresses.
        guard let address = IPAddress.bytes(of: authority.host), !IPAddress.isAny(settings.listen.host) else {
            return true
        }
        return address == IPAddress.bytes(of: settings.listen.host)
    }

    func offers(port: Int) -> [OfferedService] {
        if IPAddress.isLoopback(settings.listen.host) { return [] }
        return [AnnouncedCloud.offer(port: port, pin: certificate.pin, version: VersionBody.current.version)]
    }

    func joinLine(port: Int) -> String {
        let host = IPAddress.isAny(settings.listen.host) ? HostName.system : settings.listen.host
        let url = "https://\(IPAddress.authority(host, port))"
        return "meterctl cloud join \(url) --token-file \(cloud.folder.enrolmentTokenPath) --pin \(certificate.pin)"
    }
}
