/// Advertised contents of a certain or possible meter.
package struct HeardRadio: Hashable, Sendable {
    package var device: RadioAddress
    package var name: String?
    package var rssi: Int?
    /// Each different content once, newest first.
    package var data: [[UInt8]]
}
