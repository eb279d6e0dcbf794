import Domain

/// RFCOMM channels that opened but delivered no bytes. The next attempt tries them last. Use only on the event loop.
///
/// The meter A3-B also opens channels on which it stays silent; it answers on channel 2 (dernasherbrezon.github.io).
final class SilentChannels: @unchecked Sendable {
    private var channels: [MACAddress: UInt8] = [:]

    static let metersMax = 256

    func order(_ usual: [UInt8], for meter: MACAddress) -> [UInt8] {
        guard let silent = channels[meter] else { return usual }
        return usual.filter { $0 != silent } + usual.filter { $0 == silent }
    }

    func ended(_ channel: UInt8, of meter: MACAddress, wasHeard: Bool) {
        if wasHeard {
            if channels[meter] == channel { channels[meter] = nil }
        } else if channels.count < Self.metersMax || channels[meter] != nil {
            channels[meter] = channel
        }
    }
}
