/// A device that an adapter heard in the last minute and that is no meter of the scan's, with the reason.
package struct ScanOther: Codable, Hashable, Sendable {
    package var address: String
    /// `ble` or `spp`.
    package var transport: String
    /// The adapter of this host that heard it, by address.
    package var adapter: String
    package var name: String?
    /// In dBm; null where the adapter does not say.
    package var rssi: Int?
    /// It looks like a meter all the same.
    package var looks_like_meter: Bool
    package var reason: String

    package init(
        address: String, transport: String, adapter: String, name: String?, rssi: Int?, looks_like_meter: Bool,
        reason: String
    ) {
        self.address = address
        self.transport = transport
        self.adapter = adapter
        self.name = name
        self.rssi = rssi
        self.looks_like_meter = looks_like_meter
        self.reason = reason
    }

    /// Written out so that what is unknown is `null` and not missing.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(address, forKey: .address)
        try container.encode(transport, forKey: .transport)
        try container.encode(adapter, forKey: .adapter)
        try container.encode(name, forKey: .name)
        try container.encode(rssi, forKey: .rssi)
        try container.encode(looks_like_meter, forKey: .looks_like_meter)
        try container.encode(reason, forKey: .reason)
    }
}
