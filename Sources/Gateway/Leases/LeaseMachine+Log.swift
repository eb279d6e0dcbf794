import Domain

/// What a lease means for the meter's log, and for people.
extension LeaseMachine {
    /// How this host has a meter.
    enum Use: Hashable, Sendable {
        case none
        case leased(FencingToken)
        case unleased

        var isLeased: Bool { if case .leased = self { true } else { false } }
    }

    func use(at now: MonotonicTime) -> Use {
        if let permit { return .leased(permit.token) }
        return if case .unleased = phase(at: now) { .unleased } else { .none }
    }
}

extension LeaseMachine.Withdrawal {
    /// The cause for people.
    func words(_ holder: String) -> String {
        switch self {
        case .unwanted: "nobody wants it here"
        case .revoked: "it is wanted elsewhere: its lease was revoked"
        case .takenOver: "\(holder) has it now"
        case .hardStop: "its lease could not be renewed in time"
        case .unknown: "the cloud knows nothing of its lease"
        case .barred: "this host may only look, and its zone has become strict"
        }
    }
}

extension LogHolding.End {
    /// How a holding ended, by what its machine does then.
    init(_ before: LeaseMachine.Use, _ after: LeaseMachine.Use, _ action: LeaseMachine.Action) {
        switch action {
        case _ where before == .unleased && after.isLeased: self = .leased
        // The zone became strict, and this host may only look.
        case .withdraw(.revoked), .withdraw(.barred): self = .revoked
        case .withdraw(.takenOver): self = .takenOver
        case .withdraw(.hardStop): self = .notRenewed
        case .withdraw(.unknown): self = .unknown
        // A link under `keep` that goes on although the lease is lost.
        case .permitUnleased: self = .notRenewed
        case .withdraw(.unwanted), .sendAcquire, .sendRenewal, .sendRelease, .permit, .refuse, .bar, .joinQueue,
            .leaveQueue,
            .none:
            self = .givenBack
        }
    }
}
