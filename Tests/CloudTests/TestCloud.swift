import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Logging
import MeterTestKit
import StoreTestKit
import Testing

/// A service on a store of its own, with a zone, an enrolment token and as many hosts as a test asks for.
struct TestCloud {
    let engine: TemporaryCloudEngine
    let time: VirtualCloudClock
    let service: CloudService

    private init(engine: TemporaryCloudEngine, time: VirtualCloudClock, rng: CountingRNG) {
        self.engine = engine
        self.time = time
        service = CloudService(
            engine: engine, clock: time.clock, rng: rng,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    init(policy: LeasePolicy = .keep) async throws {
        self.init(engine: try TemporaryCloudEngine(), time: VirtualCloudClock(), rng: CountingRNG())
        let terms = LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy)
        _ = try await service.createZone("home", terms: terms)
        _ = try await service.addCredential(.enrolment, label: "everybody", hash: [0], in: "home")
    }

    /// Another copy of the same cloud, with the same clock. Nobody tells the one what the other did.
    func anotherCopy(_ number: UInt64 = 1) -> TestCloud {
        TestCloud(engine: engine, time: time, rng: CountingRNG(last: 1000 * number))
    }

    /// The same cloud after a restore from a backup that was made just now.
    func restored() async throws -> TestCloud {
        let engine = try await engine.restored(at: time.wallNow, now: time.now)
        return TestCloud(engine: engine, time: time, rng: CountingRNG(last: 1000))
    }

    /// A host that joined, with a token of its own.
    func join(_ number: UInt8, as role: HostRole = .full) async throws -> Principal {
        if role != .full, try await engine.credential(hash: [0, 0]) == nil {
            _ = try await service.addCredential(.enrolment, role, label: "lookers", hash: [0, 0], in: "home")
        }
        let enrolment = try await service.authenticate(hash: role == .full ? [0] : [0, 0])
        let request = JoinRequest(
            hostID: HostID.numbered(UInt64(number)).description, hostName: "Host \(number)",
            machine: "machine \(number)")
        _ = try await service.join(request, by: enrolment, newToken: (text: "token \(number)", hash: [number]))
        return try await service.authenticate(hash: [number])
    }

    /// Waits until the running service has looked after everything so many times.
    func began(rounds: UInt64) async {
        // It ends pending requests in a loop of its own.
        await time.began(sleeps: 2 * rounds)
    }

    func acquire(
        _ host: Principal, _ meter: String = TestCloud.meter, session: UInt64 = 1, request: UInt64 = 1,
        takeover: UInt64? = nil
    ) async throws(CloudFailure) -> LeaseBody {
        var body = AcquireRequest(
            requestID: RequestID.numbered(request).description, session: SessionID.numbered(session).description,
            transport: "ble")
        body.takeover = takeover.map { .of(token: $0) }
        return try await service.acquire(body, meter: meter, in: "home", by: host)
    }

    func release(
        _ host: Principal, _ lease: LeaseBody, session: UInt64 = 1
    ) async throws(CloudFailure) -> LeaseBody {
        let body = ReleaseRequest(session: SessionID.numbered(session).description, token: lease.token)
        return try await service.release(body, meter: lease.meter, in: "home", by: host)
    }

    func renew(
        _ host: Principal, _ lease: LeaseBody, session: UInt64 = 1
    ) async throws(CloudFailure) -> RenewAnswer.Result? {
        let body = RenewRequest(
            session: SessionID.numbered(session).description,
            leases: [RenewRequest.Lease(meter: lease.meter, token: lease.token)])
        return try await service.renew(body, in: "home", by: host).results.first
    }

    static let meter = "AA:BB:CC:DD:EE:FF"

    /// Stamped by the calendar of the cloud, so many milliseconds later.
    func stamp(_ after: Int64 = 0, host: UInt64 = 1) -> Stamp {
        Stamp(
            milliseconds: UInt64(time.wallNow.millisecondsSince1970 + after), counter: 0, host: .numbered(host))
    }

    func record(
        _ name: String, type: RecordType = .deviceSettings, value: Int64 = 1, after: Int64 = 0, host: UInt64 = 1
    ) -> SyncRecord {
        SyncRecord(
            key: RecordKey(type: type, name: name),
            properties: ["name": Register(value: .int(value), stamp: stamp(after, host: host))])
    }
}

/// A host with its event stream open.
final class Listener {
    let principal: Principal
    private var iterator: EventSubscription.Iterator

    /// A new host, at this copy.
    convenience init(_ cloud: TestCloud, _ number: UInt8) async throws {
        try await self.init(cloud, as: try await cloud.join(number))
    }

    /// - Parameter host: that joined before.
    init(_ cloud: TestCloud, as host: Principal) async throws {
        principal = host
        iterator = try await cloud.service.events(in: "home", by: host).makeAsyncIterator()
    }

    /// Reads on to the next offer.
    func offer() async -> EventBody.Offer? {
        while let event = await iterator.next() {
            if let offer = event.offer { return offer }
        }
        return nil
    }

    /// Reads on to the next event about a meter that somebody watches.
    func interest() async -> EventBody.Interest? {
        while let event = await iterator.next() {
            if let interest = event.interest { return interest }
        }
        return nil
    }

    /// Reads on to the next command.
    func command() async -> EventBody.Command? {
        while let event = await iterator.next() {
            if let command = event.command { return command }
        }
        return nil
    }

    /// Reads on to the next question about a meter's log.
    func logQuestion() async -> EventBody.LogQuestion? {
        while let event = await iterator.next() {
            if let question = event.log { return question }
        }
        return nil
    }

    /// Reads on to the next lease event.
    func lease() async -> LeaseBody? {
        while let event = await iterator.next() {
            if let lease = event.lease { return lease }
        }
        return nil
    }
}

func expectFailure<Value>(
    _ code: CloudErrorCode, _ body: () async throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
) async -> CloudFailure? {
    do {
        _ = try await body()
        Issue.record("nothing was thrown, expected \(code)", sourceLocation: sourceLocation)
        return nil
    } catch {
        let failure = error as? CloudFailure
        #expect(failure?.code == code, "\(error)", sourceLocation: sourceLocation)
        return failure
    }
}
