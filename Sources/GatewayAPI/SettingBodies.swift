/// A setting of a meter, set or not. Unknown or not applicable is null.
package struct SettingBody: Codable, Hashable, Sendable {
    /// Origin of the value in force.
    package enum Origin: String, Codable, Hashable, Sendable, CaseIterable {
        /// Never set, or reset to the default.
        case standard = "default"
        /// Set at this host.
        case here
        /// Set at another or an unknown host.
        case elsewhere
    }

    package var key: String
    /// Null if not set.
    @NullCodable package var value: String?
    /// Effective value while not set; null if there is none, or the meter's own applies.
    @NullCodable package var `default`: String?
    package var origin: Origin
    /// Time of the last change or reset, RFC 3339; null if never.
    @NullCodable package var at: String?
    /// Host of that change; null if unknown, or if no host made it.
    @NullCodable package var host: String?
    @NullCodable package var host_id: String?
    /// Legal values in words; null for a setting that only a newer version knows.
    @NullCodable package var legal: String?
    /// All legal values, if they are few.
    @NullCodable package var values: [String]?
    /// Command that does the same once; meterd sends the setting again at each connect.
    @NullCodable package var command: String?

    package init(_ key: String, origin: Origin = .standard) {
        self.key = key
        self.origin = origin
    }
}
