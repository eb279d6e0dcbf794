extension SyncState {
    /// Waits for the cloud's `retryAfter`, or a random pause whose bound doubles up to 5 min. Retries never end,
    /// because a host may be offline for days.
    func retry(after failure: SyncFailure, _ moment: SyncMoment) -> SyncVerdict {
        let delay =
            failure.retryAfter.map { min(max($0, .zero), timing.rateLimitWaitMax) }
            ?? timing.backoff.delay(afterFailures: failuresAfterThis, random: moment.random)
        return .postponed(failure, until: moment.now + delay)
    }
}
