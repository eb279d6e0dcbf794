import Cryptography
import Testing

struct ECBCipherTests {
    /// FIPS-197, appendix C.3: AES-256 on one block.
    private let key = (0..<32).map { UInt8($0) }
    private let plain: [UInt8] = (0..<16).map { UInt8($0 * 0x11) }
    private let published: [UInt8] = [
        0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf, 0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89,
    ]

    private func decrypt(_ bytes: [UInt8], with cipher: ECBCipher) -> [UInt8]? {
        var plain = [UInt8](repeating: 0, count: bytes.count)
        let worked = bytes.withUnsafeBytes { source in
            plain.withUnsafeMutableBytes { cipher.decrypt(source, into: $0) }
        }
        return worked ? plain : nil
    }

    @Test func encrypt_givesThePublishedBlock() throws {
        #expect(ECBCipher(key: key)?.encrypt(plain) == published)
    }

    @Test func decrypt_givesThePublishedBlock_inEachPlaceOfAMessage() throws {
        let cipher = try #require(ECBCipher(key: key))
        let block = published

        // Equal ciphertext blocks give equal plaintext blocks: this is ECB and not CBC.
        #expect(decrypt(block + block + block, with: cipher) == plain + plain + plain)
    }

    @Test func beginning_isTheFirstEightBytes() throws {
        let cipher = try #require(ECBCipher(key: key))
        let block = published

        #expect(block.withUnsafeBytes(cipher.beginning)?.bigEndian == 0x0011_2233_4455_6677)
        #expect(block.dropLast().withUnsafeBytes(cipher.beginning) == nil)
    }

    /// FIPS-197, appendix C.1 and C.2: the shorter keys.
    @Test(arguments: [(16, [0x69, 0xc4, 0xe0, 0xd8] as [UInt8]), (24, [0xdd, 0xa9, 0x7c, 0xa4])])
    func shorterKeys_giveThePublishedBlocks(length: Int, beginning: [UInt8]) throws {
        let cipher = try #require(ECBCipher(key: Array(key.prefix(length))))

        let encrypted = try #require(cipher.encrypt(plain))

        #expect(Array(encrypted.prefix(4)) == beginning)
        #expect(cipher.decrypted(encrypted) == plain)
    }

    @Test func lengthThatIsNoWholeNumberOfBlocks_isRefused() throws {
        let cipher = try #require(ECBCipher(key: key))

        #expect(cipher.encrypt([1, 2, 3]) == nil)
        #expect(decrypt([UInt8](repeating: 0, count: 17), with: cipher) == nil)
        #expect(decrypt([], with: cipher) == nil)
        var short = [UInt8](repeating: 0, count: 16)
        let worked = (published + published).withUnsafeBytes { source in
            short.withUnsafeMutableBytes { cipher.decrypt(source, into: $0) }
        }
        #expect(!worked)
        #expect(ECBCipher(key: [1, 2, 3, 4, 5]) == nil)
    }

    /// What one leaves behind in the library would be in the next one's answer.
    @Test func oneCipher_servesManyAtATime() async throws {
        let cipher = try #require(ECBCipher(key: key))

        await withTaskGroup(of: Bool.self) { group in
            for seed in UInt8(0)..<32 {
                group.addTask {
                    (1...64).allSatisfy { blocks in
                        let bytes = (0..<blocks * 16).map { UInt8(truncatingIfNeeded: $0) ^ seed }
                        return cipher.encrypt(bytes).flatMap(cipher.decrypted) == bytes
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
