/// The sync session: an input goes in, effects come out (Docs/Sync.md#a-run).
///
/// There is one run at a time, and within a run one operation at a time, in the order account, zone, subscription, then
/// batches and pages in turn. A trigger during a run is never lost: it asks for another run, once. No failure ends the
/// session for good: what time may heal is tried again for ever, and what only a person can fix halts the session until
/// `resumed`.
///
/// Seven middlewares decide, each a function of the state in a file of its name, in this order: splitting, errors,
/// retry, work, logging, zone set-up, account status. An input passes them from the first to the last, before the state
/// changes (`read`). They are asked from the last to the first what to do next (`nextStep`): no work in a zone that is
/// not set up, no set-up without an account.
///
/// The machine performs no I/O, reads no clock and draws no random numbers. After each input `nextWake` says when to
/// send `woke`.
package struct SyncMachine: Sendable {
    package private(set) var state: SyncState
    /// Number of inputs so far.
    private var inputs: UInt64 = 0

    package init(zone: String, host: HostID, timing: SyncTiming = SyncTiming(), bringsAll: Bool = false) {
        state = SyncState(zone: zone, host: host, timing: timing, bringsAll: bringsAll)
    }

    package var nextWake: MonotonicTime? { state.nextWake }

    /// Handles one input.
    ///
    /// - Parameter random: random bits, for the jitter of the next attempt.
    /// - Returns: what to do, in this order: at most one `perform`, and none while another is under way.
    package mutating func handle(_ input: SyncInput, at now: MonotonicTime, random: UInt64) -> [SyncEffect] {
        let moment = SyncMoment(now: now, random: random)
        let event = read(input, moment)
        inputs += 1
        var effects = [state.logging(event, number: inputs, at: now)]
        effects += state.apply(event, moment)
        effects += advance(moment)
        return effects
    }

    /// What an input means: a verdict if a middleware has one, otherwise the input as it is.
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

    /// What a run with nothing under way does next.
    ///
    /// - Throws: why the run is over for now.
    private func nextStep(of run: SyncRun, at now: MonotonicTime) throws(SyncFailure) -> SyncStep {
        if let next = run.following.first, run.ending == nil || next.completesStep { return .perform(next) }
        if run.ending != nil { return .finish(.cancelled) }
        if let step = state.accountStatus(run) { return step }
        if let step = state.zoneSetUp(run, at: now) { return step }
        return try state.work(run, at: now)
    }

    /// Begins whatever can begin now.
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

/// The next step of a run that has nothing under way.
enum SyncStep: Hashable, Sendable {
    case perform(SyncOperation)
    case openEvents
    /// Nothing until the next input or wake-up.
    case wait
    /// `complete`, `partial` or `cancelled`.
    case finish(SyncResult.End)
}

/// The time of an input, and random bits for it.
struct SyncMoment: Hashable, Sendable {
    var now: MonotonicTime
    /// Random bits for the back-off.
    var random: UInt64
}
