import Cryptography
import FoundationEssentials

/// A host's access token: `mgt_` and 256 random bits in base64url. Only its SHA-256 is stored.
///
/// Prints as `<redacted>`, to keep it out of logs.
package struct BearerToken: Sendable {
    /// The secret text, to be shown only to the token's owner.
    package let text: String

    package static let prefix = "mgt_"
    /// Maximum length in bytes, longer than any valid token.
    private static let bytesMax = 256

    package init(using rng: inout some RandomNumberGenerator) {
        let bytes = (0..<4).flatMap { _ in withUnsafeBytes(of: rng.next()) { Array($0) } }
        let base64 = Data(bytes).base64EncodedString()
        let safe = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        text = Self.prefix + safe
    }

    /// Parses an `Authorization` header: `Bearer mgt_…`. Ignores surrounding blanks and the case of the scheme.
    ///
    /// - Returns: nil for anything else.
    package init?(authorization: String) {
        let parts = authorization.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        self.init(text: String(parts[1]))
    }

    /// - Returns: nil unless the text has a token's form.
    package init?(text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.bytesMax else { return nil }
        self.text = text
    }

    /// SHA-256 of the token. Compare tokens only by this hash, because the duration of a direct comparison would reveal
    /// parts of the token.
    package var hash: [UInt8] { SHA256.digest(Array(text.utf8)) }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
}
