import CloudAPI
package import Gateway
package import LeaseCore
package import MeterModel
import NIOCore
import NIOHTTP1
package import SyncCore

extension CloudClient: LeaseAuthority {
    package func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome {
        var body = AcquireRequest(
            requestID: request.requestID.description, session: request.session.description,
            transport: request.transport.rawValue)
        body.previousSession = request.previousSession?.description
        body.ttl = request.timeToLive.milliseconds
        body.policy = request.policy.rawValue
        body.takeover = request.takeover.map { .of(token: $0.rawValue) }
        body.tokenFloor = request.tokenFloor?.rawValue
        let path = zonePath("leases/\(meter.description.urlPart)/acquire")
        do throws(SyncFailure) {
            return try await acquire(body, at: path)
        } catch {
            guard error.kind == .badRequest, body.takeover != nil else { throw error }
            // A cloud from before take-overs named a grant cannot read one, and has decided nothing. Ask again without,
            // so that it at least says who has the meter: a silent cloud would let this host go on without a lease.
            body.takeover = nil
            return try await acquire(body, at: path)
        }
    }

    private func acquire(_ body: AcquireRequest, at path: String) async throws(SyncFailure) -> AcquireOutcome {
        do throws(CallFailure) {
            let lease: LeaseBody = try await attempt(.POST, path, body: body)
            guard let view = LeaseView(lease) else {
                throw .failed(SyncFailure(.other, "\(path): the cloud's lease cannot be read: \(lease)"))
            }
            return .granted(view)
        } catch {
            guard case .refused(let content) = error, content.code == .leaseHeld else { throw error.failure }
            // A newer cloud's reason: in any case, somebody has the meter.
            return .refused(
                content.reason.flatMap { LeaseAnswer.Refusal.Reason(rawValue: $0) } ?? .held,
                content.lease.flatMap { LeaseView($0) }, retryAfter: error.failure.retryAfter)
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
        let body = RenewRequest(
            session: session.description,
            leases: leases.map { RenewRequest.Lease(meter: $0.meter.description, token: $0.token.rawValue) })
        let answer: RenewAnswer = try await call(.POST, zonePath("leases/renew"), body: body)
        guard answer.results.count == leases.count else {
            throw SyncFailure(.other, "the cloud answered \(answer.results.count) results to \(leases.count) leases")
        }
        guard zip(leases, answer.results).allSatisfy({ $0.meter == MeterID($1.meter) }) else {
            throw SyncFailure(.other, "the cloud answered about other meters than it was asked for")
        }
        return answer.results.map { result in
            let view = result.lease.flatMap { LeaseView($0) }
            if result.result == "renewed", let view { return .renewed(view) }
            // A newer cloud's reason: in any case, the lease is no longer ours.
            return .lost(LeaseRenewal.Loss(rawValue: result.result) ?? .unknown, view)
        }
    }

    package func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure) {
        let body = ReleaseRequest(session: session.description, token: lease.token.rawValue)
        let _: Ignored = try await call(
            .POST, zonePath("leases/\(lease.meter.description.urlPart)/release"), body: body)
    }

    package func leases() async throws(SyncFailure) -> [LeaseView] {
        let list: LeaseList = try await call(.GET, zonePath("leases"))
        // A lease that this version cannot read (a newer kind of meter id) is not this host's.
        return list.leases.compactMap { LeaseView($0) }
    }

    package func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        let _: Ignored = try await call(.POST, zonePath("leases/\(meter.description.urlPart)/queue"))
    }

    package func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        let _: Ignored = try await call(.DELETE, zonePath("leases/\(meter.description.urlPart)/queue"))
    }
}

extension LeaseView {
    /// Nil for a meter or state that this version does not know.
    init?(_ body: LeaseBody) {
        guard let meter = MeterID(body.meter), let state = State(rawValue: body.state),
            let policy = LeasePolicy(rawValue: body.policy), body.token <= FencingToken.max.rawValue
        else { return nil }
        let terms = LeaseTerms(
            timeToLive: .milliseconds(body.ttl), lockDelay: .milliseconds(body.lockDelay), policy: policy)
        self.init(
            meter: meter, state: state, holder: body.holderID.flatMap { HostID($0) }, holderName: body.holderName,
            token: FencingToken(rawValue: body.token), terms: terms,
            transport: body.transport.flatMap { LeaseTransport(rawValue: $0) }, acquiredAt: body.acquiredAt,
            remaining: min(.milliseconds(max(0, body.remaining)), terms.timeToLive), waiting: body.waiting)
        isOldHolderTold = body.oldHolderTold ?? true
    }
}
