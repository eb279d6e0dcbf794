/// Data that a Bluetooth proxy reports about itself, in `GET /v1/status`.
package struct ProxyStatus: Codable, Hashable, Sendable {
    /// Node name in ESPHome.
    @NullCodable package var name: String?
    @NullCodable package var version: String?
    package var encrypted: Bool

    package init(name: String?, version: String?, encrypted: Bool) {
        self.name = name
        self.version = version
        self.encrypted = encrypted
    }
}
