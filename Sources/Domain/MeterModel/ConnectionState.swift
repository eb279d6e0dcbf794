/// States in the order of Docs/States.md#the-seven-states. The raw value is used in commands and JSON.
package enum ConnectionState: String, CaseIterable, Sendable {
    /// No data from the meter, and its device node is missing.
    case offline
    /// The meter is in reach, but no host has a link to it.
    case notConnected = "not-connected"
    case connecting
    /// The link is up; its setup is under way.
    case connected
    /// The meter can accept commands.
    case ready
    /// A request awaits its first valid answer, or answers have stopped.
    case communicating
    /// A frame that passes every check of its model arrived within the stale time.
    case dataAvailable = "data-available"
}
