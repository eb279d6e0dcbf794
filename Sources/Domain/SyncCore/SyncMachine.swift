/// The sync session: handles inputs and returns effects (Docs/Sync.md#a-run).
///
/// One run at a time performs one operation at a time: account, zone and subscription, then batches and pages
/// alternately. A trigger during a run requests one more run. No failure ends the session: it retries, or halts until
/// `resumed` if only a person can help.
///
/// Seven middlewares decide, each in a file of its name: splitting, errors, retry, work, logging, zone set-up, account
/// status. `read` passes an input from the first to the last, before the state changes. `nextStep` calls them from the
/// last to the first: no work before zone set-up, no zone set-up without an account.
///
/// The machine performs no I/O and reads neither clock nor random numbers.
package struct SyncMachine: Sendable {
    package private(set) var state: SyncState
    private var inputs: UInt64 = 0

    package init(zone: String, host: HostID, timing: SyncTiming = SyncTiming(), bringsAll: Bool = false) {
        state = SyncState(zone: zone, host: host, timing: timing, bringsAll: bringsAll)
    }

    package var nextWake: MonotonicTime? { state.nextWake }

    /// - Parameter random: random bits for the jitter of the next attempt.
    /// - Returns: effects in order, with at most one `perform`; none while another operation runs.
    package mutating func handle(_ input: SyncInput, at now: MonotonicTime, random: UInt64) -> [SyncEffect] {
        let moment = SyncMoment(now: now, random: random)
        let event = read(input, moment)
        inputs += 1
        var effects = [state.logging(event, number: inputs, at: now)]
        effects += state.apply(event, moment)
        effects += advance(moment)
        return effects
    }

    private func read(_ input: SyncInput, _ moment: SyncMoment) -> SyncEvent {
        do throws(SyncFailure) {
            if let verdict = state.splitting(input) { return .verdict(verdict) }
            if let verdict = try state.errors(input) { return .verdict(verdict) }
            if let verdict = state.accountStatus(input) { return .verdict(verdict) }
            return .input(input)
        } catch {
            return .verdict(state.retry(after: error, moment))
        }
    }

    private func nextStep(of run: SyncRun, at now: MonotonicTime) throws(SyncFailure) -> SyncStep {
        if let next = run.following.first, run.ending == nil || next.completesStep { return .perform(next) }
        if run.ending != nil { return .finish(.cancelled) }
        if let step = state.accountStatus(run) { return step }
        if let step = state.zoneSetUp(run, at: now) { return step }
        return try state.work(run, at: now)
    }

    private mutating func advance(_ moment: SyncMoment) -> [SyncEffect] {
        var effects: [SyncEffect] = []
        while true {
            state.beginRunIfDue(at: moment.now)
            guard let run = state.run, run.operation == nil else { return effects }
            do throws(SyncFailure) {
                switch try nextStep(of: run, at: moment.now) {
                case .perform(let operation):
                    state.begin(operation)
                    return effects + [.perform(operation)]
                case .openEvents: effects += state.stream.open(at: moment.now)
                case .wait: return effects
                case .finish(let end): effects += state.finishRun(end, moment)
                }
            } catch {
                effects += state.apply(.verdict(state.retry(after: error, moment)), moment)
            }
        }
    }
}

enum SyncStep: Hashable, Sendable {
    case perform(SyncOperation)
    case openEvents
    case wait
    case finish(SyncResult.End)
}

struct SyncMoment: Hashable, Sendable {
    var now: MonotonicTime
    var random: UInt64
}
