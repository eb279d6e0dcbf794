/// Advertised contents of a device that is or may be a meter.
package struct HeardRadio: Hashable, Sendable {
    package var device: RadioAddress
    package var name: String?
    package var rssi: Int?
    /// The last two different contents, newest first.
    package var data: [[UInt8]]
}
