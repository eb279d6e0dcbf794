import Cloud
import CloudAPI
import CloudHosting
import CloudServer
import FoundationEssentials
import GatewayAPI
import LinuxIO
import Logging
import ServerKit
import ServiceLifecycle

/// The cloud served by this meterd itself (`[cloud] serve = true`, and the demo): as `metercloud serve`, in a subfolder
/// of the state directory.
struct EmbeddedCloud {
    private let settings: Configuration.Cloud
    private let connections: ConnectionBounds
    private let cloud: HostedCloud
    private let certificate: ServerCertificate

    /// Opens the store, and creates folder, certificate, zone and the first token if they are missing.
    ///
    /// - Parameter connections: limits on their number at a time.
    init(
        path: String, settings: Configuration.Cloud, connections: ConnectionBounds, logger: Logger
    ) async throws {
        try Folder.make(path, mode: 0o700)
        self.settings = settings
        self.connections = connections
        let listen = settings.listen
        cloud = try HostedCloud(folder: CloudFolder(path: path), logger: logger)
        _ = try await cloud.prepareFirstZone()
        var names = Set([HostName.system, "localhost", "127.0.0.1", "::1"] + IPAddress.ofThisMachine())
        if !IPAddress.isAny(listen.host) { names.insert(listen.host) }
        certificate = try cloud.folder.certificate(names: names, at: cloud.clock.wallNow())
    }

    /// - Parameter onRunning: called with the port once hosts can connect.
    func services(
        onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws -> [ServiceGroupConfiguration.ServiceConfiguration] {
        try cloud.services(
            HostedCloud.Serving(
                host: settings.listen.host, port: settings.listen.port, certificate: certificate,
                connections: connections, proxies: settings.proxies, version: VersionBody.current.version),
            onRunning: onRunning)
    }

    func close() { cloud.close() }

    /// Returns once the store has done something.
    func turn() async { await cloud.turn() }

    /// The request by which this very host joins. Nil if somebody removed the token's file.
    func joinRequest(port: Int) -> CloudJoinRequest? {
        // Without the file, a person decides who joins, including this host.
        guard let text = try? String(contentsOfFile: cloud.folder.enrolmentTokenPath, encoding: .utf8) else {
            return nil
        }
        let token = text.filter { !$0.isWhitespace }
        let host = IPAddress.isAny(settings.listen.host) ? "127.0.0.1" : settings.listen.host
        let url = "https://\(IPAddress.authority(host, port))"
        return CloudJoinRequest(urls: [url], token: token, pin: certificate.pin.description)
    }

    /// The command line that joins another host, for people to copy.
    func joinLine(port: Int) -> String {
        let host = IPAddress.isAny(settings.listen.host) ? HostName.system : settings.listen.host
        let url = "https://\(IPAddress.authority(host, port))"
        return "meterctl cloud join \(url) --token-file \(cloud.folder.enrolmentTokenPath) --pin \(certificate.pin)"
    }
}
