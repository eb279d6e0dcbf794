/// Durations and limits of the relay, which shows one host's readings on others (Docs/Relay.md).
package enum RelayTiming {
    /// Minimum interval between batches of one meter.
    package static let batchInterval = Duration.milliseconds(250)
    /// Time for which a holder sends readings after the cloud reports an observer.
    package static let interest = Duration.seconds(30)
    /// Maximum number of readings that a batch contains uncombined, unless an observer wants all.
    package static let singlesMax = 4
    /// Maximum number of readings that wait if an observer wants all: one second of the fastest meter.
    package static let readingsMax = 1000
    /// Minimum interval between batches with a state but no reading.
    package static let stateInterval = Duration.seconds(5)
    /// Pause after a batch that could not be sent.
    package static let retryInterval = Duration.seconds(1)
    /// Time limit for executing a command, counted from the sending of its claim.
    package static let actingTime = Duration.seconds(5)
    /// Maximum age of a reading; larger ones are implausible and reduced to this. A batch waits for the cloud for only
    /// a few seconds.
    package static let ageMax = Duration.seconds(60)
    /// Maximum number of a meter's newest log lines sent to another host.
    package static let logLinesMax = 500
    /// Maximum size of log lines sent to another host, in bytes: their texts, plus `logLineBytes` for each.
    package static let logBytesMax = 131_072
    package static let logLineBytes = 160
}
