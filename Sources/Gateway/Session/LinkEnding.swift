import Domain

/// How a session ends its link to a meter, or an attempt at one. Causes differ only in these values:
/// `DeviceSession.endLink` takes the same steps in the same order for all of them.
struct LinkEnding {
    /// The meter is sent its goodbye, if it may still be spoken to. Otherwise the channel just closes.
    var hasFarewell = false
    /// A link that was up counts as lost.
    var isLoss = false
    /// If there is another link to the meter, it is tried before this one again.
    var isFault = false
    /// The end reported with the permission. By default a lost link, or an attempt that failed.
    var end: ChannelEnd?

    /// Nothing leads to the meter any more.
    static let deviceGone = LinkEnding(isLoss: true)
    /// The channel closed by itself, or could not be opened.
    static let closed = LinkEnding(isLoss: true, isFault: true)
    /// It did not open in time, or was silent for too long.
    static let overdue = LinkEnding(hasFarewell: true, isLoss: true, isFault: true)
    /// A link of another kind, or for another model, takes its place.
    static let replaced = LinkEnding(hasFarewell: true, end: .linkLost)
    /// Nobody here wants the meter, or may have it.
    static let letGo = LinkEnding(hasFarewell: true, end: .letGo)
    /// The lease is over. Nothing more is sent: another host may be talking to the meter by now.
    static let leaseOver = LinkEnding(isLoss: true, end: .letGo)
    /// No link that could be opened is known.
    static let impossible = LinkEnding(end: .attemptFailed)
}
