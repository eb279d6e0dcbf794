import CloudServer
import GatewayServer
import Glibc
import LinuxIO
import ServerKit
import ServiceLifecycle

extension WebPage.Dependencies {
    /// The page of one host, as configured.
    init(_ configuration: Configuration, hostName: String) {
        let own = [HostName.system, "\(HostName.system).local", hostName]
        self.init(
            host: configuration.web.listen.host, port: configuration.web.listen.port,
            names: WebNames(own + configuration.web.names), hostName: HostName.system, files: .built(),
            repository: WebOpeningFile(path: "\(configuration.stateDirectory)/web.json"),
            users: LocalUsers(
                peer: { socket(of: $0) },
                mayChange: { [path = configuration.socketPath] in isOfSocketsGroup($0, path) }),
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow }, makeRNG: { SystemRandomNumberGenerator() },
            // If cancelled, it ends at once, as a pause should.
            pause: { try? await ContinuousClock().sleep(for: .seconds(10)) })
        portHolder = { PortHolder.program(listeningOn: $0)?.description }
        limits.connections = DescriptorBudget(descriptors: DescriptorLimit.raise(), hasPage: true).page
    }
}

/// The socket at the other end of a loopback connection.
private func socket(of connection: WebConnection) -> WebPeer? {
    guard let client = IPAddress.plainBytes(of: connection.client),
        let server = IPAddress.plainBytes(of: connection.server),
        let socket = LocalPeer.socket(
            of: .init(address: client, port: connection.clientPort),
            to: .init(address: server, port: connection.serverPort))
    else { return nil }
    return WebPeer(user: socket.user, socket: socket.inode)
}

/// Whether a user might use the control socket as well: root, the user that runs this program, and members of its
/// group.
private func isOfSocketsGroup(_ user: UInt32, _ socketPath: String) -> Bool {
    if user == 0 || user == geteuid() { return true }
    guard let group = UserGroups.group(ofFile: socketPath) else { return false }
    return UserGroups.isMember(user, of: group)
}

/// Sends changes to the open pages, and serves the page, until shutdown, which cuts its connections.
struct LiveService: Service {
    let live: LiveFeed
    /// Nil if this host serves no page.
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
