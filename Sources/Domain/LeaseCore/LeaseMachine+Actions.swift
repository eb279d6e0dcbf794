extension LeaseMachine {
    package enum Action: Hashable, Sendable {
        /// With `again`, reuse the request id, because the answer may be lost. `takeover` is the token of the grant to
        /// take over; nil for a plain acquire.
        case sendAcquire(again: Bool, takeover: FencingToken?)
        /// Call `joinRenewal` on the machines of all meters, and send their tokens in one request.
        case sendRenewal
        case sendRelease(FencingToken)
        /// Use a channel until the permit's hard stop. Replaces any earlier permit. The channel counts as open until
        /// `channelClosed`.
        case permit(LeasePermit)
        /// Use a channel without a lease or hard stop (rule 4).
        case permitUnleased
        /// Close the channel now, then call `channelClosed(.letGo)`.
        case withdraw(Withdrawal)
        /// Report that another host has the meter, without a request: a read-only host cannot acquire.
        case refuse
        /// Report that this host is read-only, and that `strict` requires a lease.
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
        /// This host is read-only, and the policy changed to `strict`.
        case barred
    }

    /// Phase of the lease, named as in `meterctl status`.
    package enum Phase: Hashable, Sendable {
        case none
        case requesting
        /// Refused; the host retries, or waits in the queue.
        case waiting(LeaseAnswer.Refusal.Reason)
        case held
        case jeopardy
        /// The lease was not renewed in time, but the link is kept.
        case lost
        /// This host is read-only, and the policy is `strict`.
        case barred
        /// The link is used without a lease. The reason is nil unless another host has the lease.
        case unleased(LeaseAnswer.Refusal.Reason?)
        case stopping
        case releasing
    }
}
