import CloudServer
import Domain
import GatewayServer
import Glibc
import LinuxIO
import Logging
import ProgramKit
import ServerKit
import ServiceLifecycle
import SystemBus

extension WebPage.Dependencies {
    init(_ configuration: Configuration, hostName: String, logger: Logger) {
        let own = [HostName.system, "\(HostName.system).local", hostName]
        self.init(
            host: configuration.web.listen.host, port: configuration.web.listen.port,
            names: WebNames(own + configuration.web.names), hostName: HostName.system, files: .built(),
            repository: WebOpeningFile(path: "\(configuration.stateDirectory)/web.json"),
            users: LocalUsers(
                peer: { socket(of: $0) },
                mayChange: { [path = configuration.socketPath] in isOfSocketsGroup($0, path) }),
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow }, makeRNG: { SystemRandomNumberGenerator() },
            pause: { try? await ContinuousClock().sleep(for: .seconds(10)) })
        proxies = configuration.web.proxies
        ingress = configuration.web.ingress.map {
            WebIngress(host: $0.host, port: $0.port, mayChange: configuration.web.ingressChanges)
        }
        portHolder = { PortHolder.program(listeningOn: $0)?.description }
        limits.connections = DescriptorBudget(descriptors: DescriptorLimit.raise(), hasPage: true).page
        tls = Self.tls(configuration, names: own + configuration.web.names, logger: logger)
    }

    /// Returns nil if only plain HTTP is served.
    private static func tls(_ configuration: Configuration, names: [String], logger: Logger) -> TLSKeeper? {
        let web = configuration.web
        if let certificatePath = web.certificatePath, let keyPath = web.keyPath {
            return TLSKeeper(
                CertificateFiles(certificatePath: certificatePath, keyPath: keyPath), .given,
                wallNow: { LinuxClock.wallNow }, logger: logger)
        }
        guard web.tls == .selfSigned else { return nil }
        let folder = configuration.stateDirectory
        return TLSKeeper(
            CertificateFiles(certificatePath: "\(folder)/web-certificate.pem", keyPath: "\(folder)/web-key.pem"),
            .own(.web) {
                let addresses = IPAddress.ofThisMachine()
                // IPv6 addresses may change daily, and each new certificate has another fingerprint. So only a missing
                // IPv4 address requires a new certificate.
                let (lasting, passing) = (addresses.filter { !$0.contains(":") }, addresses.filter { $0.contains(":") })
                return (Set(names + ["localhost", "127.0.0.1", "::1"] + lasting), more: Set(passing))
            }, wallNow: { LinuxClock.wallNow }, logger: logger)
    }
}

extension CertificateTerms {
    /// Terms of the web page's own certificate. Apple's systems refuse more than 825 days
    /// (<https://support.apple.com/en-us/103769>).
    fileprivate static let web = CertificateTerms(commonName: "meterd", daysValid: 820, renewalDays: 30)
}

extension Configuration {
    func announcer(of program: String, on loop: IOLoop, _ logger: Logger) -> (any Announcer)? {
        guard discovery.announces else { return nil }
        return AvahiAnnouncer(loop: loop, name: "\(program) on \(HostName.system)") { $0.log(to: logger) }
    }
}

/// Returns the client's user and socket; nil for a connection from another machine.
private func socket(of connection: WebConnection) -> WebPeer? {
    guard let client = IPAddress.plainBytes(of: connection.client),
        let server = IPAddress.plainBytes(of: connection.server),
        let socket = LocalPeer.socket(
            of: .init(address: client, port: connection.clientPort),
            to: .init(address: server, port: connection.serverPort))
    else { return nil }
    return WebPeer(user: socket.user, socket: socket.inode)
}

/// Whether a user may also use the control socket: root, this program's user, and members of the socket's group.
private func isOfSocketsGroup(_ user: UInt32, _ socketPath: String) -> Bool {
    if user == 0 || user == geteuid() { return true }
    guard let group = UserGroups.group(ofFile: socketPath) else { return false }
    return UserGroups.isMember(user, of: group)
}

struct LiveService: Service {
    let live: LiveFeed
    /// Nil if this host serves no web page.
    let page: WebPage?

    func run() async throws {
        await cancelWhenGracefulShutdown { [page, live] in
            await withDiscardingTaskGroup { group in
                group.addTask { await live.run() }
                if let page { group.addTask { await page.run() } }
            }
        }
    }
}
