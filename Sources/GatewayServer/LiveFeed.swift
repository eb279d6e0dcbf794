package import Domain
package import Gateway
package import GatewayAPI
package import Hummingbird
import Synchronization

/// The events for open pages: every half second what changed about meters, adapters, cloud and sync, encoded once for
/// all of them.
///
/// Nothing is read while nobody listens. A page that does not keep up loses messages and then gets everything again;
/// nobody else slows down.
package final class LiveFeed: Sendable {
    /// Where the events come from.
    package struct Sources: Sendable {
        package var status: @Sendable () async -> GatewayStatus
        package var cloud: @Sendable () async -> CloudStatus
        /// Nil if the host belongs to no cloud.
        package var sync: @Sendable () async -> SyncReport?
        package var refreshVersion: @Sendable () async -> UInt64

        package init(
            status: @escaping @Sendable () async -> GatewayStatus, cloud: @escaping @Sendable () async -> CloudStatus,
            sync: @escaping @Sendable () async -> SyncReport?,
            refreshVersion: @escaping @Sendable () async -> UInt64
        ) {
            self.status = status
            self.cloud = cloud
            self.sync = sync
            self.refreshVersion = refreshVersion
        }
    }

    /// Least time between two events: they come twice a second at most, whatever the meters' own pace.
    package static let interval = Duration.milliseconds(500)

    /// Longest silence, after which a page may take the connection for dead.
    package static let silenceMax = Duration.seconds(15)

    private let sources: Sources
    private let loop: any SessionLoop
    private let feed = Feed<ByteBuffer>()
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let timer = Mutex<LoopTimer?>(nil)

    package init(_ sources: Sources, loop: any SessionLoop) {
        self.sources = sources
        self.loop = loop
    }

    /// Reads and sends until the task is cancelled, which ends every stream.
    package func run() async {
        var last: LiveSnapshot?
        var toldAt = loop.now
        for await _ in wake.stream {
            guard feed.hasListeners else {
                last = nil
                continue
            }
            let snapshot = await look()
            // What cannot be encoded as JSON, such as NaN, is sent once it is a number again.
            if let event = try? snapshot.event(since: last) {
                feed.yield(event)
                toldAt = snapshot.now
            } else if snapshot.now - toldAt >= Self.silenceMax {
                feed.yield(ByteBuffer(string: ": nothing new\n\n"))
                toldAt = snapshot.now
            }
            last = snapshot
            let next = loop.schedule(at: loop.now + Self.interval) { [wake] in wake.continuation.yield() }
            timer.withLock { $0 = next }
        }
        timer.withLock { timer in
            if let timer { loop.cancel(timer) }
            timer = nil
        }
        feed.finish()
    }

    package var hasListeners: Bool { feed.hasListeners }

    /// Everything as it is now, then what changes, as server-sent events, for as long as the page is open.
    package func response(for request: Request) async throws -> Response {
        let events = feed.subscribe(buffer: 4)
        wake.continuation.yield()
        return try await Response.events(for: request) { write in
            try await write(try await self.look().whole)
            for await event in events {
                try await write(event.missed == 0 ? event.value : try await self.look().whole)
            }
        }
    }

    private func look() async -> LiveSnapshot {
        async let status = sources.status()
        async let cloud = sources.cloud()
        async let sync = sources.sync()
        async let version = sources.refreshVersion()
        return await LiveSnapshot(
            at: loop.wallNow.millisecondsSince1970, now: loop.now, status: status, cloud: cloud,
            sync: sync.map { SyncStatusBody($0) },
            refreshVersion: version)
    }
}

/// The state of everything at one moment.
struct LiveSnapshot: Sendable {
    let at: Int64
    let now: MonotonicTime
    let status: GatewayStatus
    let cloud: CloudStatus
    let sync: SyncStatusBody?
    let refreshVersion: UInt64

    /// The whole state, for a page that knows nothing.
    var whole: ByteBuffer {
        get throws {
            var body = LiveBody(at: at)
            body.meters = status.meters
            (body.adapters, body.store, body.cloud, body.sync) = (status.adapters, status.store, cloud, sync)
            body.refresh_version = refreshVersion
            body.alerts_raised = status.alerts_raised
            return try Response.event("all", body)
        }
    }

    /// The differences, except those that a page can work out by itself. Nil if there are none.
    func event(since last: LiveSnapshot?) throws -> ByteBuffer? {
        guard let last, Set(last.status.meters.map(\.id)).isSubset(of: status.meters.map(\.id)) else {
            return try whole
        }
        var body = LiveBody(at: at)
        let before = Dictionary(last.status.meters.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let elapsed = (now - last.now).milliseconds
        body.meters = status.meters.filter { meter in
            guard let old = before[meter.id] else { return true }
            return meter.timeless != old.timeless || meter.isPutOff(since: old, elapsed: elapsed)
        }
        if status.adapters != last.status.adapters { body.adapters = status.adapters }
        if status.store.error != last.status.store.error { body.store = status.store }
        if cloud.timeless != last.cloud.timeless { body.cloud = cloud }
        if sync?.telling != last.sync?.telling { body.sync = sync }
        if refreshVersion != last.refreshVersion { body.refresh_version = refreshVersion }
        if status.alerts_raised != last.status.alerts_raised { body.alerts_raised = status.alerts_raised }
        return body.isEmpty ? nil : try Response.event("changes", body)
    }
}

extension MeterStatus {
    /// Without what merely counts up or down.
    fileprivate var timeless: MeterStatus {
        var copy = self
        (copy.age_ms, copy.retry_in_ms, copy.rssi) = (nil, nil, nil)
        copy.searching_ms = copy.searching_ms.map { _ in 0 }
        copy.lease?.remaining_ms = nil
        return copy
    }

    /// Whether a countdown or an age started again: a renewed lease, or a reading with the same values.
    fileprivate func isPutOff(since old: MeterStatus, elapsed: Int64) -> Bool {
        if let age = age_ms, let oldAge = old.age_ms, age < oldAge + elapsed - 20 { return true }
        if let left = lease?.remaining_ms, let oldLeft = old.lease?.remaining_ms, left > oldLeft { return true }
        if let wait = retry_in_ms, wait > (old.retry_in_ms ?? 0) { return true }
        return rssi != old.rssi
    }
}

extension CloudStatus {
    fileprivate var timeless: CloudStatus {
        var copy = self
        copy.clock_offset_ms = nil
        return copy
    }
}

extension SyncStatusBody {
    /// What a person would see change.
    fileprivate var telling: [String?] {
        [mode, "\(pending) \(held_back) \(parked) \(failures)", error, full, halt, stream, result.map { "\($0.run)" }]
    }
}
