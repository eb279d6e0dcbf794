/// A setting of a meter, with its value if it was set.
package struct SettingBody: Codable, Hashable, Sendable {
    /// Origin of the value in force.
    package enum Origin: String, Codable, Hashable, Sendable, CaseIterable {
        /// The setting was never set, or it was reset to the default.
        case standard = "default"
        /// Set at this host.
        case here
        /// Set at another or an unknown host.
        case elsewhere
    }

    package var key: String
    @NullCodable package var value: String?
    /// Default value; null if there is none, or if the meter's own value applies.
    @NullCodable package var `default`: String?
    package var origin: Origin
    /// Time of the last change or reset, RFC 3339.
    @NullCodable package var at: String?
    @NullCodable package var host: String?
    @NullCodable package var host_id: String?
    /// Description of the legal values; null for a setting that only a newer version defines.
    @NullCodable package var legal: String?
    @NullCodable package var values: [String]?
    /// One-time command with the same effect. meterd sends the setting itself again at each connect.
    @NullCodable package var command: String?

    package init(_ key: String, origin: Origin = .standard) {
        self.key = key
        self.origin = origin
    }
}
