/// The times and limits of the relay (Docs/Relay.md).
package enum RelayTiming {
    /// Least time between two batches of one meter.
    package static let batchInterval = Duration.milliseconds(250)
    /// How long a holder sends readings after it was told that somebody watches.
    package static let interest = Duration.seconds(30)
    /// More readings than this in one batch are folded into one, unless an observer wants all of them.
    package static let singlesMax = 4
    /// Most readings in a batch: a second's worth of the fastest meter, which is four times what a batch has.
    package static let readingsMax = 1000
    /// Least time between two batches that tell a meter's state and have no reading.
    package static let stateInterval = Duration.seconds(5)
    /// Wait after a batch that could not be sent, before the next.
    package static let retryInterval = Duration.seconds(1)
    /// A command from another host is done within this time of asking the cloud whether to, or not at all.
    package static let actingTime = Duration.seconds(5)
    /// The age of a reading is at most this; a batch waits for a cloud no longer than a few seconds.
    package static let ageMax = Duration.seconds(60)
    /// Most lines of a meter's log that a host tells others, the newest.
    package static let logLinesMax = 500
    /// Most bytes of them: the sum of their texts, and `logLineBytes` for each.
    package static let logBytesMax = 131_072
    package static let logLineBytes = 160
}
