import Crypto
import FoundationEssentials
package import MeterModel
package import ServerKit

/// What the page's login is checked against: the hash of the token, and the key that signs logins.
///
/// A login is a text that carries when it ends, signed: nothing is kept for it, so that there is nothing to fill up, and
/// it outlives a restart. A new token comes with a new key, which ends every login.
package struct WebCredentials: Hashable, Sendable {
    /// SHA-256 of the token.
    package let tokenHash: [UInt8]
    /// 32 random bytes.
    package let key: [UInt8]

    /// How long a login lasts.
    package static let loginDuration = Duration.seconds(30 * 86_400)

    package init(tokenHash: [UInt8], key: [UInt8]) {
        self.tokenHash = tokenHash
        self.key = key
    }

    /// For a token, with a new key.
    package init(for token: BearerToken, using dice: inout some RandomNumberGenerator) {
        tokenHash = token.hash
        key = (0..<4).flatMap { _ in withUnsafeBytes(of: dice.next()) { Array($0) } }
    }

    /// Compared by the hash: how long that takes tells of the hash alone, which is no help in finding the token.
    package func admits(_ token: BearerToken) -> Bool { token.hash == tokenHash }

    /// A login that begins now.
    package func login(at now: WallTime) -> String {
        let end = "\(now.millisecondsSince1970 + Self.loginDuration.milliseconds)"
        return "\(end).\(Hex.encode(Array(Self.code(for: end, key: key))))"
    }

    /// Whether `text` is what `login` made and has not ended.
    package func admits(login text: String, at now: WallTime) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 19, parts[1].utf8.count == 64, let end = Int64(parts[0]),
            end > now.millisecondsSince1970, let code = Hex.decode(String(parts[1]))
        else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            Data(code), authenticating: Data(parts[0].utf8), using: SymmetricKey(data: Data(key)))
    }

    private static func code(for end: String, key: [UInt8]) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(end.utf8), using: SymmetricKey(data: Data(key)))
    }
}

extension WebCredentials: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
}
