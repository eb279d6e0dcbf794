import Domain

/// Remembers RFCOMM channels that opened and brought nothing, so that the other usual ones come first the next time.
///
/// An A3-B opens on channels that it never says anything on; it answers on channel 2 (dernasherbrezon.github.io). Used on
/// the loop alone, as channels are.
final class SilentChannels: @unchecked Sendable {
    // Unchecked: used only on the loop.

    private var channels: [MACAddress: UInt8] = [:]

    /// More meters than one host has, and a bound on what strangers can fill.
    static let metersMax = 256

    /// The channels in the order in which to try them.
    func order(_ usual: [UInt8], for meter: MACAddress) -> [UInt8] {
        guard let silent = channels[meter] else { return usual }
        return usual.filter { $0 != silent } + usual.filter { $0 == silent }
    }

    /// A link ended.
    ///
    /// - Parameter wasHeard: whether any byte came over it.
    func ended(_ channel: UInt8, of meter: MACAddress, wasHeard: Bool) {
        if wasHeard {
            if channels[meter] == channel { channels[meter] = nil }
        } else if channels.count < Self.metersMax || channels[meter] != nil {
            channels[meter] = channel
        }
    }
}
