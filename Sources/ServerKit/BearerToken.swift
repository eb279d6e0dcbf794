import Crypto
import FoundationEssentials

/// The secret that a host shows: `mgt_` and 256 random bits in base64url. Only its SHA-256 is kept anywhere.
///
/// Prints as `<redacted>`, so that no log has it by accident.
package struct BearerToken: Sendable {
    /// The token itself. For its owner's eyes.
    package let text: String

    package static let prefix = "mgt_"
    /// Longer than any token of ours; what is longer is not one.
    private static let bytesMax = 256

    /// Makes one of 32 random bytes.
    package init(using dice: inout some RandomNumberGenerator) {
        let bytes = (0..<4).flatMap { _ in withUnsafeBytes(of: dice.next()) { Array($0) } }
        let base64 = Data(bytes).base64EncodedString()
        let safe = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        text = Self.prefix + safe
    }

    /// Takes it out of an `Authorization` header: `Bearer mgt_…`, blanks around it allowed, the scheme in any case.
    ///
    /// - Returns: nil for anything else.
    package init?(authorization: String) {
        let parts = authorization.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        self.init(text: String(parts[1]))
    }

    /// - Returns: nil for what does not look like a token of ours.
    package init?(text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.bytesMax else { return nil }
        self.text = text
    }

    /// SHA-256. Tokens are compared by it alone: whatever a comparison's duration tells is of the hash, and no help in
    /// finding the token.
    package var hash: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
}
