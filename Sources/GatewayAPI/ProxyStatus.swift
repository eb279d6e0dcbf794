/// What an adapter that is a Bluetooth proxy says of itself, in `GET /v1/status`. Unknown is null.
package struct ProxyStatus: Codable, Hashable, Sendable {
    /// Its name in ESPHome.
    @NullCodable package var name: String?
    /// ESPHome's version.
    @NullCodable package var version: String?
    /// Whether the connection to it is.
    package var encrypted: Bool

    package init(name: String?, version: String?, encrypted: Bool) {
        self.name = name
        self.version = version
        self.encrypted = encrypted
    }
}
