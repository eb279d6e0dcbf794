import Domain

/// The key of a node: `api: encryption: key:` in its ESPHome configuration. It prints as nothing.
package struct NodeKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// 32 bytes, not all of them zero: a node without a key takes zeros from anybody.
    package let bytes: [UInt8]

    /// - Returns: nil unless the text is 32 bytes in base64 (RFC 4648, 4), or if all of them are zero.
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
