/// Stop of the sync session until a person fixes the cause.
package struct SyncHalt: Hashable, Sendable {
    package var failure: SyncFailure
    /// Advice for the user, in one sentence.
    package var advice: String

    package init(failure: SyncFailure, advice: String) {
        self.failure = failure
        self.advice = advice
    }

    /// Nil if a retry may help (Docs/Sync.md#errors).
    package init?(_ failure: SyncFailure) {
        switch failure.kind {
        case .notAuthenticated:
            advice = "Join again with a valid token: meterctl cloud join URL --token-file FILE"
        case .permissionDenied:
            advice =
                "Ask for a token of this zone (metercloud token create) and join again, "
                + "or restore this host's and then run: meterctl sync now"
        case .wrongCertificate:
            advice =
                "If the cloud has a new certificate, join again with its present pin; "
                + "otherwise something else answers at its address"
        case .readOnly, .zoneNotFound, .changeTokenExpired, .timelineLost, .anotherZone, .limitExceeded, .quotaExceeded,
            .rateLimited,
            .serviceUnavailable, .clockSkew,
            .badRequest, .leaseHeld, .network, .other:
            return nil
        }
        self.failure = failure
    }
}
