import CloudAPI
import LeaseCore
package import Logging
import MeterModel
import Synchronization

/// What hosts ask of the cloud, decided: who may, what is well formed, and what the engine has to do about it.
///
/// Every call that names a zone is refused (`permissionDenied`) unless the principal is a host's, of that zone, and
/// bound to the host (`join`). What is allowed of leases and records, the rules say (`LeaseRules`, `RecordIntake`),
/// which the engine calls within its atomic step. In memory are only the event streams, the offers to those who wait, and
/// what is known of the lease queues, which all copies of the cloud share through the engine.
package final class CloudService: Sendable {
    let engine: any CloudEngine
    let clock: CloudClock
    let logger: Logger
    let hub = EventHub()
    let queues = LeaseQueues()
    private let dice: Mutex<any RandomNumberGenerator & Sendable>
    private let identity: Mutex<ReplicaID>
    let saidThatTheStoreWentBack = Atomic(false)

    package init(
        engine: any CloudEngine, clock: CloudClock, dice: any RandomNumberGenerator & Sendable, logger: Logger
    ) {
        self.engine = engine
        self.clock = clock
        var dice = dice
        identity = Mutex(ReplicaID(using: &dice))
        self.dice = Mutex(dice)
        self.logger = logger
    }

    /// How often every event stream tells the time, so that a host notices a dead one, and the cloud a dead host.
    package static let pingInterval = Duration.seconds(15)
    /// How often the lines are looked at: an offer that nobody took, or a lease that is over, is noticed this late.
    static let round = Duration.seconds(1)

    /// Offers meters whose lease is over to who waits for them, ends offers that nobody took, pings the event streams,
    /// and purges old tombstones. Until its task is cancelled.
    package func run() async {
        let retention = CloudRetention(engine: engine, clock: clock, logger: logger)
        var purgeAt = clock.now() + CloudRetention.firstAfter
        var pingAt = clock.now() + Self.pingInterval
        await readQueues()
        while !Task.isCancelled {
            let now = clock.now()
            for place in queues.places { await settleQueue(of: place) }
            if now >= pingAt {
                pingAt = now + Self.pingInterval
                hub.tellTime(clock.wallNow())
                await readQueues()
            }
            if now >= purgeAt {
                purgeAt = now + CloudRetention.interval
                await retention.purge()
            }
            do {
                try await clock.sleep(now + Self.round)
            } catch {
                // Cancelled, which the loop sees.
            }
        }
    }

    /// Hands the event streams over to the other copies of this cloud: takes no more, and ends those that are open, which
    /// makes their hosts ask another copy. Many end a part at a time, so that not all come there in the same moment.
    package func shutdown() async {
        hub.close()
        let portion = max(Self.streamsEndedAtOnce, hub.listenerCount / Self.portionsMax)
        while hub.end(upTo: portion) {
            // Cancelled, it has no time left, and ends the others at once.
            try? await clock.sleep(clock.now() + Self.betweenPortions)
        }
    }

    /// Event streams that a shutdown ends before it pauses.
    package static let streamsEndedAtOnce = 100
    /// With the pauses between them five seconds: well within what a service manager gives a program to stop.
    private static let portionsMax = 50
    private static let betweenPortions = Duration.milliseconds(100)

    /// Open event streams, of all zones: for the metrics.
    package var listenerCount: Int { hub.listenerCount }

    func throwDice() -> UInt64 { dice.withLock { $0.next() } }

    /// Which copy of the cloud this is: whose waiters it looks after.
    var copy: ReplicaID { identity.withLock { $0 } }

    /// Becomes another copy to all others: this one was given up.
    func becomeAnother() {
        let next = dice.withLock { ReplicaID(using: &$0) }
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

    /// Asks the engine. What it did not expect becomes an `internalError`, and is logged.
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
}
