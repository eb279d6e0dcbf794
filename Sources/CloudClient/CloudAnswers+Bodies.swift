package import CloudAPI
package import Domain
package import Gateway

extension AcquireRequest {
    package init(_ request: LeaseAcquire) {
        self.init(
            requestID: request.requestID.description, session: request.session.description,
            transport: request.transport.rawValue)
        previousSession = request.previousSession?.description
        ttl = request.timeToLive.milliseconds
        policy = request.policy.rawValue
        takeover = request.takeover.map { .of(token: $0.rawValue) }
        tokenFloor = request.tokenFloor?.rawValue
    }
}

extension RenewRequest {
    package init(_ leases: some Sequence<HeldLease>, session: SessionID) {
        self.init(
            session: session.description,
            leases: leases.map { Lease(meter: $0.meter.description, token: $0.token.rawValue) })
    }
}

extension ReleaseRequest {
    package init(_ lease: HeldLease, session: SessionID) {
        self.init(session: session.description, token: lease.token.rawValue)
    }
}

extension AcquireOutcome {
    /// Nil if the lease cannot be decoded.
    package init?(granted lease: LeaseBody) {
        guard let view = LeaseView(lease) else { return nil }
        self = .granted(view)
    }

    /// - Returns: nil for any error but `leaseHeld`.
    package init?(refused content: CloudErrorBody.Content) {
        guard content.code == .leaseHeld else { return nil }
        // The meter is unavailable even if a newer cloud gives an unknown reason.
        self = .refused(
            content.reason.flatMap { LeaseAnswer.Refusal.Reason(rawValue: $0) } ?? .held,
            content.lease.flatMap { LeaseView($0) }, retryAfter: SyncFailure(content).retryAfter)
    }
}

extension RenewOutcome {
    package init(_ result: RenewAnswer.Result) {
        let view = result.lease.flatMap { LeaseView($0) }
        if result.result == "renewed", let view {
            self = .renewed(view)
        } else {
            // The lease is lost even if a newer cloud gives an unknown reason.
            self = .lost(LeaseRenewal.Loss(rawValue: result.result) ?? .unknown, view)
        }
    }
}

extension LeaseView {
    /// Nil for an unknown meter id or state.
    package init?(_ body: LeaseBody) {
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

extension CloudAccount {
    /// Nil if the host's id or the time is invalid.
    package init?(_ body: AccountBody) {
        guard let host = HostID(body.hostID), let time = UInt64(exactly: body.serverTime) else { return nil }
        self.init(
            zone: body.zone, host: host, hostName: body.hostName, serverTime: time, epoch: body.epoch,
            policy: body.policy, zoneID: body.zoneID)
        // A newer cloud may send an unknown role. `full` is safe: the cloud refuses forbidden calls.
        role = body.role.flatMap { HostRole(rawValue: $0) } ?? .full
    }
}

extension ChangesPage {
    /// Nil if a record is of another type, which the page's change token does not cover.
    package init?(_ body: ChangesBody, of type: RecordType) {
        guard body.records.allSatisfy({ $0.key.type == type }) else { return nil }
        self.init(
            type: type, records: body.records, token: body.changeToken, moreComing: body.moreComing, epoch: body.epoch,
            zoneID: body.zoneID)
    }
}

extension CloudEvent {
    /// Nil for an unknown event.
    package init?(_ body: EventBody) {
        if let change = body.change {
            self = .changed(
                types: change.types.map { RecordType(rawValue: $0) }, host: change.hostID.flatMap { HostID($0) })
        } else if let lease = body.lease {
            guard let view = LeaseView(lease) else { return nil }
            self = .lease(view)
        } else if let offer = body.offer, let meter = MeterID(offer.meter) {
            self = .offer(meter: meter, reserved: .remaining(milliseconds: offer.reserved))
        } else if let interest = body.interest {
            guard let meter = MeterID(interest.meter) else { return nil }
            self = .interest(
                meter: meter, remaining: .remaining(milliseconds: interest.remaining), wantsAll: interest.all)
        } else if let command = body.command {
            guard let command = RelayCommand(command) else { return nil }
            self = .command(command)
        } else if let log = body.log {
            guard let question = LogQuestion(log) else { return nil }
            self = .log(question)
        } else {
            guard let time = body.serverTime.flatMap({ UInt64(exactly: $0) }) else { return nil }
            self = .ping(serverTime: time)
        }
    }
}

extension Duration {
    /// Limits a duration to one day, because sums of longer ones would overflow.
    static func remaining(milliseconds: Int64) -> Duration { .milliseconds(min(max(0, milliseconds), 86_400_000)) }
}
