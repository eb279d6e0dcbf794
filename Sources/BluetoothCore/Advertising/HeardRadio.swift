/// What a device that is, or may be, a meter announces.
package struct HeardRadio: Hashable, Sendable {
    package var device: RadioAddress
    package var name: String?
    package var rssi: Int?
    /// Each different content once, the newest first.
    package var data: [[UInt8]]
}
