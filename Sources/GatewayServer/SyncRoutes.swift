import Domain
package import Gateway
package import GatewayAPI
package import Hummingbird

/// State and control of the sync engine: `/v1/sync`, and `/v1/refreshes`.
package struct SyncRoutes: RouteGroup {
    private let settings: SettingsService
    private let engine: @Sendable () async -> SyncEngine?

    /// - Parameter engine: nil if this host belongs to no cloud.
    package init(settings: SettingsService, engine: @escaping @Sendable () async -> SyncEngine?) {
        self.settings = settings
        self.engine = engine
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("sync") { _, _ in try JSON.response(await status(of: try await joined())) }
        api.post("sync") { request, _ in
            let body = try await JSON.decode(SyncRequest.self, from: request)
            let engine = try await joined()
            if body.detach == true {
                engine.trigger(.asked)
                return try JSON.response(await status(of: engine))
            }
            guard let result = await engine.synchronise() else { throw Self.left }
            return try JSON.response(SyncResultBody(result, now: await engine.report().now))
        }
        api.post("sync/cancel") { _, _ in
            let engine = try await joined()
            engine.cancel()
            return try JSON.response(await status(of: engine))
        }
        api.post("sync/resume") { _, _ in
            let engine = try await joined()
            engine.resume()
            return try JSON.response(await status(of: engine))
        }
        api.get("sync/events") { request, _ in
            try await Response.lines(of: try await joined().events.subscribe(buffer: 4096), for: request) { item in
                SyncEventLine(
                    number: item.value.number, uptime_ms: item.value.time.sinceOrigin.milliseconds,
                    time: item.value.wall.map { "\($0)" }, event: item.value.text,
                    missed: item.missed > 0 ? item.missed : nil)
            }
        }
        api.get("refreshes") { request, _ in
            try await Response.lines(of: settings.refreshes.subscribe(buffer: 1), for: request) { item in
                RefreshLine(refresh_version: item.value)
            }
        }
    }

    private func joined() async throws(GatewayError) -> SyncEngine {
        guard let engine = await engine() else { throw Self.left }
        return engine
    }

    private static var left: GatewayError {
        GatewayError(
            .refused, "this host belongs to no cloud, so there is nothing to sync with",
            next: "meterctl cloud join URL --token-file FILE")
    }

    private func status(of engine: SyncEngine) async -> SyncStatusBody {
        await SyncStatusBody(of: engine, settings)
    }
}

extension SyncStatusBody {
    init(of engine: SyncEngine, _ settings: SettingsService) async {
        self.init(await engine.report())
        refresh_version = await settings.refreshVersion
    }
}

extension SyncStatusBody {
    package init(_ report: SyncReport) {
        let (status, now) = (report.status, report.now)
        func until(_ time: MonotonicTime?) -> Int64? { time.map { max(0, ($0 - now).milliseconds) } }
        func since(_ time: MonotonicTime?) -> Int64? { time.map { max(0, (now - $0).milliseconds) } }
        self.init(
            zone: status.zone, mode: status.mode.rawValue, stream: status.stream.name,
            counters: Counters(status.counters))
        (pending, parked) = (status.queue.pending, status.queue.parked)
        role = status.role?.rawValue
        (held_back, full) = (status.queue.heldBack, status.fullness?.failure.message)
        full_retry_in_ms = until(status.fullness?.retryAt)
        put_off = status.queue.putOff
            .map { PutOff(type: $0.key.type.rawValue, name: $0.key.name, reason: $0.value.message) }
            .sorted { ($0.type, $0.name) < ($1.type, $1.name) }
        unread = status.queue.unread.map(\.rawValue)
        refetching = status.queue.refetching.map(\.rawValue).sorted()
        last_success_ms = status.lastSuccess?.millisecondsSince1970
        (again, cancelling, failures) = (status.isAgainWanted, status.isCancelling, status.failures)
        error = status.halt?.failure.message ?? status.lastSyncError?.message
        halt = status.halt?.advice
        (retry_in_ms, poll_in_ms) = (until(status.nextRetry), until(status.nextPoll))
        if case .open(_, let heard) = status.stream { stream_age_ms = since(heard) }
        push_age_ms = since(status.lastPush)
        clock_behind_ms = status.serverOffset?.offset.milliseconds
        clock_error_ms = status.serverOffset?.error.milliseconds
        epoch = status.epoch
        network = report.network.map {
            Network(satisfied: $0.isSatisfied, interface: $0.interface, kind: $0.kind.map { "\($0)" })
        }
        result = status.lastResult.map { SyncResultBody($0, now: now) }
    }
}

extension SyncStatusBody.Counters {
    fileprivate init(_ counters: SyncCounters) {
        self.init()
        (runs, complete, failed) = (counters.runs, counters.complete, counters.failed)
        (cancelled, polls, polls_skipped) = (counters.cancelled, counters.polls, counters.pollsSkipped)
        (pages, batches, splits) = (counters.pages, counters.batches, counters.splits)
        (parked, stream_openings) = (counters.parked, counters.streamOpenings)
    }
}

extension SyncStream {
    fileprivate var name: String {
        switch self {
        case .closed: "closed"
        case .opening: "opening"
        case .open: "open"
        case .waiting: "waiting"
        }
    }
}

extension SyncResultBody {
    init(_ result: SyncResult, now: MonotonicTime) {
        var (end, error, next): (String, String?, String?) = ("complete", nil, nil)
        switch result.end {
        case .complete: break
        case .partial: end = "partial"
        case .cancelled: end = "cancelled"
        case .failed(let failure): (end, error) = ("failed", failure.message)
        case .halted(let halt): (end, error, next) = ("halted", halt.failure.message, halt.advice)
        }
        let types = RecordType.known.compactMap { type in
            result.counts[type].map { counts in
                Counts(
                    type: type.rawValue, pushed: counts.pushed, fetched: counts.fetched, unchanged: counts.unchanged,
                    parked: counts.parked)
            }
        }
        self.init(
            run: result.run, trigger: result.trigger.rawValue, age_ms: max(0, (now - result.startedAt).milliseconds),
            duration_ms: result.duration.milliseconds, end: end, was_cancelled: end == "cancelled",
            skipped: types.reduce(0) { $0 + $1.unchanged + $1.parked }, types: types)
        self.error = error
        self.next = next
    }
}
