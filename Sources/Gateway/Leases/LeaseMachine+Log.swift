import Domain

extension LeaseMachine {
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
    func words(_ holder: String) -> String {
        switch self {
        case .unwanted: "nobody wants it here"
        case .revoked: "its lease was revoked for another host"
        case .takenOver: "\(holder) has it now"
        case .hardStop: "its lease could not be renewed in time"
        case .unknown: "the cloud does not know its lease"
        case .barred: "this host may only look, and its zone has become strict"
        }
    }
}

extension LogHolding.End {
    /// Reason why a `LogHolding` ended.
    init(_ before: LeaseMachine.Use, _ after: LeaseMachine.Use, _ action: LeaseMachine.Action) {
        switch action {
        case _ where before == .unleased && after.isLeased: self = .leased
        // `barred`: this host is read-only and the zone became strict.
        case .withdraw(.revoked), .withdraw(.barred): self = .revoked
        case .withdraw(.takenOver): self = .takenOver
        case .withdraw(.hardStop): self = .notRenewed
        case .withdraw(.unknown): self = .unknown
        // Under the policy `keep`, the link outlasts the lost lease, but the `LogHolding` ends.
        case .permitUnleased: self = .notRenewed
        case .withdraw(.unwanted), .sendAcquire, .sendRenewal, .sendRelease, .permit, .refuse, .bar, .joinQueue,
            .leaveQueue,
            .none:
            self = .givenBack
        }
    }
}
