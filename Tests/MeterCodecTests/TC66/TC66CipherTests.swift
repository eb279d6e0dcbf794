import Cryptography
import MeterCodec
import Testing

struct TC66CipherTests {
    /// An empty `pac3`, whose check word is 0528 (Docs/Protocols/TC66.md#the-answer), encrypted with the meter's key by
    /// another program (`openssl enc -aes-256-ecb -nopad`).
    @Test func meterKey_givesWhatAnotherProgramMakesOfAnEmptyPiece() throws {
        let plain = Array("pac3".utf8) + [UInt8](repeating: 0, count: 56) + [0x28, 0x05, 0, 0]
        let cipher = try hex(
            "4231f411e56f5c203c590b4a68fd5b092aca6ec4a4554d5542e8674b097e259c"
                + "2aca6ec4a4554d5542e8674b097e259ce09c4004c92da948c3165eebdb8b9ec2")

        #expect(ECBCipher.tc66.encrypt(plain) == cipher)
        #expect(ECBCipher.tc66.decrypted(cipher) == plain)
        #expect(plain.withUnsafeBytes(TC66Piece.checkError) == nil)
    }
}
