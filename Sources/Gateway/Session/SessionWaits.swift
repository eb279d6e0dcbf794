package import Domain

final class SessionWaits {
    enum Goal { case data, permission }

    private let loop: any SessionLoop
    private let claim: LinkClaim
    private var waiting: [UInt64: (goal: Goal, outcome: CheckedContinuation<DeviceSession.DataWait, Never>)] = [:]
    private var count: UInt64 = 0
    private(set) var areOver = false

    init(on loop: any SessionLoop, claim: LinkClaim) {
        self.loop = loop
        self.claim = claim
    }

    /// Waits for the goal; returns at once if it cannot be reached. Calls `ring` if the wait exceeds `time`.
    func wait(
        for goal: Goal, _ time: Duration, isolation: isolated (any Actor)? = #isolation,
        ring: @escaping @Sendable (SessionTimer) -> Void
    ) async -> DeviceSession.DataWait {
        guard !areOver else { return .shuttingDown }
        if let refusal = claim.lastWord { return .elsewhere(refusal) }
        if claim.isBarred { return .barred }
        count += 1
        let number = count
        let timer = loop.schedule(at: loop.now + time) { ring(.wait(number)) }
        defer { loop.cancel(timer) }
        return await withCheckedContinuation { waiting[number] = (goal, $0) }
    }

    func shutDown() {
        areOver = true
        endAll(with: .shuttingDown)
    }

    func end(_ number: UInt64, with outcome: DeviceSession.DataWait) {
        waiting.removeValue(forKey: number)?.outcome.resume(returning: outcome)
    }

    /// Ends the waits for `goal`; nil ends all waits.
    func endAll(with outcome: DeviceSession.DataWait, of goal: Goal? = nil) {
        for (number, waiter) in waiting.sorted(by: { $0.key < $1.key }) where goal == nil || goal == waiter.goal {
            end(number, with: outcome)
        }
    }
}

extension DeviceSession {
    package enum DataWait: Hashable, Sendable {
        case data
        /// This host may open a link, or already has one.
        case permitted
        case timedOut
        case disconnected
        /// Another host has the meter, and this host does not queue for its lease.
        case elsewhere(LinkRefusal)
        /// This host is read-only, and its zone is `strict`.
        case barred
        /// The system denies this program the link; waiting does not help.
        case forbidden(ChannelFailure)
        /// This host got the lease, but received no advertisement of the meter within this time.
        case notHeard(Duration)
        /// The cloud does not answer, so the holder of an absent meter is unknown.
        case unanswered
        case shuttingDown
    }
}

extension DeviceSession {
    package func waitForData(_ patience: Duration) async -> DataWait {
        if states.machine.state == .dataAvailable { return .data }
        return await waits.wait(for: .data, patience, ring: ring)
    }

    func waitForPermission(_ patience: Duration) async -> DataWait {
        if !states.machine.asksFirst || claim.permission != nil { return .permitted }
        return await waits.wait(for: .permission, patience, ring: ring)
    }
}
