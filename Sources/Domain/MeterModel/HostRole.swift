/// Rights of a host in its zone, carried by its token. The raw value is the name in stores, JSON and tables.
package enum HostRole: String, Codable, Hashable, Sendable, CaseIterable {
    case full
    /// The host reads, watches and writes only its own `Host` record. It holds no lease and sends no commands
    /// (Docs/Relay.md#hosts-that-may-only-look).
    case readOnly

    package func covers(_ other: HostRole) -> Bool { self == .full || other == .readOnly }
}
