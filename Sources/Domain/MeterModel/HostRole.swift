/// What a host may do in its zone. Its token says it, from when that was made until it is revoked. The raw value is what
/// stores, JSON and tables carry.
package enum HostRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// Everything that hosts do.
    case full
    /// Reading and watching, and what the host says about itself: it holds no lease, commands nobody's meter and changes
    /// no record but its own `Host` (Docs/Relay.md#hosts-that-may-only-look).
    case readOnly

    /// Whether it has all rights of the other.
    package func covers(_ other: HostRole) -> Bool { self == .full || other == .readOnly }
}
