/// A Bluetooth device detected in the last minute that the scan does not list as a meter.
package struct ScanOther: Codable, Hashable, Sendable {
    package var address: String
    /// `ble` or `spp`.
    package var transport: String
    package var adapter: String
    @NullCodable package var name: String?
    /// In dBm; null if the adapter does not report it.
    @NullCodable package var rssi: Int?
    /// Whether the device nevertheless resembles a meter.
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
}
