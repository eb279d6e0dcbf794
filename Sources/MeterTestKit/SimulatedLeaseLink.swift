package import Domain
package import Gateway
import Synchronization

/// One host's link to a simulated zone, which may delay or lose requests and answers.
package final class SimulatedLeaseLink: LeaseAuthority {
    package enum Fault: Hashable, Sendable {
        case unreachable
        /// This host has a read-only access token: it may only list leases.
        case readOnly
        /// Requests get no answer until the caller's task is cancelled or `heal` is called.
        case silent
    }

    package enum Request: Hashable, Sendable {
        case acquire(MeterID)
        case renew([MeterID])
        case release(MeterID)
        case enqueue(MeterID)
        case leaveQueue(MeterID)
        case list
    }

    private struct Parked {
        var resume: @Sendable (Bool) -> Void
    }

    private struct State {
        var fault: Fault?
        var lostRequests = 0
        var lostAnswers = 0
        var parked: [UInt64: Parked] = [:]
        var nextNumber: UInt64 = 0
        var log: [(request: Request, time: MonotonicTime)] = []
    }

    private let host: HostID
    private let zone: SimulatedLeaseZone
    private let state = Mutex(State())

    init(host: HostID, zone: SimulatedLeaseZone) {
        self.host = host
        self.zone = zone
    }

    // MARK: What a test does and asks

    /// Sets the receiver of the zone's events, called on the loop; nil for none. The first event is `opened`.
    package func listen(_ hear: (@Sendable (CloudEvent) -> Void)?) {
        zone.listen(host, hear)
        guard let hear else { return }
        _ = zone.loop.schedule(at: zone.loop.now) { hear(.opened) }
    }

    package func set(_ fault: Fault) { state.withLock { $0.fault = fault } }

    /// Ends the fault. Requests without an answer fail.
    package func heal() {
        let hanging = state.withLock { state in
            state.fault = nil
            defer { state.parked = [:] }
            return state.parked.sorted { $0.key < $1.key }.map(\.value)
        }
        for parked in hanging { parked.resume(false) }
    }

    /// Loses the next `requests` requests, and the answers to the next `answers` executed ones. These calls fail after
    /// the latency.
    package func lose(requests: Int = 0, answers: Int = 0) {
        state.withLock {
            $0.lostRequests += requests
            $0.lostAnswers += answers
        }
    }

    package var parkedCount: Int { state.withLock { $0.parked.count } }
    /// All sent requests, even lost ones.
    package var requests: [Request] { state.withLock { $0.log.map(\.request) } }

    package func times(of wanted: Request) -> [MonotonicTime] {
        state.withLock { state in state.log.filter { $0.request == wanted }.map(\.time) }
    }

    // MARK: LeaseAuthority

    package func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome {
        try await travel(.acquire(meter)) { $0.acquire(request, of: meter) }
    }

    package func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome] {
        try await travel(.renew(leases.map(\.meter))) { zone in leases.map { zone.renew($0, session: session) } }
    }

    package func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure) {
        try await travel(.release(lease.meter)) { $0.release(lease, session: session) }
    }

    package func leases() async throws(SyncFailure) -> [LeaseView] {
        try await travel(.list) { $0.leases() }
    }

    package func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        try await travel(.enqueue(meter)) { [host] in $0.enqueue(host, for: meter) }
    }

    package func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        try await travel(.leaveQueue(meter)) { [host] in $0.leaveQueue(host, for: meter) }
    }

    private func travel<Answer: Sendable>(
        _ request: Request, _ deed: @Sendable (SimulatedLeaseZone) -> Answer
    ) async throws(SyncFailure) -> Answer {
        let (isLost, losesAnswer) = state.withLock { state in
            state.log.append((request, zone.loop.now))
            let isLost = state.lostRequests > 0
            state.lostRequests = max(0, state.lostRequests - 1)
            let losesAnswer = !isLost && state.lostAnswers > 0
            if losesAnswer { state.lostAnswers -= 1 }
            return (isLost, losesAnswer)
        }
        guard await arrive(after: zone.latency), !isLost else { throw SyncFailure(.network, "no way to the cloud") }
        guard request == .list || !isReadOnly else {
            guard await arrive(after: zone.latency) else { throw SyncFailure(.network, "no way back") }
            throw SyncFailure(.readOnly, "this host may only look")
        }
        let answer = zone.inTurn(deed)
        guard await arrive(after: zone.latency), !losesAnswer else {
            throw SyncFailure(.network, "the answer was lost")
        }
        return answer
    }

    /// - Returns: false if the link is broken or the caller's task was cancelled.
    private func arrive(after latency: Duration) async -> Bool {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let parked = Parked { continuation.resume(returning: $0) }
                let fault = state.withLock { state in
                    state.parked[number] = parked
                    return state.fault
                }
                if Task.isCancelled { resume(number, false) }
                guard fault != .silent else { return }
                _ = zone.loop.schedule(at: zone.loop.now + latency) { [weak self] in
                    self?.resume(number, self?.isReachable ?? false)
                }
            }
        } onCancel: {
            resume(number, false)
        }
    }

    private var isReadOnly: Bool { state.withLock { $0.fault == .readOnly } }

    private var isReachable: Bool { state.withLock { $0.fault != .unreachable } }

    private func resume(_ number: UInt64, _ arrived: Bool) {
        state.withLock { $0.parked.removeValue(forKey: number) }?.resume(arrived)
    }
}
