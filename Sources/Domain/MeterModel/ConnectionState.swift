/// State of a meter, in the order of Docs/States.md#the-seven-states.
/// The raw value is the name on the command line and in JSON.
package enum ConnectionState: String, CaseIterable, Sendable {
    /// The gateway has not heard the meter, and its device node is missing.
    case offline
    /// The meter is in reach, but nobody holds a link to it.
    case notConnected = "not-connected"
    case connecting
    /// The link is up; its setup is under way.
    case connected
    /// The meter can take commands.
    case ready
    /// A request awaits its first valid answer, or answers have stopped.
    case communicating
    /// A frame that passes every check of its model came within the stale time.
    case dataAvailable = "data-available"
}
