import COpenSSL
import Cryptography
import Testing

/// What a sealed connection is made of: X25519 and ChaCha20-Poly1305.
struct SealedConnectionTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// RFC 7748, 6.1: Bob's keys, and what he shares with Alice.
    @Test func sharedSecret_isThePublishedOne() {
        let bob = Self.bytes("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
        let alice = Self.bytes("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")

        #expect(
            X25519.publicKey(of: bob)
                == Self.bytes("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
        #expect(
            X25519.sharedSecret(bob, with: alice)
                == Self.bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"))
        #expect(X25519.sharedSecret(bob, with: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(ERR_peek_error() == 0, "found by the next call on this thread")
        #expect(X25519.sharedSecret(bob, with: Array(alice.dropLast())) == nil)
        #expect(X25519.publicKey(of: []) == nil)
    }

    /// RFC 8439, 2.8.2.
    @Test func sealedMessage_isThePublishedOne_andOpensUnchangedAlone() throws {
        let plain = Array(
            "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
                .utf8)
        let key = [UInt8](0x80...0x9F)
        let nonce = Self.bytes("070000004041424344454647")
        let additional = Self.bytes("50515253c0c1c2c3c4c5c6c7")
        let sealed = try #require(ChaCha20Poly1305.seal(plain, key: key, nonce: nonce, authenticating: additional))

        #expect(Array(sealed.prefix(16)) == Self.bytes("d31a8d34648e60db7b86afbc53ef7ec2"))
        #expect(Array(sealed.suffix(16)) == Self.bytes("1ae10b594f09e26a7e902ecbd0600691"))
        #expect(ChaCha20Poly1305.open(sealed, key: key, nonce: nonce, authenticating: additional) == plain)
        #expect(ChaCha20Poly1305.open(sealed, key: key, nonce: nonce) == nil)
        for index in [0, sealed.count - 1] {
            var changed = sealed
            changed[index] ^= 1
            #expect(ChaCha20Poly1305.open(changed, key: key, nonce: nonce, authenticating: additional) == nil)
            #expect(ERR_peek_error() == 0)
        }
        let empty = try #require(ChaCha20Poly1305.seal([], key: key, nonce: nonce))
        #expect(ChaCha20Poly1305.open(empty, key: key, nonce: nonce) == [])
        #expect(ChaCha20Poly1305.open([1, 2], key: key, nonce: nonce) == nil)
        #expect(ChaCha20Poly1305.seal(plain, key: [1], nonce: nonce) == nil)
    }
}
