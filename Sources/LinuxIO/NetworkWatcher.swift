import CLinux
package import Domain
import Glibc

/// Watches the route to the cloud. Checks it on reports of the kernel, and regularly, because reports can be lost.
package final class NetworkWatcher: NetworkMonitor {
    private let loop: IOLoop
    private let host: String
    private let recheck: Duration

    /// - Parameter host: the cloud's name or numeric address.
    package init(loop: IOLoop, host: String, recheck: Duration = .seconds(30)) {
        self.loop = loop
        self.host = host
        self.recheck = recheck
    }

    package func run(_ report: @escaping @Sendable (NetworkPath) -> Void) async {
        let watch = NetworkWatch(loop: loop, host: host, recheck: recheck, report: report)
        await watch.start()
        // Waits until the task is cancelled.
        for await _ in AsyncStream<Never>.makeStream().stream {}
        await watch.stop()
    }
}

/// Runs on the loop's thread, because its sockets use that thread's network namespace.
private actor NetworkWatch {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: IOLoop
    private let host: String
    private let recheck: Duration
    private let report: @Sendable (NetworkPath) -> Void
    private var socket: FileDescriptor?
    private var timer: LoopTimer?
    private var last: NetworkPath?
    private var addresses: [String]?
    private var isResolving = false
    private var isStopped = false
    private var buffer = [UInt8](repeating: 0, count: 32 * 1024)

    /// Documentation addresses (RFC 5737, RFC 3849), covered by the default route. They replace the address of an
    /// unresolved name.
    private static let standIns = ["192.0.2.1", "2001:db8::1"]

    init(loop: IOLoop, host: String, recheck: Duration, report: @escaping @Sendable (NetworkPath) -> Void) {
        self.loop = loop
        self.host = host
        self.recheck = recheck
        self.report = report
        addresses = NetworkRoute.isNumeric(host) ? [host] : nil
    }

    func start() {
        let number = cl_open_route_socket()
        // Without a socket, as in a strict sandbox, only the regular check remains.
        if number >= 0 { listen(on: FileDescriptor(owning: number)) }
        look()
        arm()
    }

    func stop() {
        isStopped = true
        if let timer { loop.cancel(timer) }
        close()
    }

    private func listen(on socket: FileDescriptor) {
        do {
            try loop.register(socket, .readable) { [weak self] _ in
                guard let self else { return }
                self.assumeIsolated { $0.hear() }
            }
            self.socket = socket
        } catch {
            socket.close()
        }
    }

    private func close() {
        guard let socket else { return }
        loop.unregister(socket)
        socket.close()
        self.socket = nil
    }

    private func hear() {
        guard let socket else { return }
        var isNews = false
        // Bounded, so that many changes do not delay the meters.
        for _ in 0..<64 {
            do {
                guard let count = try buffer.withUnsafeMutableBytes({ try socket.read(into: $0) }), count > 0 else {
                    break
                }
                isNews =
                    isNews || buffer.withUnsafeBytes { Self.isNews(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            } catch {
                // ENOBUFS means lost messages, so check the route. Any other error would repeat immediately, so also
                // close the socket.
                isNews = true
                if (error as? Errno)?.isLostMessages != true { close() }
                break
            }
        }
        if isNews { look() }
    }

    private static func isNews(_ bytes: UnsafeRawBufferPointer) -> Bool {
        NetlinkMessage.decode(bytes).contains {
            switch $0 {
            case .link, .linkGone, .address, .addressGone, .route, .routeGone, .overrun, .malformed: true
            case .failure, .other: false
            }
        }
    }

    private func look() {
        let paths = (addresses ?? Self.standIns).lazy.map { NetworkRoute.path(to: $0) }
        let path = paths.first { $0.isSatisfied } ?? .lost
        if path.isSatisfied, addresses == nil { resolve() }
        guard path != last else { return }
        last = path
        report(path)
    }

    private func resolve() {
        guard !isResolving else { return }
        isResolving = true
        let (host, loop) = (host, loop)
        BackgroundThread.run { [self] in
            let found = NetworkRoute.resolve(host)
            loop.execute { self.assumeIsolated { $0.resolved(found) } }
        }
    }

    private func resolved(_ found: [String]) {
        isResolving = false
        guard !isStopped, !found.isEmpty else { return }
        addresses = found
        look()
    }

    private func arm() {
        timer = loop.schedule(at: loop.now + recheck) { [weak self] in
            guard let self else { return }
            self.assumeIsolated { watch in
                guard !watch.isStopped else { return }
                watch.look()
                watch.arm()
            }
        }
    }
}

extension Errno {
    fileprivate var isLostMessages: Bool { code == ENOBUFS }
}
