package import MeterModel
import SettingsCore

/// One concern of the session, as a value. Events pass through all of them, first to last, before the state changes;
/// then they are asked, last to first, what to do next: no work in a zone that is not set up, no set-up without an
/// account.
package protocol SyncMiddleware: Sendable {
    /// For people.
    var name: String { get }
    /// What an event means. Returns it as it is where this middleware has nothing to say.
    func read(_ event: SyncEvent, _ state: SyncState, _ moment: SyncMoment) -> SyncEvent
    /// What else follows from an event, whatever it changes.
    func effects(of event: SyncEvent, number: UInt64, at now: MonotonicTime) -> [SyncEffect]
    /// What a run with nothing under way does next; nil leaves it to the next one.
    func proposal(_ state: SyncState, _ run: SyncRun, at now: MonotonicTime) -> SyncProposal?
}

/// What a middleware wants done.
package enum SyncProposal: Hashable, Sendable {
    case perform(SyncOperation)
    case openEvents
    /// An event or the time will come.
    case wait
    case finish(SyncResult.End)
}

extension SyncMiddleware {
    package func read(_ event: SyncEvent, _ state: SyncState, _ moment: SyncMoment) -> SyncEvent { event }
    package func effects(of event: SyncEvent, number: UInt64, at now: MonotonicTime) -> [SyncEffect] { [] }
    package func proposal(_ state: SyncState, _ run: SyncRun, at now: MonotonicTime) -> SyncProposal? { nil }
}

/// The middlewares in their order (Docs/Sync.md#a-run).
package enum SyncMiddlewares {
    package static let inOrder: [any SyncMiddleware] = [
        SplittingMiddleware(), ErrorMiddleware(), RetryMiddleware(), WorkMiddleware(), LoggingMiddleware(),
        ZoneMiddleware(), AccountMiddleware(),
    ]
}
