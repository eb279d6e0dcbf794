package import Domain
package import Gateway
package import GatewayAPI
package import Hummingbird

/// Sends changes to open pages at most twice a second, each encoded once for all pages.
///
/// The feed queries only the parts that `ChangeMarks` marks as changed, but every 15 s all parts. This renews the
/// interest in other hosts' readings before it expires, and updates the counters of adapters and store, whose changes
/// are never marked. A slow page loses messages and then receives the whole state.
package final class LiveFeed: Sendable {
    package struct Sources: Sendable {
        package var meters: @Sendable () async -> [MeterStatus]
        /// Returns the meters marked as changed, or all meters, and removes the marks.
        package var taken: @Sendable (_ all: Bool) async -> [MeterStatus]
        package var host: @Sendable () async -> LiveBody

        package init(
            meters: @escaping @Sendable () async -> [MeterStatus],
            taken: @escaping @Sendable (_ all: Bool) async -> [MeterStatus],
            host: @escaping @Sendable () async -> LiveBody
        ) {
            (self.meters, self.taken, self.host) = (meters, taken, host)
        }
    }

    package static let interval = Duration.milliseconds(500)

    /// Longest time without an event. A page may regard a connection as closed after a longer silence.
    package static let silenceMax = Duration.seconds(15)

    private let sources: Sources
    private let changes: ChangeMarks
    private let loop: any SessionLoop
    private let feed = Feed<ByteBuffer>()
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init(_ sources: Sources, changes: ChangeMarks, loop: any SessionLoop) {
        self.sources = sources
        self.changes = changes
        self.loop = loop
    }

    /// Sends changes until its task is cancelled, which ends every stream.
    package func run() async {
        var told: TelemetryState?
        var alarm = Alarm(on: loop)
        for await _ in wake.stream {
            guard feed.hasListeners else {
                changes.take(waking: nil)
                told = nil
                alarm.cancel()
                continue
            }
            let now = loop.now
            if told.map({ now >= $0.lookedAt + Self.interval && (now >= $0.isDueAt || !changes.isEmpty) }) ?? true {
                let event = await look(at: now, &told)
                if let event { feed.yield(event) }
            }
            guard let told else { continue }
            alarm.cancel()
            alarm.set(to: changes.isEmpty ? told.isDueAt : told.lookedAt + Self.interval, ring)
        }
        changes.take(waking: nil)
        alarm.cancel()
        feed.finish()
    }

    private var ring: @Sendable () -> Void { { [wake] in wake.continuation.yield() } }

    package var hasListeners: Bool { feed.hasListeners }

    package func response(for request: Request) async throws -> Response {
        let events = events()
        return try await Response.events(for: request) { write in
            try await write(try await self.whole())
            for await event in events {
                try await write(event.missed == 0 ? event.value : try await self.whole())
            }
        }
    }

    /// Subscribes to the changes. The first subscriber also receives the whole state; later ones receive only changes.
    package func events() -> Feed<ByteBuffer>.Subscription {
        defer { wake.continuation.yield() }
        return feed.subscribe(buffer: 4)
    }

    private func whole() async throws -> ByteBuffer {
        var body = await sources.host()
        body.meters = await sources.meters()
        body.at = loop.wallNow.millisecondsSince1970
        return try Response.event("all", body)
    }

    /// Queries the parts that are marked as changed, or all parts every `silenceMax`. Returns the event to send; nil
    /// for none.
    private func look(at now: MonotonicTime, _ told: inout TelemetryState?) async -> ByteBuffer? {
        let marked = changes.take(waking: ring)
        let isDue = told.map { now >= $0.isDueAt } ?? true
        let isZone = isDue || marked.contains(.zone)
        var news = isDue || marked.contains(.host) ? await sources.host() : told?.host ?? LiveBody(at: 0)
        news.meters = isZone || marked.contains(.sessions) ? await sources.taken(isZone) : nil
        news.at = loop.wallNow.millisecondsSince1970
        let event = told?.take(news, isEveryMeter: isZone, isDue: isDue, at: loop.now)
        if event == nil { told = TelemetryState(news, at: loop.now) }
        told?.lookedAt = loop.now
        if isDue { told?.isDueAt = loop.now + Self.silenceMax }
        // Send nothing if JSON cannot encode a value, such as NaN.
        guard let event else { return try? Response.event("all", news) }
        guard event.isEmpty else { return try? Response.event("changes", event) }
        return isDue ? ByteBuffer(string: ": nothing new\n\n") : nil
    }
}

private struct TelemetryState {
    private var meters: [String: (status: MeterStatus, at: MonotonicTime)] = [:]
    private(set) var host: LiveBody
    var lookedAt = MonotonicTime.origin
    var isDueAt = MonotonicTime.origin

    init(_ whole: LiveBody, at now: MonotonicTime) {
        host = whole
        host.meters = nil
        for meter in whole.meters ?? [] { meters[meter.id] = (meter, now) }
    }

    /// Stores the new state and returns the differences, without values that pages compute by themselves. Nil if a part
    /// was removed, so that the whole state has to be sent.
    ///
    /// - Parameters:
    ///   - isEveryMeter: whether a meter missing in `news` was removed.
    ///   - isDue: whether to include changed counts of adapters and store.
    mutating func take(_ news: LiveBody, isEveryMeter: Bool, isDue: Bool, at now: MonotonicTime) -> LiveBody? {
        if isEveryMeter {
            let ids = Set((news.meters ?? []).map(\.id))
            guard meters.keys.allSatisfy(ids.contains), news.sync != nil || host.sync == nil else { return nil }
        }
        var body = LiveBody(at: news.at)
        for meter in news.meters ?? []
        where meters[meter.id].map({ meter.isNews(after: $0.status, now - $0.at) }) ?? true {
            meters[meter.id] = (meter, now)
            body.meters = (body.meters ?? []) + [meter]
        }
        func tell<Part: Hashable>(_ path: WritableKeyPath<LiveBody, Part?>, _ telling: (Part) -> Part = { $0 }) {
            let part = news[keyPath: path]
            guard part.map(telling) != host[keyPath: path].map(telling) else { return }
            (body[keyPath: path], host[keyPath: path]) = (part, part)
        }
        tell(\.adapters) { isDue ? $0 : $0.map(\.withoutCounts) }
        tell(\.store) { isDue ? $0 : $0.withoutCounts }
        tell(\.cloud)
        tell(\.sync) { $0.withoutTimes }
        tell(\.refresh_version)
        tell(\.alerts_raised)
        return body
    }
}

extension MeterStatus {
    /// Returns whether the status must be sent to a page that has `old` and updates ages and remaining times by itself.
    fileprivate func isNews(after old: MeterStatus, _ elapsed: Duration) -> Bool {
        let passed = elapsed.milliseconds
        // Returns whether a time differs from the page's by more than 100 ms, the tolerance for building a status.
        func jumped(_ time: KeyPath<MeterStatus, Int64?>, by passed: Int64) -> Bool {
            guard let new = self[keyPath: time], let old = old[keyPath: time] else { return false }
            return abs(new - max(0, old + passed)) > 100
        }
        return withoutTimes != old.withoutTimes || jumped(\.age_ms, by: passed) || jumped(\.retry_in_ms, by: -passed)
            || jumped(\.searching_ms, by: -passed) || jumped(\.lease?.remaining_ms, by: -passed)
    }

    private var withoutTimes: MeterStatus {
        var copy = self
        (copy.age_ms, copy.retry_in_ms) = (age_ms.map { _ in 0 }, retry_in_ms.map { _ in 0 })
        copy.searching_ms = searching_ms.map { _ in 0 }
        copy.lease?.remaining_ms = lease?.remaining_ms.map { _ in 0 }
        return copy
    }
}

extension AdapterStatus {
    fileprivate var withoutCounts: AdapterStatus {
        var copy = self
        (copy.heard, copy.dropped, copy.discovery_ms) = (0, 0, 0)
        return copy
    }
}

extension StoreStatus {
    fileprivate var withoutCounts: StoreStatus {
        var copy = self
        (copy.unsaved, copy.saved) = (0, 0)
        copy.backup?.age_ms = nil
        return copy
    }
}

extension SyncStatusBody {
    fileprivate var withoutTimes: SyncStatusBody {
        var copy = self
        (copy.full_retry_in_ms, copy.retry_in_ms, copy.poll_in_ms) = (nil, nil, nil)
        (copy.stream_age_ms, copy.push_age_ms) = (nil, nil)
        copy.result?.age_ms = 0
        return copy
    }
}
