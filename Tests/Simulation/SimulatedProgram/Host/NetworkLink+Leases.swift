import Cloud
import CloudAPI
import CloudClient
import Domain
import Gateway
import LeaseWitness
import SimulatedCloud

/// Leases. Every call is a part of the history that is judged.
extension NetworkLink: LeaseAuthority {
    func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome {
        let (body, name, world) = (AcquireRequest(request), meter.description, life.world)
        let result = await witness([.init(request: .acquire(.init(request)), meter: meter)], named: "acquires \(name)")
        {
            service, host throws(CloudFailure) in
            let lease = try await service.acquire(body, meter: name, in: CloudMachine.zone, by: host)
            world.granted(FencingToken(rawValue: lease.token), to: request.requestID)
            return lease
        } outcomes: { result in
            switch result.acquired {
            case .granted(let lease): [.granted(lease.token)]
            case .refused(let reason, let lease, _): [.refused(reason, lease.map { .init($0) })]
            case nil: [.unknown]
            }
        }
        guard let outcome = result.acquired else { throw result.failure }
        return outcome
    }

    func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome] {
        let body = RenewRequest(leases, session: session)
        let calls = leases.map { Witnessed(request: .renew(session: session, token: $0.token), meter: $0.meter) }
        let result = await witness(calls, named: "renews \(leases.count)") { service, host throws(CloudFailure) in
            try await service.renew(body, in: CloudMachine.zone, by: host)
        } outcomes: { result in
            guard case .success(let answer) = result else { return leases.map { _ in .unknown } }
            return answer.results.map {
                switch RenewOutcome($0) {
                case .renewed: .renewed
                case .lost(let loss, _): .lost(loss)
                }
            }
        }
        guard case .success(let answer) = result else { throw result.failure }
        return answer.results.map { RenewOutcome($0) }
    }

    func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure) {
        let (body, name) = (ReleaseRequest(lease, session: session), lease.meter.description)
        let call = Witnessed(request: .release(session: session, token: lease.token), meter: lease.meter)
        let result = await witness([call], named: "releases \(name)") { service, host throws(CloudFailure) in
            try await service.release(body, meter: name, in: CloudMachine.zone, by: host)
        } outcomes: { result in
            if case .success = result { [.done] } else { [.unknown] }
        }
        guard case .success = result else { throw result.failure }
    }

    func leases() async throws(SyncFailure) -> [LeaseView] {
        let list = try await ask("lists leases") { service, host throws(CloudFailure) in
            try await service.leases(in: CloudMachine.zone, by: host)
        }
        return list.leases.compactMap { LeaseView($0) }
    }

    func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        let name = meter.description
        _ = try await ask("queues for \(name)") { service, host throws(CloudFailure) in
            try await service.enqueue(meter: name, in: CloudMachine.zone, by: host)
        }
    }

    func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        let name = meter.description
        _ = try await ask("leaves the queue for \(name)") { service, host throws(CloudFailure) in
            try await service.leaveQueue(meter: name, in: CloudMachine.zone, by: host)
        }
    }

    // MARK: The history

    private struct Witnessed: Sendable {
        var request: LeaseOperation.Request
        var meter: MeterID
    }

    /// A call that is part of the history, once it is over, and its copy where it arrives twice.
    private func witness<Value: Sendable>(
        _ calls: [Witnessed], named name: String,
        _ body: @escaping @Sendable (CloudService, Principal) async throws(CloudFailure) -> Value,
        outcomes: (Result<Value, CallTrouble>) -> [LeaseOperation.Outcome]
    ) async -> Result<Value, CallTrouble> {
        let world = life.world
        let calledAt = world.moment
        func record(_ call: Witnessed, _ outcome: LeaseOperation.Outcome) {
            world.judge.record(
                LeaseOperation(
                    meter: call.meter.description, request: call.request, outcome: outcome, calledAt: calledAt,
                    returnedAt: world.moment))
        }
        let result = await self.call(name, arrivedTwice: { for call in calls { record(call, .unknown) } }, body)
        for (call, outcome) in zip(calls, outcomes(result)) {
            record(call, outcome)
            outcome.covers.map { world.coverage.note($0) }
            world.note("\(host.name): \(name): \(outcome)")
        }
        return result
    }
}

extension LeaseOperation.Outcome {
    fileprivate var covers: ProgramCoverage.Item? {
        switch self {
        case .granted: .grant
        case .renewed: .renewal
        case .done: .release
        case .unknown: .unanswered
        case .refused, .lost, .seen: nil
        }
    }
}

extension Result where Failure == CallTrouble {
    /// Of a call that failed.
    fileprivate var failure: SyncFailure {
        if case .failure(let trouble) = self { return trouble.failure }
        return SyncFailure(.other, "the answer cannot be read")
    }
}

extension Result<LeaseBody, CallTrouble> {
    /// nil where nobody knows what was decided.
    fileprivate var acquired: AcquireOutcome? {
        switch self {
        case .success(let lease): AcquireOutcome(granted: lease)
        case .failure(.refused(let content)): AcquireOutcome(refused: content)
        case .failure(.broken): nil
        }
    }
}
