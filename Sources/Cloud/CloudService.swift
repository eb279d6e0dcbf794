import CloudAPI
import Domain
package import Logging
import Synchronization

/// Decides hosts' requests: checks permission and form, and calls the engine.
///
/// A call that names a zone is refused (`permissionDenied`) unless the principal's host belongs to that zone and is
/// bound to the credential (`join`). The rules (`LeaseRules`, `RecordIntake`) run within the engine's atomic step. Only
/// event streams, offers and this replica's view of the queues are in memory.
package final class CloudService: Sendable {
    let engine: any CloudEngine
    let clock: CloudClock
    let logger: Logger
    let hub: EventHub
    let relay: RelayHub
    let commands = PendingAnswers<PendingCommand>()
    /// Number of repeated requests that wait for a stored command's outcome, by zone and author.
    let repeats = Mutex<[String: Int]>([:])
    let logs = PendingAnswers<PendingLogQuestion>()
    let queues = LeaseQueues()
    let post = ReplicaPost()
    private let rng: Mutex<any RandomNumberGenerator & Sendable>
    private let identity: Mutex<ReplicaID>
    let saidThatTheStoreWentBack = Atomic(false)

    package init(
        engine: any CloudEngine, clock: CloudClock, rng: any RandomNumberGenerator & Sendable, logger: Logger
    ) {
        self.engine = engine
        self.clock = clock
        var rng = rng
        identity = Mutex(ReplicaID(using: &rng))
        self.rng = Mutex(rng)
        self.logger = logger
        let hub = EventHub()
        self.hub = hub
        let post = post
        relay = RelayHub(
            ended: { place, holder in
                hub.tellInterest(in: place.meter, for: .zero, wantsAll: false, to: holder, zone: place.zone)
            },
            changed: { post.tell { $0.noteWatching() } })
    }

    /// Interval of pings on the event streams, by which host and cloud detect a dead connection.
    package static let pingInterval = Duration.seconds(15)
    /// Interval of queue checks: the longest delay in noticing an unused offer or the end of a lease.
    static let round = Duration.seconds(1)

    /// Offers free meters to waiting hosts, ends unused offers, pings the event streams, and purges old commands and
    /// tombstones. Runs until its task is cancelled.
    package func run() async {
        async let pending: Void = endPendingRequests()
        await serveRounds()
        await pending
    }

    /// Ends requests whose deadlines have passed. Has its own loop, so that waiting hosts do not depend on the store's
    /// speed.
    private func endPendingRequests() async {
        while !Task.isCancelled {
            commands.passed(clock.now())
            logs.passed(clock.now())
            try? await clock.sleep(clock.now() + Self.round)
        }
    }

    private func serveRounds() async {
        let retention = CloudRetention(engine: engine, clock: clock, logger: logger)
        var purgeAt = clock.now() + CloudRetention.firstAfter
        var pingAt = clock.now() + Self.pingInterval
        var repeatAt = clock.now() + RelayTimes.interestRepeat
        var ages = CommandAges()
        await readQueues()
        while !Task.isCancelled {
            let now = clock.now()
            await forEachZone(queues.zones) { zone in
                for place in self.queues.places(in: zone) { await self.settleQueue(of: place) }
            }
            await renewInterest()
            if now >= repeatAt {
                repeatAt = now + RelayTimes.interestRepeat
                post.tell { $0.noteWatching() }
            }
            if now >= pingAt {
                pingAt = now + Self.pingInterval
                hub.tellTime(clock.wallNow())
                relay.tellTime(clock.wallNow())
                await readQueues()
                await forgetCommands(&ages)
            }
            if now >= purgeAt {
                purgeAt = now + CloudRetention.interval
                await retention.purge()
            }
            do {
                try await clock.sleep(now + Self.round)
            } catch {
                // Cancelled: the loop condition ends the loop.
            }
        }
    }

    func forEachZone(_ zones: [String], _ body: @escaping @Sendable (String) async -> Void) async {
        await withDiscardingTaskGroup { group in
            for zone in zones { group.addTask { await body(zone) } }
        }
    }

    /// Refuses new event streams and ends the open ones, in portions so that not all hosts reconnect to other replicas
    /// at once.
    package func shutdown() async {
        hub.close()
        relay.close()
        commands.close()
        logs.close()
        let portion = max(Self.streamsEndedAtOnce, hub.listenerCount / Self.portionsMax)
        while hub.end(upTo: portion) {
            // After a cancellation the sleep returns immediately, so there are no more pauses.
            try? await clock.sleep(clock.now() + Self.betweenPortions)
        }
    }

    func endStreams(of credential: String) {
        hub.end(credential: credential)
        relay.end(credential: credential)
    }

    package static let streamsEndedAtOnce = 100
    /// Maximum number of portions of streams. The pauses between them add up to 5 s, well within a service manager's
    /// stop timeout.
    private static let portionsMax = 50
    private static let betweenPortions = Duration.milliseconds(100)

    package var listenerCount: Int { hub.listenerCount }

    func nextRandom() -> UInt64 { rng.withLock { $0.next() } }

    var copy: ReplicaID { identity.withLock { $0 } }

    func becomeAnother() {
        let next = rng.withLock { ReplicaID(using: &$0) }
        identity.withLock { $0 = next }
    }
}

// MARK: - Common steps of all calls

extension CloudService {
    struct Member {
        var host: HostID
        var name: String
        var credential: String
    }

    func member(_ principal: Principal, of zone: String) throws(CloudFailure) -> Member {
        let credential = principal.credential
        guard credential.zone == zone else {
            throw CloudFailure(.permissionDenied, "this token is for the zone \(credential.zone), not for \(zone)")
        }
        guard credential.kind == .host else {
            throw CloudFailure(
                .permissionDenied, "this is an enrolment token, good for joining only; join with POST /v1/hosts first")
        }
        guard let binding = credential.binding else {
            throw CloudFailure(.permissionDenied, "no host uses this token yet; join with POST /v1/hosts first")
        }
        return Member(host: binding.host, name: binding.hostName, credential: credential.id)
    }

    /// Calls the engine. Logs its unexpected errors and turns them into an `internalError`.
    func ask<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws(CloudFailure) -> Value {
        do {
            return try await body()
        } catch let failure as CloudFailure {
            throw failure
        } catch {
            logger.error("store request failed", metadata: ["error": "\(error)"])
            throw CloudFailure(.internalError, "the cloud failed; its log says why")
        }
    }

    func existing(_ name: String) async throws(CloudFailure) -> Zone {
        guard let zone = try await ask({ try await engine.zone(name) }) else { throw .zoneNotFound(name) }
        return zone
    }

    /// Returns the zone as read at the start of the request, or reads it.
    ///
    /// - Throws: `zoneNotFound`.
    func existing(_ name: String, for principal: Principal) async throws(CloudFailure) -> Zone {
        if let zone = principal.zone, zone.name == name { return zone }
        return try await existing(name)
    }
}
