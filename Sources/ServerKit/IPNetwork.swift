/// A range of IP addresses, such as `192.168.1.0/24`, or a single address.
package struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private let bytes: [UInt8]
    private let bits: Int

    /// - Returns: nil unless the text is an address, with an optional prefix length after a slash.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = IPAddress.bytes(of: String(parts[0])) else { return nil }
        let most = bytes.count * 8
        guard let bits = parts.count == 1 ? most : Int(parts[1]), (0...most).contains(bits) else { return nil }
        (description, self.bytes, self.bits) = (text, bytes, bits)
    }

    /// Whether the network contains the address. An IPv4 address may have its IPv6 form (`::ffff:…`).
    package func contains(_ address: String) -> Bool {
        guard let other = IPAddress.plainBytes(of: address), other.count == bytes.count else { return false }
        return zip(bytes, other).enumerated().allSatisfy { index, pair in
            let shared = min(8, max(0, bits - index * 8))
            return (pair.0 ^ pair.1) >> (8 - shared) == 0
        }
    }
}
