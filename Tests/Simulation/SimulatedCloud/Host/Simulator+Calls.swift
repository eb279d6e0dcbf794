import Domain

/// Requests of hosts and their ends.
extension Simulator {
    /// A host's client gives up on an answer after so long.
    private static let callTimeout: TrueTime = 10 * .second

    @discardableResult
    mutating func send(_ request: CloudRequest, from index: Int, for operation: SyncOperation? = nil) -> UInt64 {
        let call = CloudCall(
            id: nextID(), host: index, run: hosts[index].run, sentAt: now, zone: hosts[index].zone, request: request)
        hosts[index].calls[call.id] = SimulatedHost.OpenCall(
            call: call, sentAt: hosts[index].clock.now(at: now), operation: operation)
        let delays = hosts[index].link.send(.up, at: now, &rng)
        if delays.isEmpty { coverage.note(.messageLost) }
        if let first = delays.first, first > .second { coverage.note(.messageSlow) }
        for (copy, delay) in delays.enumerated() {
            var arriving = call
            arriving.isCopy = copy > 0
            if arriving.isCopy {
                coverage.note(.messageDoubled)
                record(call, .failed(SyncFailure(.network, "a copy")), returnedAt: now)
            }
            queue.add(.request(arriving), at: now + delay)
        }
        queue.add(.callFailed(host: index, run: call.run, call: call.id), at: now + Self.callTimeout)
        return call.id
    }

    mutating func answered(_ index: Int, _ id: UInt64, _ response: CloudResponse, _ decision: Decision) {
        guard let open = hosts[index].calls.removeValue(forKey: id) else { return }
        record(open.call, response, returnedAt: now)
        note("\(hosts[index].name): \(open.call.request.name) answered: \(response.name)")
        let moment = hosts[index].clock.now(at: now)
        if let operation = open.operation {
            exchanged(index, operation, response, roundTrip: moment - open.sentAt)
            return
        }
        let sentAt = scenario.bug == .countsFromReceipt ? moment : open.sentAt
        switch (open.call.request, response) {
        case (.acquire(_, let meter), .granted(let lease)):
            if lease.terms.policy != hosts[index].policy { hosts[index].policyIs(lease.terms.policy) }
            let action = hosts[index].leases[meter].granted(lease, sentAt: sentAt, at: moment, random: rng.next())
            permitted(index, meter, action, decision)
            perform(action, index, meter)
        case (.acquire(_, let meter), .refused(let reason, let lease, let retryAfter)):
            guard hosts[index].acquireCalls[meter] == id else { return }
            perform(
                hosts[index].leases[meter].refused(
                    reason, lease, retryAfter: retryAfter, at: moment, random: rng.next()), index, meter)
        case (.renew(let leases, _), .renewals(let results)):
            for (lease, result) in zip(leases, results) {
                // An answer that was under way when the store went back tells nothing of that.
                if decision.generation == generation, hosts[index].decisions[lease.meter]?.generation != generation {
                    hosts[index].isTold[lease.meter] = true
                }
                renewed(index, lease.meter, lease.token, result.renewal, result.view, sentAt: sentAt, decision)
            }
        case (.release(let token, let meter, _), _):
            perform(hosts[index].leases[meter].released(token, at: moment), index, meter)
        default:
            break
        }
    }

    private mutating func renewed(
        _ index: Int, _ meter: Int, _ token: FencingToken, _ renewal: LeaseRenewal, _ view: LeaseView?,
        sentAt: MonotonicTime, _ decision: Decision
    ) {
        let moment = hosts[index].clock.now(at: now)
        switch renewal {
        case .renewed:
            guard let view else { return }
            // As the lease keeper does: a stricter zone is heeded at once.
            if view.terms.policy == .strict, hosts[index].policy == .keep { hosts[index].policyIs(.strict) }
            let action = hosts[index].leases[meter].renewed(view, sentAt: sentAt, at: moment, random: rng.next())
            permitted(index, meter, action, decision)
            perform(action, index, meter)
        case .lost(let loss, _):
            perform(
                hosts[index].leases[meter].renewalLost(loss, of: token, view, at: moment, random: rng.next()), index,
                meter)
        }
    }

    /// An answer that was in time: from now on the host goes by it.
    private mutating func permitted(
        _ index: Int, _ meter: Int, _ action: LeaseMachine.Action, _ decision: Decision
    ) {
        guard case .permit = action else { return }
        hosts[index].decisions[meter] = decision
        hosts[index].isTold[meter] = false
    }

    mutating func failed(_ index: Int, _ id: UInt64) {
        guard let open = hosts[index].calls.removeValue(forKey: id) else { return }
        record(open.call, .failed(SyncFailure(.network, "no answer")), returnedAt: now)
        note("\(hosts[index].name): \(open.call.request.name) failed")
        let moment = hosts[index].clock.now(at: now)
        if open.operation != nil {
            coverage.note(.network)
            sync(index, .cloudFailed(SyncFailure(.network, "no answer")))
            return
        }
        switch open.call.request {
        case .acquire(_, let meter):
            guard hosts[index].acquireCalls[meter] == id else { return }
            perform(hosts[index].leases[meter].requestFailed(at: moment, random: rng.next()), index, meter)
        case .renew(let leases, _):
            for lease in leases {
                perform(hosts[index].leases[lease.meter].renewalFailed(at: moment), index, lease.meter)
            }
        case .release(let token, let meter, _):
            perform(hosts[index].leases[meter].releaseFailed(token, at: moment, random: rng.next()), index, meter)
        case .openStream(let stream):
            if hosts[index].stream == stream { lostStream(index) }
        case .enqueue, .leaveQueue, .closeStream, .account, .createZone, .modify, .changes:
            break
        }
    }

    /// The process is gone with its open calls, or the run is over: nobody will know what became of them.
    mutating func loseOpenCalls(_ index: Int) {
        for id in hosts[index].calls.keys.sorted() {
            guard let open = hosts[index].calls[id] else { continue }
            record(open.call, .failed(SyncFailure(.network, "never answered")), returnedAt: now)
        }
        hosts[index].calls = [:]
    }

    // MARK: The lease history

    mutating func record(_ call: CloudCall, _ response: CloudResponse, returnedAt: TrueTime) {
        guard !hasRestored else { return }
        switch call.request {
        case .acquire(let request, let meter):
            let acquire = LeaseOperation.Acquire(
                requestID: request.requestID, host: request.host, session: request.session,
                previousSession: request.previousSession, takeover: request.takeover)
            let outcome: LeaseOperation.Outcome =
                switch response {
                case .granted(let lease): .granted(lease.token)
                case .refused(let reason, let lease, _): .refused(reason, lease.map(LeaseOperation.Sight.init))
                default: .unknown
                }
            record(call, meter, .acquire(acquire), outcome, returnedAt)
        case .renew(let leases, let session):
            for (place, lease) in leases.enumerated() {
                var outcome = LeaseOperation.Outcome.unknown
                if case .renewals(let results) = response {
                    switch results[place].renewal {
                    case .renewed: outcome = .renewed
                    case .lost(let loss, _): outcome = .lost(loss)
                    }
                }
                record(call, lease.meter, .renew(session: session, token: lease.token), outcome, returnedAt)
            }
        case .release(let token, let meter, let session):
            var outcome = LeaseOperation.Outcome.unknown
            if case .done = response { outcome = .done }
            record(call, meter, .release(session: session, token: token), outcome, returnedAt)
        case .enqueue, .leaveQueue, .openStream, .closeStream, .account, .createZone, .modify, .changes:
            break
        }
    }

    private mutating func record(
        _ call: CloudCall, _ meter: Int, _ request: LeaseOperation.Request, _ outcome: LeaseOperation.Outcome,
        _ returnedAt: TrueTime
    ) {
        judge.record(
            LeaseOperation(
                meter: "\(meter)", request: request, outcome: outcome, calledAt: Self.moment(call.sentAt),
                returnedAt: Self.moment(returnedAt)))
    }

    static func moment(_ time: TrueTime) -> MonotonicTime { MonotonicTime(sinceOrigin: .microseconds(time)) }
}

extension LeaseOperation.Sight {
    fileprivate init(_ lease: LeaseView) { self.init(holder: lease.holder, token: lease.token) }
}
