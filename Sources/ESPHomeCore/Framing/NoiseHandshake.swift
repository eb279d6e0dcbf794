import Cryptography

/// The handshake `Noise_NNpsk0_25519_ChaChaPoly_SHA256` (The Noise Protocol Framework, revision 34, 5.2, 5.3 and 9): a
/// pre-shared key, no long-term key pairs, one message from each side.
///
/// The initiator calls `write` and then `read`, the responder `read` and then `write`. Then `split` returns the keys.
package struct NoiseHandshake: Sendable {
    package enum Role: Sendable { case initiator, responder }

    package static let name = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"
    package static let keyLength = 32
    package static let messageLength = X25519.length + ChaCha20Poly1305.tagLength

    private let role: Role
    private let key: [UInt8]
    private let ephemeral: [UInt8]
    private var chainingKey: [UInt8]
    private var cipher = NoiseCipher(key: [])
    private var remote: [UInt8] = []
    /// Digest of all data exchanged so far.
    package private(set) var hash: [UInt8]

    /// - Parameters:
    ///   - key: 32 bytes shared by both sides.
    ///   - prologue: must be equal on both sides.
    ///   - ephemeral: 32 random bytes for this handshake only.
    package init(_ role: Role, key: [UInt8], prologue: [UInt8], ephemeral: [UInt8]) {
        self.role = role
        self.key = key
        self.ephemeral = ephemeral
        // The name is longer than a digest, so its digest is used (5.2).
        hash = SHA256.digest(Array(Self.name.utf8))
        chainingKey = hash
        mix(prologue)
    }

    /// Returns this side's message. Nil if a key has the wrong length, or if the other side's public key yields an
    /// all-zero shared secret.
    package mutating func write() -> [UInt8]? {
        if role == .initiator { mixPreSharedKey() }
        guard let own = X25519.publicKey(of: ephemeral) else { return nil }
        take(own)
        if role == .responder {
            guard let secret = X25519.sharedSecret(ephemeral, with: remote) else { return nil }
            mixKey(secret)
        }
        guard let tag = cipher.seal([], authenticating: hash) else { return nil }
        mix(tag)
        return own + tag
    }

    /// - Returns: false if the message is damaged or was made with another key.
    package mutating func read(_ message: [UInt8]) -> Bool {
        guard message.count == Self.messageLength else { return false }
        if role == .responder { mixPreSharedKey() }
        remote = Array(message.prefix(X25519.length))
        take(remote)
        if role == .initiator {
            guard let secret = X25519.sharedSecret(ephemeral, with: remote) else { return false }
            mixKey(secret)
        }
        let tag = Array(message.dropFirst(X25519.length))
        guard cipher.open(tag, authenticating: hash) != nil else { return false }
        mix(tag)
        return true
    }

    package var split: (sending: NoiseCipher, receiving: NoiseCipher) {
        let keys = Self.derive(chainingKey, [], count: 2)
        let (first, second) = (NoiseCipher(key: keys[0]), NoiseCipher(key: keys[1]))
        return role == .initiator ? (first, second) : (second, first)
    }

    // MARK: The symmetric state (5.2)

    private mutating func mixPreSharedKey() {
        let keys = Self.derive(chainingKey, key, count: 3)
        chainingKey = keys[0]
        mix(keys[1])
        cipher = NoiseCipher(key: keys[2])
    }

    /// Mixes a public key into the hash, and also into the keys because there is a pre-shared key (9.2).
    private mutating func take(_ publicKey: [UInt8]) {
        mix(publicKey)
        mixKey(publicKey)
    }

    private mutating func mix(_ bytes: [UInt8]) { hash = SHA256.digest(hash + bytes) }

    private mutating func mixKey(_ bytes: [UInt8]) {
        let keys = Self.derive(chainingKey, bytes, count: 2)
        chainingKey = keys[0]
        cipher = NoiseCipher(key: keys[1])
    }

    /// Derives `count` keys by HKDF with HMAC-SHA-256 (4.3).
    private static func derive(_ chainingKey: [UInt8], _ input: [UInt8], count: Int) -> [[UInt8]] {
        let secret = HMACSHA256.code(for: input, key: chainingKey)
        var outputs: [[UInt8]] = []
        for number in 1...count {
            outputs.append(
                HMACSHA256.code(for: (outputs.last ?? []) + [UInt8(truncatingIfNeeded: number)], key: secret))
        }
        return outputs
    }
}

/// Key for one direction, with a message counter (5.1).
package struct NoiseCipher: Sendable {
    private let key: [UInt8]
    private var count: UInt64 = 0

    init(key: [UInt8]) { self.key = key }

    /// Encrypts a message; nil without a key.
    package mutating func seal(_ plain: [UInt8], authenticating additional: [UInt8] = []) -> [UInt8]? {
        ChaCha20Poly1305.seal(plain, key: key, nonce: takeNonce(), authenticating: additional)
    }

    /// Decrypts a message; nil if it is damaged, out of order, or encrypted with another key.
    package mutating func open(_ sealed: [UInt8], authenticating additional: [UInt8] = []) -> [UInt8]? {
        ChaCha20Poly1305.open(sealed, key: key, nonce: takeNonce(), authenticating: additional)
    }

    /// Returns four zero bytes and the counter, little-endian (12.3).
    private mutating func takeNonce() -> [UInt8] {
        defer { count &+= 1 }
        return [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * UInt64($0))) }
    }
}
