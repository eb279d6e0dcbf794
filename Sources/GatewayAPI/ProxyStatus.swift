/// A Bluetooth proxy's description of itself, in `GET /v1/status`.
package struct ProxyStatus: Codable, Hashable, Sendable {
    /// Name in ESPHome.
    @NullCodable package var name: String?
    @NullCodable package var version: String?
    package var encrypted: Bool

    package init(name: String?, version: String?, encrypted: Bool) {
        self.name = name
        self.version = version
        self.encrypted = encrypted
    }
}
