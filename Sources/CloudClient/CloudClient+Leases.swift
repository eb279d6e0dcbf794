import CloudAPI
package import Domain
package import Gateway
import NIOCore
import NIOHTTP1

extension CloudClient: LeaseAuthority {
    package func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome {
        var body = AcquireRequest(request)
        let path = zonePath("leases/\(meter.description.urlPart)/acquire")
        do throws(SyncFailure) {
            return try await acquire(body, at: path)
        } catch {
            guard error.kind == .badRequest, body.takeover != nil else { throw error }
            // An older cloud cannot decode the take-over, and refuses without a decision; this host would then continue
            // without a lease. Repeat the request without the take-over: that answer names the holder.
            body.takeover = nil
            return try await acquire(body, at: path)
        }
    }

    private func acquire(_ body: AcquireRequest, at path: String) async throws(SyncFailure) -> AcquireOutcome {
        do throws(CallFailure) {
            let lease: LeaseBody = try await attempt(.POST, path, body: body)
            guard let granted = AcquireOutcome(granted: lease) else {
                throw .failed(SyncFailure(.other, "\(path): the cloud's lease cannot be read: \(lease)"))
            }
            return granted
        } catch {
            guard case .refused(let content) = error, let refused = AcquireOutcome(refused: content) else {
                throw error.failure
            }
            return refused
        }
    }

    package func renew(
        _ leases: [HeldLease], session: SessionID
    ) async throws(SyncFailure) -> [RenewOutcome] {
        var outcomes: [RenewOutcome] = []
        var rest = leases[...]
        while !rest.isEmpty {
            let some = rest.prefix(CloudLimits.leasesPerRenewal)
            rest = rest.dropFirst(some.count)
            outcomes += try await renewSome(some, session: session)
        }
        return outcomes
    }

    private func renewSome(
        _ leases: ArraySlice<HeldLease>, session: SessionID
    ) async throws(SyncFailure) -> [RenewOutcome] {
        let answer: RenewAnswer = try await call(
            .POST, zonePath("leases/renew"), body: RenewRequest(leases, session: session))
        guard answer.results.count == leases.count else {
            throw SyncFailure(.other, "the cloud answered \(answer.results.count) results to \(leases.count) leases")
        }
        guard zip(leases, answer.results).allSatisfy({ $0.meter == MeterID($1.meter) }) else {
            throw SyncFailure(.other, "the cloud answered about other meters than it was asked for")
        }
        return answer.results.map { RenewOutcome($0) }
    }

    package func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure) {
        let _: Ignored = try await call(
            .POST, zonePath("leases/\(lease.meter.description.urlPart)/release"),
            body: ReleaseRequest(lease, session: session))
    }

    package func leases() async throws(SyncFailure) -> [LeaseView] {
        let list: LeaseList = try await call(.GET, zonePath("leases"))
        // Omit a lease with a newer kind of meter id: it cannot be this host's.
        return list.leases.compactMap { LeaseView($0) }
    }

    package func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        let _: Ignored = try await call(.POST, zonePath("leases/\(meter.description.urlPart)/queue"))
    }

    package func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        let _: Ignored = try await call(.DELETE, zonePath("leases/\(meter.description.urlPart)/queue"))
    }
}
