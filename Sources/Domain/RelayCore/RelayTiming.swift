/// The times and limits of the relay (Docs/Relay.md).
package enum RelayTiming {
    /// Minimum time between two batches of one meter.
    package static let batchInterval = Duration.milliseconds(250)
    /// Time for which a holder sends readings after the cloud reports that an observer watches.
    package static let interest = Duration.seconds(30)
    /// Number of unfolded readings in a batch, unless an observer wants all of them.
    package static let singlesMax = 4
    /// Maximum number of readings in a batch. This is one second of the fastest meter's readings, four times the
    /// readings of a usual batch.
    package static let readingsMax = 1000
    /// Minimum time between two batches with a meter's state and no reading.
    package static let stateInterval = Duration.seconds(5)
    /// Pause after a batch that could not be sent.
    package static let retryInterval = Duration.seconds(1)
    /// Time in which a command must be executed, counted from the sending of its claim.
    package static let actingTime = Duration.seconds(5)
    /// Maximum age of a reading; larger ages are reduced to it, because a batch waits for the cloud for a few seconds
    /// at most.
    package static let ageMax = Duration.seconds(60)
    /// Maximum number of lines of a meter's log for other hosts; the newest lines are sent.
    package static let logLinesMax = 500
    /// Maximum bytes of these lines: the sum of their texts, plus `logLineBytes` for each line.
    package static let logBytesMax = 131_072
    package static let logLineBytes = 160
}
