/// Purpose of a timer of a session's parts. The session's own machines use an `Alarm`.
enum SessionTimer: Sendable {
    /// Pause in the opening of the channel with this number.
    case opening(Int)
    /// Pause or answer timeout of a log download.
    case logs
    case commandDeadline
    /// Timeout for the confirmation of the command with this number.
    case readBack(Int)
    case wait(UInt64)
}
