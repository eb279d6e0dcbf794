import Cloud
import CloudAPI
import CloudClient
import Domain
import Gateway
import SimulatedCloud

/// Why a call brought no answer.
enum CallTrouble: Error {
    /// The cloud's refusal, in its words.
    case refused(CloudErrorBody.Content)
    /// Nobody knows whether the call was done.
    case broken(String)

    var failure: SyncFailure {
        switch self {
        case .refused(let content): SyncFailure(content)
        case .broken(let why): SyncFailure(.network, why)
        }
    }
}

/// One host's way to the cloud, for as long as its process lives: requests take their time, get lost, arrive twice, and
/// answers do so too. In place of `CloudClient`, with the same words for everything.
final class NetworkLink: @unchecked Sendable {
    let life: Life
    let host: HostMachine
    private let cloud: CloudMachine
    /// How long an answer may take, by the host's clock, as `CloudClient` has it.
    private static let patience = Duration.seconds(15)

    init(_ life: Life, of host: HostMachine, to cloud: CloudMachine) {
        self.life = life
        self.host = host
        self.cloud = cloud
    }

    private var world: World { life.world }

    /// A call that somebody waits for.
    private final class OpenCall<Value: Sendable>: @unchecked Sendable {
        private var continuation: CheckedContinuation<Result<Value, CallTrouble>, Never>?
        private var early: Result<Value, CallTrouble>?

        func wait(_ continuation: CheckedContinuation<Result<Value, CallTrouble>, Never>) {
            if let early { return continuation.resume(returning: early) }
            self.continuation = continuation
        }

        /// - Returns: whether it was open until now.
        @discardableResult
        func finish(_ result: Result<Value, CallTrouble>) -> Bool {
            guard early == nil else { return false }
            early = result
            continuation?.resume(returning: result)
            continuation = nil
            return true
        }
    }

    /// One request and its answer.
    ///
    /// - Parameter arrivedTwice: a second copy of the request is under way, of which nobody waits for the answer.
    func call<Value: Sendable>(
        _ name: String, arrivedTwice: () -> Void = {},
        _ body: @escaping @Sendable (CloudService, Principal) async throws(CloudFailure) -> Value
    ) async -> Result<Value, CallTrouble> {
        let number = world.nextID()
        let open = OpenCall<Value>()
        guard !life.isOver else { return .failure(.broken("the process has ended")) }
        world.note("\(host.name): \(name) (\(number))")
        send(number, open, arrivedTwice, body)
        let end = life.whenOver { open.finish(.failure(.broken("the process has ended"))) }
        defer { life.forget(end) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { open.wait($0) }
        } onCancel: {
            open.finish(.failure(.broken("the call was cancelled")))
        }
        switch result {
        case .success: world.note("\(host.name): answered (\(number))")
        case .failure(let trouble): world.note("\(host.name): \(trouble.failure.kind) (\(number))")
        }
        return result
    }

    private func send<Value: Sendable>(
        _ number: UInt64, _ open: OpenCall<Value>, _ arrivedTwice: () -> Void,
        _ body: @escaping @Sendable (CloudService, Principal) async throws(CloudFailure) -> Value
    ) {
        var delays = host.link.send(.up, at: world.now, &world.rng)
        if delays.count > 1 {
            arrivedTwice()
            // Some copies come when nobody remembers the request any more.
            if world.rng.happens(onceIn: 2) { delays[1] += TrueTime(world.rng.number(below: 60)) * .second }
        }
        for delay in delays {
            world.at(world.now + delay) { [self] in
                cloud.serve(host.secret, body) { [self] result in answer(open, result) }
            }
        }
        // A way that is cut is noticed at once, or not at all.
        if host.link.isCut(.up), world.rng.happens(onceIn: 2) {
            life.at(world.now + .second) { open.finish(.failure(.broken("no route to the cloud"))) }
        }
        life.at(host.trueTime(after: Self.patience)) { open.finish(.failure(.broken("no answer in time"))) }
    }

    private func answer<Value: Sendable>(_ open: OpenCall<Value>, _ result: Result<Value, CallTrouble>) {
        for delay in host.link.send(.down, at: world.now, &world.rng) {
            life.at(world.now + delay) { open.finish(result) }
        }
    }
}

// MARK: - Records

extension NetworkLink: CloudLink {
    func account() async throws(SyncFailure) -> CloudAccount {
        let body = try await ask("account") { service, host throws(CloudFailure) in
            try await service.account(of: host)
        }
        guard let account = CloudAccount(body) else { throw SyncFailure(.other, "the account cannot be read") }
        return account
    }

    func createZone(_ zone: String, id: String?) async throws(SyncFailure) {
        try await ask("creates the zone") { service, host throws(CloudFailure) in
            try await service.createZone(zone, ZoneRequest(zoneID: id), by: host)
        }
    }

    func changes(of type: RecordType, since token: String?, limit: Int) async throws(SyncFailure) -> ChangesPage {
        let body = try await ask("changes of \(type.rawValue)") { service, host throws(CloudFailure) in
            try await service.changes(
                type: type.rawValue, since: token, limit: limit, in: CloudMachine.zone, by: host)
        }
        guard let page = ChangesPage(body, of: type) else { throw SyncFailure(.other, "records of another type") }
        return page
    }

    func modify(_ batch: OutboxBatch) async throws(SyncFailure) -> PushOutcome {
        let records = batch.records
        let answer = try await ask("modifies \(records.count)") { service, host throws(CloudFailure) in
            try await service.modify(ModifyRequest(records: records), in: CloudMachine.zone, by: host)
        }
        let results = zip(records, answer.results).map { record, result in
            PushResult(key: record.key, failure: result.error.map { SyncFailure($0) }, merged: result.merged)
        }
        return PushOutcome(results: results, serverTime: UInt64(clamping: answer.serverTime))
    }

    func ask<Value: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable (CloudService, Principal) async throws(CloudFailure) -> Value
    ) async throws(SyncFailure) -> Value {
        switch await call(name, body) {
        case .success(let value): return value
        case .failure(let trouble): throw trouble.failure
        }
    }

    func events() -> AsyncThrowingStream<CloudEvent, any Error> {
        let (events, sink) = AsyncThrowingStream.makeStream(of: CloudEvent.self, throwing: (any Error).self)
        guard !life.isOver else {
            sink.finish(throwing: SyncFailure(.network, "the process has ended"))
            return events
        }
        let life = life
        let stream = NetworkStream(life.world) { why in
            if !life.isOver { sink.finish(throwing: SyncFailure(.network, why)) }
        }
        let end = life.whenOver {
            stream.close()
            sink.finish(throwing: SyncFailure(.network, "the process has ended"))
        }
        sink.onTermination = { _ in
            life.forget(end)
            stream.close()
        }
        open(stream, sink)
        return events
    }

    private func open(_ stream: NetworkStream, _ sink: AsyncThrowingStream<CloudEvent, any Error>.Continuation) {
        let (life, world, host) = (life, life.world, host)
        world.note("\(host.name): opens its stream")
        guard let delay = host.link.send(.up, at: world.now, &world.rng).first else {
            return stream.breaks("the stream could not be opened")
        }
        world.at(world.now + delay) { [cloud] in
            let isFirst = FirstEvent()
            cloud.listen(host.secret, to: stream) { event in
                guard !stream.isBroken else { return }
                guard let delay = host.link.send(.down, at: world.now, &world.rng).first else {
                    return stream.breaks("the connection was lost")
                }
                let opens = isFirst.take()
                life.at(stream.arrival(after: delay)) {
                    if opens { sink.yield(.opened) }
                    guard let event = CloudEvent(event) else { return }
                    if case .offer = event { world.coverage.note(.offer) }
                    world.note("\(host.name): hears \(event.name)")
                    sink.yield(event)
                }
            }
        }
    }

    private final class FirstEvent: @unchecked Sendable {
        private var isTaken = false

        func take() -> Bool {
            defer { isTaken = true }
            return !isTaken
        }
    }
}

extension CloudEvent {
    fileprivate var name: String {
        switch self {
        case .opened: "opened"
        case .changed(let types, _): "changed \(types.map(\.rawValue))"
        case .lease(let lease): "lease of \(lease.meter), \(lease.state), token \(lease.token.rawValue)"
        case .offer(let meter, _): "offer of \(meter)"
        case .interest(let meter, _, _): "interest in \(meter)"
        case .command(let command): "command for \(command.meter)"
        case .log(let question): "question about the log of \(question.meter)"
        case .ping: "ping"
        }
    }
}
