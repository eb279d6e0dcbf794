extension LeaseMachine {
    /// What to do.
    package enum Action: Hashable, Sendable {
        /// Ask the authority for the meter. `again`: repeat the last request id, because its answer may have been lost;
        /// otherwise use a new one. `takeover`: take it from the host that has it under this token.
        case sendAcquire(again: Bool, takeover: FencingToken?)
        /// A heartbeat is due: call `joinRenewal` on all of this host's machines and send what they return in one
        /// request.
        case sendRenewal
        case sendRelease(FencingToken)
        /// A channel may be opened and used until the permit's hard stop. Replaces an earlier permit. The channel
        /// counts as open from now until `channelClosed`.
        case permit(LeasePermit)
        /// As `permit`, but without a lease or an end: the cloud is unreachable and the policy is `keep` (rule 4).
        case permitUnleased
        /// Close the channel now, then call `channelClosed(.letGo)`.
        case withdraw(Withdrawal)
        /// Say that another host has the meter. Nobody was asked, as this host may only look.
        case refuse
        /// Say that this host may only look, and that nobody uses a meter without a lease under this policy.
        case bar
        case joinQueue
        case leaveQueue
        case none
    }

    /// Why a channel must be closed.
    package enum Withdrawal: String, Hashable, Sendable {
        /// Nobody here wants the meter any more.
        case unwanted
        /// A person wants it elsewhere, or revoked the lease.
        case revoked
        /// Another host has it.
        case takenOver
        /// The lease could not be renewed in time.
        case hardStop
        /// The authority does not know this lease.
        case unknown
        /// This host may only look, and the policy has become `strict`.
        case barred
    }

    /// Where the lease stands, in the words of `status`.
    package enum Phase: Hashable, Sendable {
        case none
        case requesting
        /// Refused so far and asking again, perhaps with a place in the queue.
        case waiting(LeaseAnswer.Refusal.Reason)
        case held
        case jeopardy
        /// The lease could not be renewed in time, and the link is kept.
        case lost
        /// Nothing is asked for: this host may only look, and the policy is `strict`.
        case barred
        /// A link without a lease. If there is a reason, another host has the lease.
        case unleased(LeaseAnswer.Refusal.Reason?)
        /// Waiting for the channel to be closed.
        case stopping
        case releasing
    }
}
