package import Domain
package import Gateway
package import GatewayAPI
package import Hummingbird
package import Logging
import NIOCore
package import ServerKit
import ServiceLifecycle

/// Address and credentials of a page that is open to the network. Stored across restarts.
package struct WebOpening: Hashable, Sendable {
    package var host: String
    package var port: Int
    package var credentials: WebCredentials

    package init(host: String, port: Int, credentials: WebCredentials) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

package protocol WebOpeningRepository: Sendable {
    /// Nil if the page is not open to the network.
    func read() throws(GatewayError) -> WebOpening?
    func write(_ opening: WebOpening) throws(GatewayError)
    func remove() throws(GatewayError)
}

/// Serves the web page on loopback or, once a person has opened it, on the network with a login. Retries while its port
/// is in use.
package actor WebPage {
    package struct Dependencies: Sendable {
        /// Loopback address, used unless the page is open to the network.
        package var host: String
        package var port: Int
        package var names: WebNames
        package var proxies: [IPNetwork] = []
        package var hostName: String
        package var users: LocalUsers
        package var files: WebFiles
        package var repository: any WebOpeningRepository
        /// Announces the page in mDNS; nil if `[discovery] announce = false`.
        package var announcer: (any Announcer)?
        package var limits = WebServer.Limits()
        /// Listener for Home Assistant; nil outside Home Assistant.
        package var ingress: WebIngress?
        /// Nil if `[web] profiler = false`.
        package var profiler: Profiler?
        /// Nil for plain HTTP only.
        package var tls: TLSKeeper?
        package var now: @Sendable () -> MonotonicTime
        package var wallNow: @Sendable () -> WallTime
        package var makeRNG: @Sendable () -> any RandomNumberGenerator
        /// Pause between two attempts to listen. Ends early on cancellation.
        package var pause: @Sendable () async -> Void
        /// Returns a description of the program that listens on a port of this machine; nil if unknown.
        package var portHolder: @Sendable (_ port: Int) -> String? = { _ in nil }

        package init(
            host: String, port: Int, names: WebNames, hostName: String, files: WebFiles,
            repository: any WebOpeningRepository, users: LocalUsers,
            now: @escaping @Sendable () -> MonotonicTime, wallNow: @escaping @Sendable () -> WallTime,
            makeRNG: @escaping @Sendable () -> any RandomNumberGenerator, pause: @escaping @Sendable () async -> Void
        ) {
            self.host = host
            self.port = port
            self.names = names
            self.hostName = hostName
            self.files = files
            self.repository = repository
            self.users = users
            self.now = now
            self.wallNow = wallNow
            self.makeRNG = makeRNG
            self.pause = pause
        }
    }

    private struct Plan: Sendable {
        var number: Int
        var opening: WebOpening?
    }

    private let dependencies: Dependencies
    private let api: RouterResponder<BasicRequestContext>
    private let logger: Logger
    private let plans = AsyncStream.makeStream(of: Plan.self, bufferingPolicy: .bufferingNewest(1))
    private var plan = Plan(number: 0)
    private var stop: AsyncStream<Void>.Continuation?
    private var port: Int?
    /// Nil while the listener for Home Assistant does not run.
    package private(set) var ingressPort: Int?
    private var error: ListenFailure?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var isOver = false

    package init(_ dependencies: Dependencies, router: Router<BasicRequestContext>, logger: Logger) {
        self.dependencies = dependencies
        api = router.buildResponder()
        self.logger = logger
    }

    package func run() async {
        do throws(GatewayError) {
            change(to: try dependencies.repository.read())
        } catch {
            logger.error("web page not opened to the network", metadata: ["cause": "\(error)"])
            change(to: nil)
        }
        await withTaskGroup(of: Void.self) { group in
            if let ingress = dependencies.ingress { group.addTask { await self.serve(ingress) } }
            for await plan in plans.stream { await serve(plan) }
            group.cancelAll()
        }
        isOver = true
        settle()
    }

    // MARK: Requests from people

    /// Opens the page to the network with a new access token, which ends every login.
    package func enable(host: String, port: Int) async throws(GatewayError) -> WebStatus {
        var rng: any RandomNumberGenerator = dependencies.makeRNG()
        let token = Self.token(&rng)
        let opening = WebOpening(
            host: host, port: port == 0 ? dependencies.port : port, credentials: Self.credentials(for: token, &rng))
        try dependencies.repository.write(opening)
        change(to: opening)
        var status = await settled()
        status.token = token.text
        return status
    }

    /// Limits the page to this machine and ends every login.
    package func disable() async throws(GatewayError) -> WebStatus {
        try dependencies.repository.remove()
        change(to: nil)
        return await settled()
    }

    package func openProfiler(_ request: ProfilerRequest) async throws -> ProfilerBody {
        guard let profiler = dependencies.profiler else {
            throw GatewayError(
                .refused, "this meterd serves nothing to the Firefox Profiler",
                next: "set [web] profiler = true in meterd.toml")
        }
        let (path, duration) = try await profiler.open(request)
        let host = plan.opening?.host ?? dependencies.host
        // Browsers let an https page, such as profiler.firefox.com, read plain HTTP only from this machine, so prefer
        // loopback.
        let origin = origin(
            of: IPAddress.isAny(host) ? "127.0.0.1" : host, port ?? plan.opening?.port ?? dependencies.port)
        var body = ProfilerBody(url: origin + path.text)
        body.viewer = path.viewer.map { "\($0)/from-url/\(body.url.percentEncoded)/" }
        body.ends = duration.map { (dependencies.wallNow() + $0).description }
        logger.notice(
            "URL for the Firefox Profiler created",
            metadata: ["kind": "\(path.kind)", "meters": "\(request.meters.count)", "ends": "\(body.ends ?? "never")"])
        return body
    }

    package func closeProfiler() async -> WebStatus {
        await dependencies.profiler?.endAll()
        return await status()
    }

    package func status() async -> WebStatus {
        var status = listening()
        guard let state = await dependencies.announcer?.state() else { return status }
        if case .established(let name) = state { status.announced = name }
        (status.announcement_error, status.announcement_next) = (state.fault?.message, state.fault?.next)
        return status
    }

    private func listening() -> WebStatus {
        let host = plan.opening?.host ?? dependencies.host
        let port = port ?? plan.opening?.port ?? dependencies.port
        var urls: [String] = []
        if IPAddress.isAny(host) {
            // `0.0.0.0` accepts only IPv4, `::` both IPv4 and IPv6.
            let own = IPAddress.ofThisMachine().filter { host.contains(":") || !$0.contains(":") }
            urls = ([dependencies.hostName] + own).map { "\(origin(of: $0, port))/" }
        } else {
            urls = ["\(origin(of: host, port))/"]
        }
        var status = WebStatus(
            serving: self.port != nil, enabled: plan.opening != nil, listen: IPAddress.authority(host, port),
            urls: urls)
        (status.error, status.next) = (error?.message, error?.next)
        status.tls = dependencies.tls.map { WebTLSStatus($0.report(), at: dependencies.wallNow()) }
        if plan.opening != nil, dependencies.tls == nil, !IPAddress.isLoopback(host) {
            status.warning = "what crosses the network is not encrypted, the token included"
        }
        return status
    }

    /// Uses plain HTTP for loopback addresses.
    private func origin(of host: String, _ port: Int) -> String {
        let scheme = dependencies.tls == nil || IPAddress.isLoopback(host) ? "http" : "https"
        return "\(scheme)://\(IPAddress.authority(host, port))"
    }

    private static func token(_ rng: inout some RandomNumberGenerator) -> BearerToken { BearerToken(using: &rng) }

    private static func credentials(
        for token: BearerToken, _ rng: inout some RandomNumberGenerator
    ) -> WebCredentials { WebCredentials(for: token, using: &rng) }

    // MARK: The listener

    private func change(to opening: WebOpening?) {
        plan = Plan(number: plan.number + 1, opening: opening)
        (port, error) = (nil, nil)
        dependencies.announcer?.announce([])
        plans.continuation.yield(plan)
        stop?.finish()
    }

    private func serve(_ plan: Plan) async {
        guard plan.number == self.plan.number else { return }
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        self.stop = stop
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    await self.listen(plan)
                    if !Task.isCancelled { await self.dependencies.pause() }
                }
            }
            group.addTask { for await _ in stopped {} }
            await group.next()
            group.cancelAll()
        }
    }

    private func listen(_ plan: Plan) async {
        // Logins may have ended since the plan was made, so prefer the current plan's credentials.
        let opening = plan.number == self.plan.number ? self.plan.opening : plan.opening
        let logins = opening.map { opening in
            WebLogins(opening.credentials, makeRNG: dependencies.makeRNG) {
                (credentials: WebCredentials) async throws(GatewayError) in
                try await self.keep(credentials, of: plan)
            }
        }
        var limits = dependencies.limits
        limits.connections -= connectionsOfIngress
        let server = WebServer(
            responder: responder(
                for: logins.map { .login($0) } ?? .local(dependencies.users), proxies: dependencies.proxies,
                profiler: dependencies.profiler, hasTLS: dependencies.tls != nil),
            host: opening?.host ?? dependencies.host, port: opening?.port ?? dependencies.port, limits: limits,
            users: dependencies.users, tls: dependencies.tls, logger: logger)
        do {
            try await server.application { await self.listens(plan, on: $0) }.run()
        } catch {
            if !Task.isCancelled { failed(plan, error) }
        }
    }

    private func responder(
        for access: WebAccess, proxies: [IPNetwork], profiler: Profiler?, hasTLS: Bool
    ) -> WebResponder {
        let door = WebListener(access: access, now: dependencies.now, wallNow: dependencies.wallNow)
        return WebResponder(
            files: dependencies.files, names: dependencies.names, door: door,
            proxies: proxies, api: api, profiler: profiler, hasTLS: hasTLS, logger: logger)
    }

    /// Connections reserved for Home Assistant, whose users share one address.
    private var connectionsOfIngress: Int { dependencies.ingress == nil ? 0 : dependencies.limits.connections / 4 }

    /// Serves the page to Home Assistant's Supervisor, without profiles.
    private func serve(_ ingress: WebIngress) async {
        var limits = dependencies.limits
        limits.connections = max(1, connectionsOfIngress)
        limits.connectionsPerAddress = limits.connections
        let server = WebServer(
            responder: responder(
                for: .ingress(mayChange: ingress.mayChange), proxies: IPNetwork(ingress.peer).map { [$0] } ?? [],
                profiler: nil, hasTLS: false),
            host: ingress.host, port: ingress.port, onlyPeer: ingress.peer, limits: limits, users: dependencies.users,
            logger: logger)
        var isFirst = true
        while !Task.isCancelled {
            do {
                try await server.application { await self.servesIngress(on: $0, of: ingress.host) }.run()
            } catch {
                if isFirst, !Task.isCancelled { warn(ingress, error) }
                isFirst = false
            }
            ingressPort = nil
            if !Task.isCancelled { await dependencies.pause() }
        }
    }

    private func servesIngress(on port: Int, of host: String) {
        ingressPort = port
        logger.notice(
            "ingress for Home Assistant started", metadata: ["listen": "\(IPAddress.authority(host, port))"])
    }

    private func warn(_ ingress: WebIngress, _ cause: any Error) {
        let failure = ListenFailure(
            cause, at: IPAddress.authority(ingress.host, ingress.port), setting: "[web] ingress in meterd.toml",
            holder: { dependencies.portHolder(ingress.port) })
        logger.warning(
            "ingress server for Home Assistant cannot listen: retrying", metadata: ["cause": "\(failure.message)"])
    }

    /// Stores changed credentials, unless a newer plan has replaced `plan`.
    private func keep(_ credentials: WebCredentials, of plan: Plan) throws(GatewayError) {
        guard plan.number == self.plan.number, var opening = self.plan.opening else { return }
        opening.credentials = credentials
        self.plan.opening = opening
        try dependencies.repository.write(opening)
    }

    private func listens(_ plan: Plan, on port: Int) {
        guard plan.number == self.plan.number else { return }
        (self.port, error) = (port, nil)
        logger.notice(
            "web page started",
            metadata: ["url": "\(listening().urls.first ?? "")", "login": "\(plan.opening != nil)"])
        if let host = plan.opening?.host, !IPAddress.isLoopback(host) {
            dependencies.announcer?.announce(Self.offers(port: port, tls: dependencies.tls?.report()))
        }
        settle()
    }

    /// Returns the mDNS services to announce. The TXT key `path` of `_http._tcp` is from RFC 6763, section 6.6.
    package static func offers(port: Int, tls: TLSKeeper.Report?) -> [OfferedService] {
        let text = ["version=\(VersionBody.current.version)", "https=\(tls == nil ? 0 : 1)"]
        return [
            OfferedService(tls == nil ? "_http._tcp" : "_https._tcp", port: port, text: ["path=/"]),
            OfferedService(
                "_meterd._tcp", port: port, text: text + (tls?.fingerprint.map { ["sha256=\($0)"] } ?? [])),
        ]
    }

    private func failed(_ plan: Plan, _ cause: any Error) {
        guard plan.number == self.plan.number else { return }
        let isFirst = error == nil
        port = nil
        dependencies.announcer?.announce([])
        let failure = ListenFailure(
            cause, at: listening().listen,
            setting: plan.opening == nil ? "[web] listen in meterd.toml" : "meterctl web enable --listen",
            holder: { dependencies.portHolder(plan.opening?.port ?? dependencies.port) })
        error = failure
        if isFirst { logger.warning("web server cannot listen: retrying", metadata: ["cause": "\(failure.message)"]) }
        settle()
    }

    /// Waits until the page is served or its listener has failed to start.
    package func settled() async -> WebStatus {
        if port == nil, error == nil, !isOver { await withCheckedContinuation { waiters.append($0) } }
        return await status()
    }

    private func settle() {
        let ready = waiters
        waiters = []
        for waiter in ready { waiter.resume() }
    }
}

extension WebTLSStatus {
    fileprivate init(_ report: TLSKeeper.Report, at now: WallTime) {
        let left = report.end.map { $0.millisecondsSince1970 - now.millisecondsSince1970 }
        self.init(
            self_signed: report.isOwn, fingerprint: report.fingerprint, ends: report.end?.description,
            days_left: left.map { Int(($0 - ($0 < 0 ? 86_399_999 : 0)) / 86_400_000) }, error: report.error)
    }
}
