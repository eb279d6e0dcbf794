/// `GET /v1/scan/nodes`: ESPHome nodes that announce themselves in meterd's network. meterd connects to none of them unless
/// `[[bluetooth.proxy]]` names it. Unknown is null.
package struct ScanNodes: Codable, Hashable, Sendable {
    /// False if `[discovery] browse` is.
    package var browses = true
    /// Those that may be Bluetooth proxies first.
    package var nodes: [ScanNode] = []
    /// Whether more answered than are listed.
    package var more = false
    /// Why nothing could be looked for.
    @NullCodable package var error: String?
    /// What to do about that.
    @NullCodable package var next: String?

    package init() {}
}

/// What an ESPHome node announces, or a stranger who pretends to be one.
package struct ScanNode: Codable, Hashable, Sendable {
    /// Its name in ESPHome.
    package var name: String
    @NullCodable package var friendly_name: String?
    /// Its name in the network, such as `garage.local`.
    package var host: String
    package var port: Int
    /// ESPHome's version.
    @NullCodable package var version: String?
    /// The address of its network interface.
    @NullCodable package var mac: String?
    /// Whether its API has a key.
    package var encrypted = false
    /// Whether it says that it was made as a Bluetooth proxy. Others may be one without saying so.
    package var looks_like_proxy = false
    /// Whether `[[bluetooth.proxy]]` names it.
    package var configured = false

    package init(name: String, host: String, port: Int) { (self.name, self.host, self.port) = (name, host, port) }
}
