import MeterModel
import SettingsCore

/// Sets the time of the next attempt: what the cloud asked for, otherwise a random wait that doubles up to 5 min. It
/// never gives up: a weekend offline is normal.
package struct RetryMiddleware: SyncMiddleware {
    package let name = "retry"

    package init() {}

    package func read(_ event: SyncEvent, _ state: SyncState, _ moment: SyncMoment) -> SyncEvent {
        guard case .interrupted(let failure) = event, state.run != nil else { return event }
        let timing = state.timing
        let delay =
            failure.retryAfter.map { min(max($0, .zero), timing.rateLimitWaitMax) }
            ?? timing.backoff.delay(afterFailures: state.failuresAfterThis, dice: moment.dice)
        return .postponed(failure, until: moment.now + delay)
    }
}
