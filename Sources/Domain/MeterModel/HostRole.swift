/// Rights of a host in its zone, from its access token. The raw value is used in stores and JSON.
package enum HostRole: String, Codable, Hashable, Sendable, CaseIterable {
    case full
    /// Reads everything, but writes only its own `Host` record. Holds no lease and sends no commands
    /// (Docs/Relay.md#hosts-that-may-only-look).
    case readOnly

    package func covers(_ other: HostRole) -> Bool { self == .full || other == .readOnly }
}
