import Domain

/// Key of a node: `api: encryption: key:` of its ESPHome configuration. Printed only in redacted form.
package struct NodeKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// 32 bytes, not all zero: a node without a key accepts zeros from anyone.
    package let bytes: [UInt8]

    /// - Returns: nil for text other than base64 (RFC 4648, 4) of 32 bytes, and for 32 zeros.
    package init?(base64 text: some StringProtocol) {
        guard let bytes = Base64.read(Array(text.utf8)), bytes.count == 32, bytes.contains(where: { $0 != 0 }) else {
            return nil
        }
        self.bytes = bytes
    }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
