import Domain

extension SimulatedServer {
    mutating func acquire(_ request: LeaseAcquire, _ meter: Int, from host: Int, at time: TrueTime) -> CloudResponse {
        let now = clock.now(at: time)
        settleRestore(at: now)
        let before = store.value.leases[meter]
        let isHeld = before.map { $0.holder != nil && !$0.isOver(at: now) } ?? false
        let circumstances = LeaseCircumstances(
            now: now, wallNow: clock.wall(at: time), terms: terms, grantsNothingNewBefore: grantsNothingNewBefore,
            tokenFloor: store.value.tokenFloor, reservedFor: isHeld ? nil : reserved(meter, at: now),
            nextInQueue: reserved(meter, at: now))
        var judged = before
        if bug == .noLockDelay, judged?.holder?.host != request.host {
            judged?.renewedAt = before.map { $0.renewedAt - terms.lockDelay } ?? now
        }
        if bug == .forgetsRequests, let record = judged {
            judged = LeaseRecord(
                state: record.state, token: record.token, terms: record.terms, renewedAt: record.renewedAt,
                grants: Array(record.grants.suffix(1)))
        }
        var request = request
        if bug == .ignoresClaims { request.tokenFloor = nil }
        let decision = LeaseRules.acquire(request, of: judged, in: circumstances)
        if let record = decision.record {
            if before?.token != record.token { formerHolders[meter] = before }
            store.commit { $0.leases[meter] = record }
        }
        switch decision.answer {
        case .granted(let record):
            granted(record, before, request, meter, host, at: now)
            return .granted(view(record, meter, at: now))
        case .refused(let refusal):
            refused(refusal, request, before, meter, host, at: now)
            let shown = refusal.record.map { view($0, meter, at: now) }
            return .refused(refusal.reason, shown, retryAfter: refusal.retryAfter)
        }
    }

    private mutating func granted(
        _ record: LeaseRecord, _ before: LeaseRecord?, _ request: LeaseAcquire, _ meter: Int, _ host: Int,
        at now: MonotonicTime
    ) {
        let isNews = before?.token != record.token
        coverage.note(isNews ? .acquireGranted : .acquireRepeated)
        if isNews, let last = before?.holder {
            if last.host == request.host { coverage.note(.predecessor) }
            if before?.isOver(at: now) == true { coverage.note(.afterExpiry) }
            if request.takeover != nil, before?.isOver(at: now) == false { coverage.note(.takeover) }
        }
        lines[meter].offeredUntil = nil
        leaveLine(meter, host)
        if isNews { tellLease(meter, at: now) }
    }

    private mutating func refused(
        _ refusal: LeaseAnswer.Refusal, _ request: LeaseAcquire, _ before: LeaseRecord?, _ meter: Int, _ host: Int,
        at now: MonotonicTime
    ) {
        switch refusal.reason {
        case .held: coverage.note(.refusedHeld)
        case .revoking: coverage.note(.refusedRevoking)
        case .reserved: coverage.note(.refusedReserved)
        case .restoring: coverage.note(.refusedRestoring)
        case .released: coverage.note(.refusedReleased)
        case .exhausted: break
        }
        let isNews = refusal.record.map { $0.state != before?.state } ?? false
        if refusal.reason == .revoking, request.takeover == refusal.record?.token, streams[host] != nil {
            if isNews {
                leaveLine(meter, host)
                lines[meter].waiters.insert(host, at: 0)
                lines[meter].offeredUntil = nil
            } else if !lines[meter].waiters.contains(host) {
                lines[meter].waiters.append(host)
            }
        }
        if isNews { tellLease(meter, at: now) }
        if isNews, refusal.record?.holder == nil { settleQueue(meter, at: now) }
    }

    mutating func renew(
        _ leases: [(meter: Int, token: FencingToken)], _ session: SessionID, from host: Int, at time: TrueTime
    ) -> CloudResponse {
        let now = clock.now(at: time)
        return .renewals(
            leases.map { lease in
                let record = store.value.leases[lease.meter]
                let policy = bug == .renewalKeepsPolicy ? .keep : terms.policy
                let decision = LeaseRules.renew(
                    lease.token, session: session, of: record, under: policy, at: now)
                if bug == .renewsForgotten, case .lost(.unknown, _) = decision.answer {
                    let holder = LeaseHolder(
                        host: members[host].id, hostName: members[host].name, session: session, transport: .usb,
                        acquiredAt: clock.wall(at: time))
                    let invented = LeaseRecord(
                        state: .held(holder), token: lease.token, terms: terms, renewedAt: now, grants: [])
                    return (.renewed(invented), view(invented, lease.meter, at: now))
                }
                if let renewed = decision.record { store.touch { $0.leases[lease.meter] = renewed } }
                note(decision.answer)
                if case .lost(.takenOver, _) = decision.answer, bug == .renewalAfterLoss,
                    let former = formerHolders[lease.meter], former.token == lease.token
                {
                    return (.renewed(former), view(former, lease.meter, at: now))
                }
                switch decision.answer {
                case .renewed(let record): return (decision.answer, view(record, lease.meter, at: now))
                case .lost(_, let record):
                    return (decision.answer, record.map { view($0, lease.meter, at: now) })
                }
            })
    }

    private mutating func note(_ renewal: LeaseRenewal) {
        switch renewal {
        case .renewed: coverage.note(.renewed)
        case .lost(.takenOver, _): coverage.note(.lostTakenOver)
        case .lost(.revoking, _): coverage.note(.lostRevoking)
        case .lost(.released, _): coverage.note(.lostReleased)
        case .lost(.unknown, _): coverage.note(.lostUnknown)
        }
    }

    mutating func release(
        _ token: FencingToken, _ meter: Int, _ session: SessionID, at time: TrueTime
    ) -> CloudResponse {
        let now = clock.now(at: time)
        var freed = LeaseRules.release(token, session: session, of: store.value.leases[meter]).record
        if bug == .releaseOfAnother, freed == nil, var record = store.value.leases[meter] {
            record.state = .free
            freed = record
        }
        if let freed {
            coverage.note(.released)
            store.commit { $0.leases[meter] = freed }
            tellLease(meter, at: now)
            settleQueue(meter, at: now)
        }
        return .done
    }

    /// By an administrator.
    mutating func revoke(_ meter: Int, at time: TrueTime) {
        guard let revoked = LeaseRules.revoke(store.value.leases[meter]).record else { return }
        coverage.note(.revoked)
        store.commit { $0.leases[meter] = revoked }
        tellLease(meter, at: clock.now(at: time))
    }

    private mutating func settleRestore(at now: MonotonicTime) {
        guard let end = grantsNothingNewBefore, now >= end else { return }
        grantsNothingNewBefore = nil
        store.commit { $0.isRestoring = false }
    }

    // MARK: Lease queues

    mutating func enqueue(_ meter: Int, from host: Int, at time: TrueTime) -> CloudResponse {
        guard streams[host] != nil else { return .failed(.init(.badRequest, "no stream")) }
        coverage.note(.queued)
        if !lines[meter].waiters.contains(host) { lines[meter].waiters.append(host) }
        settleQueue(meter, at: clock.now(at: time))
        return .done
    }

    mutating func leaveLine(_ meter: Int, _ host: Int) {
        guard let place = lines[meter].waiters.firstIndex(of: host) else { return }
        lines[meter].waiters.remove(at: place)
        if place == 0 { lines[meter].offeredUntil = nil }
    }

    private func reserved(_ meter: Int, at now: MonotonicTime) -> HostID? {
        let line = lines[meter]
        let first = line.offeredUntil.map { $0 <= now } ?? false ? line.waiters.dropFirst().first : line.waiters.first
        return first.map { members[$0].id }
    }

    /// Offers the meter to who waits first, where it can be had. Called after each change, and each second.
    mutating func settleQueue(_ meter: Int, at now: MonotonicTime) {
        for host in lines[meter].waiters where streams[host] == nil { leaveLine(meter, host) }
        let record = store.value.leases[meter]
        guard record?.holder == nil || record?.isOver(at: now) == true, grantsNothingNewBefore == nil else {
            lines[meter].offeredUntil = nil
            return
        }
        if let until = lines[meter].offeredUntil {
            guard until <= now else { return }
            lines[meter].waiters.removeFirst()
            lines[meter].offeredUntil = nil
        }
        guard let first = lines[meter].waiters.first else { return }
        lines[meter].offeredUntil = now + LeaseRules.reservation
        coverage.note(.offered)
        pendingEvents.append((first, .offer(meter: meter)))
    }
}
