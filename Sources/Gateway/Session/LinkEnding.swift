import LeaseCore

/// How a session ends its link to a meter, or an attempt at one. The causes differ in what is said here and in nothing
/// else: `DeviceSession.endLink` takes the same steps in the same order for all of them.
struct LinkEnding {
    /// The meter is told goodbye, where it may still be spoken to. Otherwise the channel closes without a word.
    var hasFarewell = false
    /// A link that was up counts as lost.
    var isLoss = false
    /// Another link to the meter, where there is one, is tried before this one again.
    var isFault = false
    /// As what the permission is given back; nil: as a link that was lost, or an attempt that failed.
    var end: ChannelEnd?

    /// Nothing leads to the meter any more.
    static let deviceGone = LinkEnding(isLoss: true)
    /// The channel closed by itself, or could not be opened.
    static let closed = LinkEnding(isLoss: true, isFault: true)
    /// It did not open in time, or was silent for too long.
    static let overdue = LinkEnding(hasFarewell: true, isLoss: true, isFault: true)
    /// A link of another kind, or for another model, takes its place.
    static let replaced = LinkEnding(hasFarewell: true, end: .linkLost)
    /// Nobody wants it here, or nobody may have it here.
    static let letGo = LinkEnding(hasFarewell: true, end: .letGo)
    /// The lease is over. Not a word to the meter: by now it may have another host's ear.
    static let leaseOver = LinkEnding(isLoss: true, end: .letGo)
    /// Nothing is known that could be opened.
    static let impossible = LinkEnding(end: .attemptFailed)
}
