import CloudAPI
import Domain
package import Logging
import Synchronization

/// Decides hosts' requests to the cloud: who may make them, whether they are well formed, and what the engine has to
/// do.
///
/// Every call that names a zone is refused (`permissionDenied`) unless the principal belongs to a host of that zone and
/// is bound to it (`join`). What is allowed with leases and records is up to the rules (`LeaseRules`, `RecordIntake`),
/// which the engine calls within its atomic step. Only the event streams, the offers, and what is known about the lease
/// queues are in memory; all copies of the cloud share the queues through the engine.
package final class CloudService: Sendable {
    let engine: any CloudEngine
    let clock: CloudClock
    let logger: Logger
    let hub: EventHub
    let relay: RelayHub
    let commands = PendingAnswers<PendingCommand>()
    /// Repeats that wait for the outcome of a stored command, by zone and author.
    let repeats = Mutex<[String: Int]>([:])
    let logs = PendingAnswers<PendingLogQuestion>()
    let queues = LeaseQueues()
    let post = CopyPost()
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

    /// How often every event stream gets the time, so that a host notices a dead stream, and the cloud a dead host.
    package static let pingInterval = Duration.seconds(15)
    /// How often to check the queues, which is how late an unused offer or the end of a lease may be noticed.
    static let round = Duration.seconds(1)

    /// Offers meters whose lease is over to the hosts that wait for them, ends unused offers, pings the event streams,
    /// and purges old commands and tombstones. Runs until its task is cancelled.
    package func run() async {
        async let pending: Void = endPendingRequests()
        await serveRounds()
        await pending
    }

    /// In a loop of its own: whoever waits for an outcome does not wait for the store, nor for what others want of it.
    private func endPendingRequests() async {
        while !Task.isCancelled {
            commands.passed(clock.now())
            logs.passed(clock.now())
            // Cut short if the task is cancelled, which the loop notices.
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
                // Cancelled, which the loop notices.
            }
        }
    }

    /// No zone waits for another's.
    func forEachZone(_ zones: [String], _ body: @escaping @Sendable (String) async -> Void) async {
        await withDiscardingTaskGroup { group in
            for zone in zones { group.addTask { await body(zone) } }
        }
    }

    /// Hands the event streams over to the other copies of this cloud: accepts no more, and ends the open ones, so that
    /// their hosts turn to another copy. Large numbers end in portions, so that they do not all arrive there at the
    /// same moment.
    package func shutdown() async {
        hub.close()
        relay.close()
        commands.close()
        logs.close()
        let portion = max(Self.streamsEndedAtOnce, hub.listenerCount / Self.portionsMax)
        while hub.end(upTo: portion) {
            // Once cancelled, there is no time left, and the others end at once.
            try? await clock.sleep(clock.now() + Self.betweenPortions)
        }
    }

    /// Ends everything that was opened with a credential, which is revoked.
    func endStreams(of credential: String) {
        hub.end(credential: credential)
        relay.end(credential: credential)
    }

    /// Number of event streams that a shutdown ends before it pauses.
    package static let streamsEndedAtOnce = 100
    /// With the pauses in between, five seconds: well within what a service manager allows a program to stop.
    private static let portionsMax = 50
    private static let betweenPortions = Duration.milliseconds(100)

    /// Number of open event streams, in all zones, for the metrics.
    package var listenerCount: Int { hub.listenerCount }

    func nextRandom() -> UInt64 { rng.withLock { $0.next() } }

    /// The id of this copy of the cloud, under which hosts wait through it.
    var copy: ReplicaID { identity.withLock { $0 } }

    /// Takes a new id, because the others have given this copy up.
    func becomeAnother() {
        let next = rng.withLock { ReplicaID(using: &$0) }
        identity.withLock { $0 = next }
    }
}

// MARK: - What every call does

extension CloudService {
    /// A host that may act in its zone.
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

    /// Calls the engine. Unexpected errors become an `internalError`, and are logged.
    func ask<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws(CloudFailure) -> Value {
        do {
            return try await body()
        } catch let failure as CloudFailure {
            throw failure
        } catch {
            logger.error("the engine failed", metadata: ["error": "\(error)"])
            throw CloudFailure(.internalError, "the cloud failed; its log says why")
        }
    }

    /// - Throws: `zoneNotFound`.
    func existing(_ name: String) async throws(CloudFailure) -> Zone {
        guard let zone = try await ask({ try await engine.zone(name) }) else { throw .zoneNotFound(name) }
        return zone
    }

    /// The same, as it was when the request began, if it was read then.
    ///
    /// - Throws: `zoneNotFound`.
    func existing(_ name: String, for principal: Principal) async throws(CloudFailure) -> Zone {
        if let zone = principal.zone, zone.name == name { return zone }
        return try await existing(name)
    }
}
