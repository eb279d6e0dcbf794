import Domain

struct LinkEnding {
    /// Whether to send the meter closing messages, if still possible.
    var hasFarewell = false
    /// Whether a link that was up counts as lost.
    var isLoss = false
    /// Whether the link failed, so that others are tried first.
    var isFault = false
    /// End reported to the gate. Nil: `linkLost` if the link was up, otherwise `attemptFailed`.
    var end: ChannelEnd?

    /// No link to the meter is left.
    static let deviceGone = LinkEnding(isLoss: true)
    static let closed = LinkEnding(isLoss: true, isFault: true)
    /// The link did not open in time or was silent for too long.
    static let overdue = LinkEnding(hasFarewell: true, isLoss: true, isFault: true)
    static let replaced = LinkEnding(hasFarewell: true, end: .linkLost)
    /// This host does not want the meter any more, or may not use it.
    static let letGo = LinkEnding(hasFarewell: true, end: .letGo)
    /// The lease is over. Nothing is sent, because another host may already use the meter.
    static let leaseOver = LinkEnding(isLoss: true, end: .letGo)
    /// No usable link is known.
    static let impossible = LinkEnding(end: .attemptFailed)
}
