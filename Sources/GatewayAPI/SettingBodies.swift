package struct SettingBody: Codable, Hashable, Sendable {
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
    /// Null if there is no default, or if the meter's own value applies.
    @NullCodable package var `default`: String?
    package var origin: Origin
    /// Time of the last change or reset, RFC 3339.
    @NullCodable package var at: String?
    @NullCodable package var host: String?
    @NullCodable package var host_id: String?
    /// Legal values in words; null for a setting of a newer version.
    @NullCodable package var legal: String?
    @NullCodable package var values: [String]?
    /// Command that has the setting's effect once. The setting itself is sent again at each connect.
    @NullCodable package var command: String?

    package init(_ key: String, origin: Origin = .standard) {
        self.key = key
        self.origin = origin
    }
}
