/// Rights of a host in its zone, fixed by its access token. The raw value is the name in stores, JSON and tables.
package enum HostRole: String, Codable, Hashable, Sendable, CaseIterable {
    case full
    /// The host may read and watch everything, but writes only its own `Host` record. It holds no lease and sends no
    /// commands (Docs/Relay.md#hosts-that-may-only-look).
    case readOnly

    package func covers(_ other: HostRole) -> Bool { self == .full || other == .readOnly }
}
