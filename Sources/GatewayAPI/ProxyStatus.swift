/// Description of a Bluetooth proxy by itself, in `GET /v1/status`. Unknown is null.
package struct ProxyStatus: Codable, Hashable, Sendable {
    /// Name in ESPHome.
    @NullCodable package var name: String?
    /// ESPHome's version.
    @NullCodable package var version: String?
    /// Whether the connection is encrypted.
    package var encrypted: Bool

    package init(name: String?, version: String?, encrypted: Bool) {
        self.name = name
        self.version = version
        self.encrypted = encrypted
    }
}
