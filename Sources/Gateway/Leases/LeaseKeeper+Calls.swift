import LeaseCore
import Logging
import MeterModel
import SyncCore

/// The conversation with the authority.
extension LeaseKeeper {
    /// A request to the authority. `of` is the meter by this host's id of it.
    enum Call: Sendable {
        case acquire(LeaseAcquire, of: MeterID, sentAt: MonotonicTime)
        case renew([HeldLease], of: [MeterID], sentAt: MonotonicTime)
        case release(HeldLease, of: MeterID)
        case enqueue(MeterID, of: MeterID)
        case leaveQueue(MeterID)
        case list
    }

    /// Makes the calls, each in a task of its own, until `shutdown` or cancellation.
    package func run() async {
        arm()
        await withDiscardingTaskGroup { group in
            for await call in calls {
                group.addTask { await self.make(call) }
            }
            group.cancelAll()
        }
    }

    private nonisolated func make(_ call: Call) async {
        switch call {
        case .acquire(let request, let meter, let sentAt):
            let asked = await leasedAs(meter)
            let outcome = await Self.outcome { () async throws(SyncFailure) in
                try await self.authority.acquire(request, of: asked)
            }
            await acquired(outcome, meter, sentAt: sentAt)
        case .renew(let leases, let meters, let sentAt):
            let outcome = await Self.outcome { () async throws(SyncFailure) in
                try await self.authority.renew(leases, session: self.identity.session)
            }
            await renewed(outcome, leases, of: meters, sentAt: sentAt)
        case .release(let lease, let meter):
            let outcome = await Self.outcome { () async throws(SyncFailure) in
                try await self.authority.release(lease, session: self.identity.session)
            }
            await released(outcome, lease, of: meter)
        case .enqueue(let lease, let meter):
            let outcome = await Self.outcome { () async throws(SyncFailure) in
                try await self.authority.enqueue(for: lease, session: self.identity.session)
            }
            await enqueued(outcome, meter)
        case .leaveQueue(let lease):
            let outcome = await Self.outcome { () async throws(SyncFailure) in
                try await self.authority.leaveQueue(for: lease, session: self.identity.session)
            }
            await noted(outcome)
        case .list:
            let outcome = await Self.outcome { () async throws(SyncFailure) in try await self.authority.leases() }
            await listed(outcome)
        }
        await callEnded(call)
    }

    private static func outcome<Value: Sendable>(
        _ body: @Sendable () async throws(SyncFailure) -> Value
    ) async -> Result<Value, SyncFailure> {
        do throws(SyncFailure) { return .success(try await body()) } catch { return .failure(error) }
    }

    private func leasedAs(_ meter: MeterID) -> MeterID { entries[meter]?.leasedAs ?? meter }

    // MARK: Outcomes

    private func acquired(_ outcome: Result<AcquireOutcome, SyncFailure>, _ meter: MeterID, sentAt: MonotonicTime) {
        noted(outcome)
        switch outcome {
        case .success(.granted(let lease)):
            board.take(lease, at: loop.now)
            entries[meter]?.leasedAs = lease.meter
            entries[meter]?.searchTime = LeaseTiming.searchTime(after: lease)
            grants.yield(lease.token)
            if hostPolicy == .keep, lease.terms.policy != zonePolicy { policyIs(lease.terms.policy) }
            logger.info(
                "lease granted", metadata: ["meter.id": "\(meter)", "lease.token": "\(lease.token.rawValue)"])
            react(meter) { $0.granted(lease, sentAt: sentAt, at: $1, dice: $2) }
        case .success(.refused(let reason, let lease, let retryAfter)):
            if let lease { board.take(lease, at: loop.now) }
            react(meter) { $0.refused(reason, lease, retryAfter: retryAfter, at: $1, dice: $2) }
            tellRefusal(meter, reason, lease)
        case .failure(let failure):
            react(meter) { $0.requestFailed(retryAfter: failure.retryAfter, at: $1, dice: $2) }
        }
    }

    /// Only while the request still stands: an answer that came too late refuses nothing.
    private func tellRefusal(_ meter: MeterID, _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?) {
        guard let entry = entries[meter], case .waiting = entry.machine.phase(at: loop.now) else { return }
        let holder = lease?.holder == identity.host ? "an earlier run of this host" : lease?.holderName
        logger.info(
            "lease refused",
            metadata: ["meter.id": "\(meter)", "reason": "\(reason.rawValue)", "holder": "\(holder ?? "nobody")"])
        entry.tell?(.refused(LinkRefusal(reason: reason, holder: holder, remaining: lease?.remaining)))
    }

    private func renewed(
        _ outcome: Result<[RenewOutcome], SyncFailure>, _ leases: [HeldLease], of meters: [MeterID],
        sentAt: MonotonicTime
    ) {
        noted(outcome)
        let answers: [RenewOutcome] = if case .success(let answers) = outcome { answers } else { [] }
        for (index, meter) in meters.enumerated() {
            // An authority that answers fewer than it was asked has not answered the rest.
            guard index < answers.count else {
                react(meter) { machine, now, _ in machine.renewalFailed(at: now) }
                continue
            }
            switch answers[index] {
            case .renewed(let lease):
                board.take(lease, at: loop.now)
                // A stricter zone is heeded at once, for all of this host's meters; a laxer one at the next acquire.
                if lease.terms.policy == .strict, hostPolicy == .keep, zonePolicy == .keep { policyIs(.strict) }
                react(meter) { $0.renewed(lease, sentAt: sentAt, at: $1, dice: $2) }
            case .lost(let loss, let lease):
                if let lease { board.take(lease, at: loop.now) }
                react(meter) { $0.renewalLost(loss, of: leases[index].token, lease, at: $1, dice: $2) }
            }
        }
    }

    private func released(_ outcome: Result<Void, SyncFailure>, _ lease: HeldLease, of meter: MeterID) {
        noted(outcome)
        switch outcome {
        case .success:
            logger.info("lease released", metadata: ["meter.id": "\(meter)", "lease.token": "\(lease.token.rawValue)"])
            board.released(lease)
            react(meter) { machine, now, _ in machine.released(lease.token, at: now) }
        case .failure:
            react(meter) { $0.releaseFailed(lease.token, at: $1, dice: $2) }
        }
    }

    private func enqueued(_ outcome: Result<Void, SyncFailure>, _ meter: MeterID) {
        noted(outcome)
        if case .failure = outcome { entries[meter]?.machine.queueLost() }
    }

    private func listed(_ outcome: Result<[LeaseView], SyncFailure>) {
        noted(outcome)
        switch outcome {
        case .success(let leases):
            board.list(leases, at: loop.now)
            // What was told while no event stream was open, nobody heard.
            for meter in meters {
                guard let lease = board.lease(of: leasedAs(meter), at: loop.now) else { continue }
                react(meter) { $0.leaseSeen(lease, at: $1, dice: $2) }
            }
        case .failure: board.listFailed(at: loop.now)
        }
    }

    /// Keeps what the authority's last answer, or its absence, says of the authority.
    private func noted(_ outcome: Result<some Sendable, SyncFailure>) {
        switch outcome {
        case .success:
            if lastFailure != nil {
                logger.notice("the cloud answers again")
                recoveries.yield(loop.now)
            }
            lastFailure = nil
        case .failure(let failure):
            if lastFailure == nil { logger.warning("the cloud does not answer", metadata: ["cause": "\(failure)"]) }
            lastFailure = failure.message
        }
    }
}
