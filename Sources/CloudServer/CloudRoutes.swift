package import Cloud
import CloudAPI
package import Domain
package import Hummingbird
import Logging
package import ServerKit

/// Routes of Docs/openapi.yaml.
package struct CloudRoutes: Sendable {
    let service: CloudService
    let gate: RequestGate
    let tally: RequestTally
    let clock: CloudClock
    let makeToken: @Sendable () -> BearerToken
    let health: StoreHealth
    let figures: @Sendable (inout MetricsPage) async throws -> Void
    let version: String

    /// - Parameters:
    ///   - version: of the program, for `/v1/health`.
    ///   - health: if nil, the store is healthy when it can list its zones.
    ///   - figures: adds the metrics of the engine and the process for `/metrics`.
    package init(
        service: CloudService, gate: RequestGate, clock: CloudClock, version: String,
        tally: RequestTally = RequestTally(), health: StoreHealth? = nil,
        makeToken: @escaping @Sendable () -> BearerToken,
        figures: @escaping @Sendable (inout MetricsPage) async throws -> Void = { _ in }
    ) {
        self.service = service
        self.gate = gate
        self.clock = clock
        self.version = version
        self.tally = tally
        self.health =
            health
            ?? StoreHealth(
                look: { [service] _ in _ = try await service.zones() }, now: clock.now, logger: Logger(label: "cloud"))
        self.makeToken = makeToken
        self.figures = figures
    }

    package func router() -> Router<CloudRequestContext> {
        let router = Router(context: CloudRequestContext.self)
        router.add(middleware: TallyMiddleware(tally: tally, now: clock.now))
        router.add(middleware: CloudErrorMiddleware(health: health))
        for route in CloudRoute.allCases {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await respond(to: Call(route: route, request: request, context: context))
            }
        }
        return router
    }

    private func respond(to call: Call) async throws -> Response {
        if call.route.isForCopies { return try await respondCopy(call) }
        guard call.route.needsToken else {
            try gate.admit(address: call.context.address)
            return call.route == .health ? try await health(call) : try await metricsPage()
        }
        let principal = try await authenticate(call)
        if call.route.access == .changing { try principal.checkMayChange() }
        switch call.route {
        case .health, .metrics, .copyNews, .copyQuestion: return Response(status: .notFound)
        case .join: return try await join(call, by: principal)
        case .account: return try JSON.response(try await service.account(of: principal))
        case .createZone:
            let body = try await JSON.decodeIfThere(ZoneRequest.self, from: call.request)
            try await service.createZone(try call.zone, body ?? ZoneRequest(zoneID: nil), by: principal)
            return try JSON.response(try await service.account(of: principal))
        case .modifyRecords, .changes: return try await respondRecords(call, by: principal)
        case .events: return try await events(call, by: principal)
        case .retireHost:
            return try JSON.response(try await service.retire(try call.host, in: try call.zone, by: principal))
        case .leases, .renewLeases, .acquireLease, .releaseLease, .revokeLease, .enqueue, .leaveQueue:
            return try await respondLeases(call, by: principal)
        case .watchReadings, .relayReadings, .commandMeter, .claimCommand, .answerCommand:
            return try await respondRelay(call, by: principal)
        case .meterLog, .answerLog: return try await respondLog(call, by: principal)
        }
    }

    private func authenticate(_ call: Call) async throws -> Principal {
        let principal: Principal
        do throws(CloudFailure) {
            principal = try await service.authenticate(
                hash: try call.token.hash, zone: call.route.isAboutLeases ? try? call.zone : nil)
        } catch {
            if error.code == .notAuthenticated { try gate.admit(address: call.context.address) }
            throw error
        }
        call.context.tell(.known)
        try gate.admit(credential: principal.credential.id, isRelay: call.route == .relayReadings)
        return principal
    }

    // MARK: The cloud itself

    /// Reports the store's health. With `?live`, reports only that the process runs: a failing store is no reason for a
    /// supervisor to restart it.
    private func health(_ call: Call) async throws -> Response {
        if call.query("live") == nil, let fault = await health.fault() {
            throw CloudFailure(.serviceUnavailable, fault, retryAfter: .seconds(10))
        }
        let warning = call.query("live") == nil ? await health.warning : nil
        return try JSON.response(HealthBody(status: "ok", version: version, warning: warning))
    }

    private func metricsPage() async throws -> Response {
        var page = MetricsPage()
        page.addInfo(CloudMetrics.build, [version])
        tally.tell(&page)
        page.add(CloudMetrics.streams, count: gate.streams)
        let copies = service.copyCounts
        page.add(CloudMetrics.copies, count: copies.known)
        page.add(CloudMetrics.silentCopies, count: copies.silent)
        page.add(CloudMetrics.storeHealthy, count: await health.fault() == nil ? 1 : 0)
        try await figures(&page)
        return Response(
            status: .ok, headers: [.contentType: MetricsPage.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page.text)))
    }

    private func join(_ call: Call, by principal: Principal) async throws -> Response {
        let body = try await JSON.decode(JoinRequest.self, from: call.request)
        let token = makeToken()
        let shown = (body.oldTokens ?? []).prefix(CloudLimits.oldTokens).compactMap { BearerToken(text: $0)?.hash }
        return try JSON.response(
            try await service.join(
                body, by: principal, newToken: (text: token.text, hash: token.hash), showing: shown))
    }

    // MARK: Records

    private func respondRecords(_ call: Call, by principal: Principal) async throws -> Response {
        let zone = try call.zone
        guard call.route == .modifyRecords else {
            return try JSON.response(
                try await service.changes(
                    type: try call.required("type"), since: call.query("since"), limit: try call.limit, in: zone,
                    by: principal))
        }
        let body = try await JSON.decode(ModifyRequest.self, from: call.request)
        return try JSON.response(try await service.modify(body, in: zone, by: principal))
    }

    // MARK: Leases

    private func respondLeases(_ call: Call, by principal: Principal) async throws -> Response {
        let zone = try call.zone
        switch call.route {
        case .leases: return try JSON.response(try await service.leases(in: zone, by: principal))
        case .renewLeases:
            let body = try await JSON.decode(RenewRequest.self, from: call.request)
            return try JSON.response(try await service.renew(body, in: zone, by: principal))
        default: return try JSON.response(try await lease(call, meter: try call.meter, in: zone, by: principal))
        }
    }

    private func lease(
        _ call: Call, meter: String, in zone: String, by principal: Principal
    ) async throws -> LeaseBody {
        switch call.route {
        case .acquireLease:
            let body = try await JSON.decode(AcquireRequest.self, from: call.request)
            return try await service.acquire(body, meter: meter, in: zone, by: principal)
        case .releaseLease:
            let body = try await JSON.decode(ReleaseRequest.self, from: call.request)
            return try await service.release(body, meter: meter, in: zone, by: principal)
        case .revokeLease: return try await service.revoke(meter: meter, in: zone, by: principal)
        case .enqueue: return try await service.enqueue(meter: meter, in: zone, by: principal)
        case .leaveQueue: return try await service.leaveQueue(meter: meter, in: zone, by: principal)
        default: throw CloudFailure(.notFound, "\(call.request.uri.path) is not a call about a lease")
        }
    }
}

private struct TallyMiddleware: RouterMiddleware {
    typealias Context = CloudRequestContext

    let tally: RequestTally
    let now: @Sendable () -> MonotonicTime

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let began = now()
        let response = try await next(request, context)
        // This has no effect on a client that has presented a valid token before.
        context.tell(.stranger)
        let route = CloudRoute.allCases.first {
            $0.method == request.method && $0.path == context.endpointPath
        }
        tally.count(route, status: response.status.code, duration: now() - began)
        return response
    }
}
