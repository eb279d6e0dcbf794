/// Timers of a session's parts. The session itself uses an `Alarm`.
enum SessionTimer: Sendable {
    /// Pause between the opening messages on the channel with this number.
    case opening(Int)
    case logs
    case commandDeadline
    /// Timeout for the confirmation of the command with this number.
    case readBack(Int)
    case wait(UInt64)
}
