/// A setting of a meter in `GET /v1/meters/{meter}/settings`, set or not. Unknown or not applicable is null.
package struct SettingBody: Codable, Hashable, Sendable {
    /// Where the value in force comes from.
    package enum Origin: String, Codable, Hashable, Sendable, CaseIterable {
        /// It is not set, or was taken back to its default.
        case standard = "default"
        /// It was set at this host.
        case here
        /// It was set at another host, or by nobody that is known.
        case elsewhere
    }

    package var key: String
    /// What is set; null if nothing is.
    @NullCodable package var value: String?
    /// What holds without a value; null if that is nothing, or whatever the meter has.
    @NullCodable package var `default`: String?
    package var origin: Origin
    /// When it was set or taken back, RFC 3339; null if never.
    @NullCodable package var at: String?
    /// The host where it was; null if that is not known, or it was no host.
    @NullCodable package var host: String?
    @NullCodable package var host_id: String?
    /// The legal values in words; null for a setting that only a newer version knows.
    @NullCodable package var legal: String?
    /// All legal values, where they are few.
    @NullCodable package var values: [String]?
    /// The command that does the same once; the setting is sent again whenever the meter is connected.
    @NullCodable package var command: String?

    package init(_ key: String, origin: Origin = .standard) {
        self.key = key
        self.origin = origin
    }
}
