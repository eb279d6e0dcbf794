import MeterCodec
import Testing

struct TC66CipherTests {
    /// FIPS-197, appendix C.3: AES-256 on one block.
    private let key = (0..<32).map { UInt8($0) }
    private let plain: [UInt8] = (0..<16).map { UInt8($0 * 0x11) }
    private let published = "8ea2b7ca516745bfeafc49904b496089"

    private func decrypt(_ bytes: [UInt8], with cipher: TC66Cipher) -> [UInt8]? {
        var plain = [UInt8](repeating: 0, count: bytes.count)
        let worked = bytes.withUnsafeBytes { source in
            plain.withUnsafeMutableBytes { cipher.decrypt(source, into: $0) }
        }
        return worked ? plain : nil
    }

    @Test func encrypt_givesThePublishedBlock() throws {
        #expect(try TC66Cipher(key: key).encrypt(plain) == hex(published))
    }

    @Test func decrypt_givesThePublishedBlock_inEachPlaceOfAMessage() throws {
        let cipher = try TC66Cipher(key: key)
        let block = try hex(published)

        // Equal blocks of cipher text give equal blocks of plain text: this is ECB and not CBC.
        #expect(decrypt(block + block + block, with: cipher) == plain + plain + plain)
    }

    @Test func beginning_isTheFirstEightBytes() throws {
        let cipher = try TC66Cipher(key: key)
        let block = try hex(published)

        #expect(block.withUnsafeBytes(cipher.beginning)?.bigEndian == 0x0011_2233_4455_6677)
        #expect(block.dropLast().withUnsafeBytes(cipher.beginning) == nil)
    }

    @Test func lengthThatIsNoWholeNumberOfBlocks_isRefused() {
        #expect(TC66Cipher.meter.encrypt([1, 2, 3]) == nil)
        #expect(decrypt([UInt8](repeating: 0, count: 17), with: .meter) == nil)
        #expect(decrypt([], with: .meter) == nil)
        #expect(throws: CodecError.impossibleLength(5)) { try TC66Cipher(key: [1, 2, 3, 4, 5]) }
    }
}
