extension LeaseMachine {
    package enum Action: Hashable, Sendable {
        /// With `again`, reuse the last request id, because its answer may be lost. `takeover` is the token of the
        /// grant to take over.
        case sendAcquire(again: Bool, takeover: FencingToken?)
        /// Call `joinRenewal` on all of this host's machines and send their tokens in one request.
        case sendRenewal
        case sendRelease(FencingToken)
        /// Use a channel until the permit's hard stop. Replaces an earlier permit. The channel counts as open until
        /// `channelClosed`.
        case permit(LeasePermit)
        /// Use a channel without a lease and without a hard stop (rule 4).
        case permitUnleased
        /// Close the channel now, then call `channelClosed(.letGo)`.
        case withdraw(Withdrawal)
        /// Report that another host has the meter. A read-only host requests no lease, so no request is sent.
        case refuse
        /// Report that this host is read-only and that `strict` allows no meter without a lease.
        case bar
        case joinQueue
        case leaveQueue
        case none
    }

    /// Reason why a channel must be closed.
    package enum Withdrawal: String, Hashable, Sendable {
        case unwanted
        /// A user requested the meter on another host, or revoked the lease.
        case revoked
        case takenOver
        case hardStop
        case unknown
        /// This host is read-only and the policy has changed to `strict`.
        case barred
    }

    /// Phase of the lease, with the names used in `status`.
    package enum Phase: Hashable, Sendable {
        case none
        case requesting
        /// The request was refused so far; the host retries, perhaps from the queue.
        case waiting(LeaseAnswer.Refusal.Reason)
        case held
        case jeopardy
        /// The lease could not be renewed in time, but the link is kept.
        case lost
        /// This host is read-only and the policy is `strict`.
        case barred
        /// The link is used without a lease. A non-nil reason means that another host has the lease.
        case unleased(LeaseAnswer.Refusal.Reason?)
        case stopping
        case releasing
    }
}
