/// What a timer of a session's parts is for. The one of the session's own machines is an `Alarm`.
enum SessionTimer: Sendable {
    /// The pause after a step of the opening of this channel.
    case opening(Int)
    /// The pause after a step of a log's download, or the time for its answer.
    case logs
    /// It may be too late for a command.
    case commandDeadline
    /// The time for a meter to say what it was set to.
    case readBack(Int)
    /// The patience of somebody who waits.
    case wait(UInt64)
}
