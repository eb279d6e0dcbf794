package import MeterModel

/// The sync session: an event goes in, effects come out (Docs/Sync.md#a-run).
///
/// Runs one at a time; within a run one operation at a time, in the order account, zone, subscription, then batches and
/// pages in turn. A trigger during a run is never lost: it asks for another once. No failure ends it for good: one that
/// time may heal is tried again for ever, one that only a person can fix halts it until `resumed`.
///
/// The machine performs no I/O, reads no clock and throws no dice. After each event `nextWake` says when to send `woke`.
package struct SyncMachine: Sendable {
    package private(set) var state: SyncState
    /// Of the last event.
    package private(set) var eventNumber: UInt64 = 0
    private let middlewares: [any SyncMiddleware]

    package init(
        zone: String, host: HostID, timing: SyncTiming = SyncTiming(), bringsAll: Bool = false,
        middlewares: [any SyncMiddleware] = SyncMiddlewares.inOrder
    ) {
        state = SyncState(zone: zone, host: host, timing: timing, bringsAll: bringsAll)
        self.middlewares = middlewares
    }

    package var nextWake: MonotonicTime? { state.nextWake }

    /// Something happened.
    ///
    /// - Parameter dice: random bits, for the jitter of the next attempt.
    /// - Returns: what to do, in this order. At most one `perform`, and none while another is under way.
    package mutating func handle(_ event: SyncEvent, at now: MonotonicTime, dice: UInt64) -> [SyncEffect] {
        let moment = SyncMoment(now: now, dice: dice)
        let meaning = middlewares.reduce(event) { $1.read($0, state, moment) }
        eventNumber += 1
        var effects = middlewares.flatMap { $0.effects(of: meaning, number: eventNumber, at: now) }
        effects += state.reduce(meaning, moment)
        advance(moment, &effects)
        return effects
    }

    /// Begins what can begin now.
    private mutating func advance(_ moment: SyncMoment, _ effects: inout [SyncEffect]) {
        while true {
            state.beginRunIfDue(at: moment.now)
            guard let run = state.run, run.operation == nil else { return }
            switch nextStep(of: run, at: moment.now) {
            case .perform(let operation):
                state.begin(operation)
                effects.append(.perform(operation))
                return
            case .openEvents: effects += state.openStream(at: moment.now)
            case .wait: return
            case .finish(let end): finish(end, moment, &effects)
            }
        }
    }

    private func nextStep(of run: SyncRun, at now: MonotonicTime) -> SyncProposal {
        if run.ending != nil {
            if let next = run.following.first, next.completesStep { return .perform(next) }
            return .finish(.cancelled)
        }
        if let next = run.following.first { return .perform(next) }
        return middlewares.reversed().lazy.compactMap { $0.proposal(state, run, at: now) }.first ?? .finish(.complete)
    }

    private mutating func finish(_ end: SyncResult.End, _ moment: SyncMoment, _ effects: inout [SyncEffect]) {
        if case .failed(let failure) = end {
            let meaning = middlewares.reduce(.interrupted(failure)) { $1.read($0, state, moment) }
            effects += state.reduce(meaning, moment)
            return
        }
        if end == .complete, state.run?.isFull == true { state.everythingRead(at: moment.now) }
        if end != .cancelled { state.noteFullness(moment) }
        if let result = state.endRun(end, at: moment.now) { effects.append(.announce(result)) }
    }
}

extension SyncOperation {
    /// Stores what the cloud already did or said: part of the present page, also of a run that was cancelled.
    var completesStep: Bool {
        switch self {
        case .settle, .restamp, .apply: true
        case .readProgress, .checkAccount, .createZone, .adopt, .correct, .readBatch, .push, .retryHeldBack,
            .beginRefetch,
            .fetch, .cleanUp:
            false
        }
    }
}
