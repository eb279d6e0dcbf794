import Domain

/// How a session ends a link or an attempt. `DeviceSession.endLink` takes the same steps for all causes.
struct LinkEnding {
    /// Whether the meter is sent its goodbye, if the link still allows it.
    var hasFarewell = false
    /// Whether a link that was up counts as lost.
    var isLoss = false
    /// Whether other links are tried before this one.
    var isFault = false
    /// End reported to the gate; by default a lost link or a failed attempt.
    var end: ChannelEnd?

    /// No link to the meter is left.
    static let deviceGone = LinkEnding(isLoss: true)
    static let closed = LinkEnding(isLoss: true, isFault: true)
    /// The link did not open in time or was silent for too long.
    static let overdue = LinkEnding(hasFarewell: true, isLoss: true, isFault: true)
    static let replaced = LinkEnding(hasFarewell: true, end: .linkLost)
    /// Nobody here wants the meter, or this host may not have it.
    static let letGo = LinkEnding(hasFarewell: true, end: .letGo)
    /// The lease is over. Sends nothing, as another host may already talk to the meter.
    static let leaseOver = LinkEnding(isLoss: true, end: .letGo)
    /// No usable link is known.
    static let impossible = LinkEnding(end: .attemptFailed)
}
