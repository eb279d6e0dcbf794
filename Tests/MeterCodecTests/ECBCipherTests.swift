import MeterCodec
import Testing

struct ECBCipherTests {
    /// FIPS-197, appendix C.3: AES-256 on one block.
    private let key = (0..<32).map { UInt8($0) }
    private let plain: [UInt8] = (0..<16).map { UInt8($0 * 0x11) }
    private let published = "8ea2b7ca516745bfeafc49904b496089"

    private func decrypt(_ bytes: [UInt8], with cipher: ECBCipher) -> [UInt8]? {
        var plain = [UInt8](repeating: 0, count: bytes.count)
        let worked = bytes.withUnsafeBytes { source in
            plain.withUnsafeMutableBytes { cipher.decrypt(source, into: $0) }
        }
        return worked ? plain : nil
    }

    @Test func encrypt_givesThePublishedBlock() throws {
        #expect(try ECBCipher(key: key).encrypt(plain) == hex(published))
    }

    @Test func decrypt_givesThePublishedBlock_inEachPlaceOfAMessage() throws {
        let cipher = try ECBCipher(key: key)
        let block = try hex(published)

        // Equal ciphertext blocks give equal plaintext blocks: this is ECB and not CBC.
        #expect(decrypt(block + block + block, with: cipher) == plain + plain + plain)
    }

    /// An empty `pac3`, whose check word is 0528 (Docs/Protocols/TC66.md#the-answer), encrypted with the meter's key by
    /// another program (`openssl enc -aes-256-ecb -nopad`).
    @Test func meterKey_givesWhatAnotherProgramMakesOfAnEmptyPiece() throws {
        let plain = Array("pac3".utf8) + [UInt8](repeating: 0, count: 56) + [0x28, 0x05, 0, 0]
        let cipher = try hex(
            "4231f411e56f5c203c590b4a68fd5b092aca6ec4a4554d5542e8674b097e259c"
                + "2aca6ec4a4554d5542e8674b097e259ce09c4004c92da948c3165eebdb8b9ec2")

        #expect(ECBCipher.tc66.encrypt(plain) == cipher)
        #expect(decrypt(cipher, with: .tc66) == plain)
        #expect(plain.withUnsafeBytes(TC66Piece.checkError) == nil)
    }

    @Test func beginning_isTheFirstEightBytes() throws {
        let cipher = try ECBCipher(key: key)
        let block = try hex(published)

        #expect(block.withUnsafeBytes(cipher.beginning)?.bigEndian == 0x0011_2233_4455_6677)
        #expect(block.dropLast().withUnsafeBytes(cipher.beginning) == nil)
    }

    @Test func lengthThatIsNoWholeNumberOfBlocks_isRefused() {
        #expect(ECBCipher.tc66.encrypt([1, 2, 3]) == nil)
        #expect(decrypt([UInt8](repeating: 0, count: 17), with: .tc66) == nil)
        #expect(decrypt([], with: .tc66) == nil)
        #expect(throws: CodecError.impossibleLength(5)) { try ECBCipher(key: [1, 2, 3, 4, 5]) }
    }
}
