package import Domain

/// Requests to the lease authority. Only each request's own task waits for the answer.
extension LeaseKeeper {
    package struct Identity: Hashable, Sendable {
        package var host: HostID
        package var hostName: String
        /// Id of the current program run.
        package var session: SessionID
        /// Nil unless this run holds the lock of the state folder, which proves that the previous run has ended.
        package var previousSession: SessionID?

        package init(host: HostID, hostName: String, session: SessionID, previousSession: SessionID? = nil) {
            self.host = host
            self.hostName = hostName
            self.session = session
            self.previousSession = previousSession
        }
    }

    /// Request to the lease authority; `of` is the meter's id on this host.
    enum Call: Sendable {
        case acquire(LeaseAcquire, of: MeterID, sentAt: MonotonicTime)
        case renew([HeldLease], of: [MeterID], sentAt: MonotonicTime)
        case release(HeldLease, of: MeterID)
        case enqueue(MeterID, of: MeterID)
        case leaveQueue(MeterID)
        case list

        var meters: [MeterID] {
            switch self {
            case .acquire(_, let meter, _), .release(_, let meter), .enqueue(_, let meter): [meter]
            case .renew(_, let meters, _): meters
            case .leaveQueue, .list: []
            }
        }
    }

    /// Sends each request in its own task, until `shutdown` or cancellation.
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
}
