import CloudAPI
import CloudClient
import Domain
import Gateway
import LeaseWitness
import SimulatedCloud

/// The real client, with each call and what came of it in the journal.
struct RecordingCloud: Sendable {
    let client: CloudClient
    let journal: Journal
    let host: HostID

    private var zone: String { client.membership.zone }

    /// A fault of the machine or the network explains that nobody answers, and nothing else.
    func note(_ failure: SyncFailure) {
        switch failure.kind {
        case .network, .serviceUnavailable, .changeTokenExpired, .clockSkew, .rateLimited: break
        case .timelineLost: journal.lostTimeline(in: zone)
        // After a move: what it had read was the other zone's.
        case .anotherZone: break
        default: journal.surprise("\(host): \(failure)")
        }
    }
}

extension RecordingCloud: LeaseAuthority {
    func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome {
        let call = journal.begin(
            .acquire(
                LeaseOperation.Acquire(
                    requestID: request.requestID, host: host, session: request.session,
                    previousSession: request.previousSession, takeover: request.takeover)), of: meter, in: zone)
        do throws(SyncFailure) {
            let outcome = try await client.acquire(request, of: meter)
            switch outcome {
            case .granted(let lease): journal.end(call, .granted(lease.token))
            case .refused(let reason, let lease, _):
                journal.end(call, .refused(reason, lease.map { LeaseOperation.Sight($0) }))
            }
            return outcome
        } catch {
            journal.end(call, .unknown)
            note(error)
            throw error
        }
    }

    func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome] {
        let calls = leases.map { journal.begin(.renew(session: session, token: $0.token), of: $0.meter, in: zone) }
        do throws(SyncFailure) {
            let outcomes = try await client.renew(leases, session: session)
            for (call, outcome) in zip(calls, outcomes) {
                switch outcome {
                case .renewed: journal.end(call, .renewed)
                case .lost(let loss, _): journal.end(call, .lost(loss))
                }
            }
            return outcomes
        } catch {
            for call in calls { journal.end(call, .unknown) }
            note(error)
            throw error
        }
    }

    func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure) {
        let call = journal.begin(.release(session: session, token: lease.token), of: lease.meter, in: zone)
        do throws(SyncFailure) {
            try await client.release(lease, session: session)
            journal.end(call, .done)
        } catch {
            journal.end(call, .unknown)
            note(error)
            throw error
        }
    }

    func leases() async throws(SyncFailure) -> [LeaseView] {
        let calledAt = Journal.now
        do throws(SyncFailure) {
            let leases = try await client.leases()
            for lease in leases { journal.saw(LeaseOperation.Sight(lease), of: lease.meter, in: zone, since: calledAt) }
            return leases
        } catch {
            note(error)
            throw error
        }
    }

    func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        try await client.enqueue(for: meter, session: session)
    }

    func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        try await client.leaveQueue(for: meter, session: session)
    }
}

extension RecordingCloud: CloudLink {
    func account() async throws(SyncFailure) -> CloudAccount { try await client.account() }

    func createZone(_ zone: String, id: String?) async throws(SyncFailure) {
        try await client.createZone(zone, id: id)
    }

    func changes(of type: RecordType, since token: String?, limit: Int) async throws(SyncFailure) -> ChangesPage {
        let calledAt = Journal.now
        do throws(SyncFailure) {
            let page = try await client.changes(of: type, since: token, limit: limit)
            journal.fetched(in: zone, since: calledAt)
            return page
        } catch {
            note(error)
            throw error
        }
    }

    func modify(_ batch: OutboxBatch) async throws(SyncFailure) -> PushOutcome {
        let calledAt = Journal.now
        do throws(SyncFailure) {
            let outcome = try await client.modify(batch)
            if outcome.results.allSatisfy({ $0.failure == nil }) { journal.pushed(host, in: zone, since: calledAt) }
            for (record, result) in zip(batch.records, outcome.results) {
                if let failure = result.failure {
                    note(failure)
                    continue
                }
                for (property, register) in record.properties {
                    guard case .int(let value) = register.value else { continue }
                    journal.acknowledged(record.key.name, property, value, in: zone)
                }
            }
            return outcome
        } catch {
            note(error)
            throw error
        }
    }

    func events() -> AsyncThrowingStream<CloudEvent, any Error> { client.events() }
}
