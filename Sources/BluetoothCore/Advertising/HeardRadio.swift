/// Advertised contents of a certain or possible meter.
package struct HeardRadio: Hashable, Sendable {
    package var device: RadioAddress
    package var name: String?
    package var rssi: Int?
    /// The last two different contents, newest first.
    package var data: [[UInt8]]
}
