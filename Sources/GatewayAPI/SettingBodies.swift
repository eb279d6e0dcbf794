/// A setting of a meter, set or not.
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
    @NullCodable package var value: String?
    /// Effective value without a setting; null if there is none, or the meter's own applies.
    @NullCodable package var `default`: String?
    package var origin: Origin
    /// Time of the last change or reset, RFC 3339.
    @NullCodable package var at: String?
    @NullCodable package var host: String?
    @NullCodable package var host_id: String?
    /// In words; null for a setting that only a newer version knows.
    @NullCodable package var legal: String?
    @NullCodable package var values: [String]?
    /// Command with the same, single effect; the setting is sent again at each connect.
    @NullCodable package var command: String?

    package init(_ key: String, origin: Origin = .standard) {
        self.key = key
        self.origin = origin
    }
}
