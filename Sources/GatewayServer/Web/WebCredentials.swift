import Cryptography
package import Domain
package import ServerKit

/// Checks the page's logins, with the hash of the access token and the key that signs logins.
///
/// A login is a signed text with its expiry, so it needs no storage and survives a restart. Only logins ended early are
/// stored. A new access token creates a new key, which ends every login.
package struct WebCredentials: Hashable, Sendable {
    /// SHA-256 of the access token.
    package let tokenHash: [UInt8]
    /// Signing key of 32 random bytes.
    package private(set) var key: [UInt8]
    /// Authentication codes of logins ended early, with their expiry in milliseconds since 1970.
    package private(set) var ended: [String: Int64]

    static let loginDuration = Duration.seconds(30 * 86_400)

    /// Maximum number of entries in `ended`; one more ends all logins. Only clients with the access token can add
    /// entries.
    package static let endedMax = 1000

    package init(tokenHash: [UInt8], key: [UInt8], ended: [String: Int64] = [:]) {
        self.tokenHash = tokenHash
        self.key = key
        self.ended = ended
    }

    package init(for token: BearerToken, using rng: inout some RandomNumberGenerator) {
        tokenHash = token.hash
        key = Self.newKey(&rng)
        ended = [:]
    }

    private static func newKey(_ rng: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<4).flatMap { _ in withUnsafeBytes(of: rng.next()) { Array($0) } }
    }

    /// The comparison time depends only on the hash, which does not help to guess the token.
    package func admits(_ token: BearerToken) -> Bool { token.hash == tokenHash }

    /// Returns a new login: its expiry, a unique number, and the authentication code of both.
    package func login(at now: WallTime, using rng: inout some RandomNumberGenerator) -> String {
        let text = "\(now.millisecondsSince1970 + Self.loginDuration.milliseconds).\(rng.next() as UInt64)"
        return "\(text).\(Hex.encode(HMACSHA256.code(for: Array(text.utf8), key: key)))"
    }

    package func admits(login text: String, at now: WallTime) -> Bool {
        guard let login = Login(text), login.end > now.millisecondsSince1970, ended[login.code] == nil,
            let code = Hex.decode(login.code)
        else { return false }
        return HMACSHA256.isCode(code, for: Array(login.signed.utf8), key: key)
    }

    /// Ends a login early. If `endedMax` logins have already ended early, ends all logins.
    package mutating func end(login text: String, at now: WallTime, using rng: inout some RandomNumberGenerator) {
        guard admits(login: text, at: now), let login = Login(text) else { return }
        ended = ended.filter { $0.value > now.millisecondsSince1970 }
        if ended.count >= Self.endedMax {
            key = Self.newKey(&rng)
            ended = [:]
        } else {
            ended[login.code] = login.end
        }
    }

    /// Parts of a login. Accepts logins of an earlier version, which contain no number.
    private struct Login {
        var signed: String
        var end: Int64
        /// In lower-case hexadecimal.
        var code: String

        init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count), parts.allSatisfy({ $0.utf8.count <= 64 }),
                let code = parts.last, code.utf8.count == 64, let end = Int64(parts[0])
            else { return nil }
            signed = parts.dropLast().joined(separator: ".")
            self.end = end
            self.code = code.lowercased()
        }
    }
}

extension WebCredentials: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
}
