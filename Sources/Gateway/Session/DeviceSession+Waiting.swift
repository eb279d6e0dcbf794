import ConnectionCore
import MeterModel

/// Those who wait for a meter.
extension DeviceSession {
    /// What somebody waits for, and how to tell that it came.
    struct Waiter {
        enum Goal { case data, permission }

        var goal: Goal
        var outcome: CheckedContinuation<DataWait, Never>
    }

    /// How a wait ended.
    package enum DataWait: Hashable, Sendable {
        case data
        /// A link may be used, or is.
        case permitted
        case timedOut
        case disconnected
        /// Another host has the meter, and nobody stands in line for it here.
        case elsewhere(LinkRefusal)
        /// The system does not let this program open the link, which waiting does not change.
        case forbidden(ChannelFailure)
        /// It was granted, and not heard here for so long. The lease was given back.
        case notHeard(Duration)
        /// The cloud does not answer, so that nobody knows who has a meter that is not here.
        case unanswered
        case shuttingDown
    }

    /// Returns when data is available, somebody disconnects, another host turns out to have it, or the time is over.
    package func waitForData(_ patience: Duration) async -> DataWait {
        if machine.state == .dataAvailable { return .data }
        return await wait(for: .data, patience)
    }

    /// The same for the permission to use a link.
    package func waitForPermission(_ patience: Duration) async -> DataWait {
        if !machine.asksFirst || permission != nil { return .permitted }
        return await wait(for: .permission, patience)
    }

    private func wait(for goal: Waiter.Goal, _ time: Duration) async -> DataWait {
        guard !isShutDown else { return .shuttingDown }
        if let refusal, !patience.outlasts(refusal) { return .elsewhere(refusal) }
        nextWaiterID += 1
        let waiter = nextWaiterID
        let timer = loop.schedule(at: loop.now + time) { [weak self] in
            self?.assumeIsolated { $0.endWait(waiter, with: .timedOut) }
        }
        defer { loop.cancel(timer) }
        return await withCheckedContinuation { waiters[waiter] = Waiter(goal: goal, outcome: $0) }
    }

    private func endWait(_ waiter: UInt64, with outcome: DataWait) {
        waiters.removeValue(forKey: waiter)?.outcome.resume(returning: outcome)
    }

    /// - Parameter goal: nil: all of them.
    func endWaits(with outcome: DataWait, of goal: Waiter.Goal? = nil) {
        for (waiter, waiting) in waiters.sorted(by: { $0.key < $1.key }) where goal == nil || goal == waiting.goal {
            endWait(waiter, with: outcome)
        }
    }
}
