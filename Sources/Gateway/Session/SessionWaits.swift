package import Domain

/// Those who wait for a meter: for its data, or for permission to use a link to it.
final class SessionWaits {
    enum Goal { case data, permission }

    private let loop: any SessionLoop
    private let claim: LinkClaim
    private var waiting: [UInt64: (goal: Goal, outcome: CheckedContinuation<DeviceSession.DataWait, Never>)] = [:]
    private var count: UInt64 = 0
    /// The session was shut down: nobody waits from now on.
    private(set) var areOver = false

    init(on loop: any SessionLoop, claim: LinkClaim) {
        self.loop = loop
        self.claim = claim
    }

    /// Waits, unless it is known already that the wait is in vain.
    ///
    /// - Parameter ring: called when the time is over.
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

    /// Harmless for a wait that has already ended.
    func end(_ number: UInt64, with outcome: DeviceSession.DataWait) {
        waiting.removeValue(forKey: number)?.outcome.resume(returning: outcome)
    }

    /// - Parameter goal: the waits to end; without it, all of them.
    func endAll(with outcome: DeviceSession.DataWait, of goal: Goal? = nil) {
        for (number, waiter) in waiting.sorted(by: { $0.key < $1.key }) where goal == nil || goal == waiter.goal {
            end(number, with: outcome)
        }
    }
}

extension DeviceSession {
    /// How a wait ended.
    package enum DataWait: Hashable, Sendable {
        case data
        /// A link may be used, or is.
        case permitted
        case timedOut
        case disconnected
        /// Another host has the meter, and nobody here stands in line for it.
        case elsewhere(LinkRefusal)
        /// This host may only look, and its zone is `strict`.
        case barred
        /// The system does not let this program open the link. Waiting would not change that.
        case forbidden(ChannelFailure)
        /// The meter was granted, but not heard here in this time. The lease was given back.
        case notHeard(Duration)
        /// The cloud does not answer, so who has a meter that is not here is unknown.
        case unanswered
        case shuttingDown
    }
}

extension DeviceSession {
    /// Returns when data is available, somebody disconnects, another host turns out to have the meter, or the time is
    /// over.
    package func waitForData(_ patience: Duration) async -> DataWait {
        if states.machine.state == .dataAvailable { return .data }
        return await waits.wait(for: .data, patience, ring: ring)
    }

    /// The same, for the permission to use a link.
    func waitForPermission(_ patience: Duration) async -> DataWait {
        if !states.machine.asksFirst || claim.permission != nil { return .permitted }
        return await waits.wait(for: .permission, patience, ring: ring)
    }
}
