import Cryptography
import Testing

struct DigestTests {
    /// NIST, "Secure Hash Standard examples" (csrc.nist.gov, SHA256.pdf and FIPS 180-2, appendix B.3).
    @Test(arguments: [
        ([], [0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14] as [UInt8]),
        (Array("abc".utf8), [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]),
        ([UInt8](repeating: 0x61, count: 1_000_000), [0xcd, 0xc7, 0x6e, 0x5c, 0x99, 0x14, 0xfb, 0x92]),
    ])
    func digest_isThePublishedOne(message: [UInt8], beginning: [UInt8]) {
        let digest = SHA256.digest(message)

        #expect(digest.count == 32)
        #expect(Array(digest.prefix(8)) == beginning)
    }

    /// RFC 4231, 4.2 and 4.3.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            [0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53] as [UInt8]
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?", [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]
        ),
    ])
    func code_isThePublishedOne(key: [UInt8], message: String, beginning: [UInt8]) {
        let code = HMACSHA256.code(for: Array(message.utf8), key: key)

        #expect(code.count == 32)
        #expect(Array(code.prefix(8)) == beginning)
    }

    @Test func codeThatDiffersAnywhere_isNone() {
        let (message, key) = (Array("a message".utf8), [UInt8](1...32))
        let code = HMACSHA256.code(for: message, key: key)

        #expect(HMACSHA256.isCode(code, for: message, key: key))
        for index in code.indices {
            var other = code
            other[index] ^= 1
            #expect(!HMACSHA256.isCode(other, for: message, key: key))
        }
        #expect(!HMACSHA256.isCode(Array(code.dropLast()), for: message, key: key))
        #expect(!HMACSHA256.isCode(code + [0], for: message, key: key))
        #expect(!HMACSHA256.isCode([], for: message, key: key))
        #expect(!HMACSHA256.isCode(code, for: message + [0], key: key))
        #expect(!HMACSHA256.isCode(code, for: message, key: [UInt8](0...31)))
    }
}
