/// The seven states of a meter, in their order (Docs/States.md#the-seven-states).
/// The raw value is the name on the command line and in JSON.
package enum ConnectionState: String, CaseIterable, Sendable {
    /// Nothing was heard of it, and its node is not there.
    case offline
    /// It is there, and nobody holds a link to it.
    case notConnected = "not-connected"
    /// A link attempt is under way.
    case connecting
    /// The link is up; the line is being set up.
    case connected
    /// The meter can take commands.
    case ready
    /// A request is out and no valid answer has come yet, or answers have stopped.
    case communicating
    /// A frame that passes every check of its model came within the stale time.
    case dataAvailable = "data-available"
}
