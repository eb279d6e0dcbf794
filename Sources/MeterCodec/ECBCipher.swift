import Crypto
import CryptoExtras

/// The cipher of a TC66's answers and a KM003C's memory: AES in ECB mode without padding
/// (Docs/Protocols/TC66.md#the-answer and Docs/Protocols/KM003C.md#logs).
///
/// The library offers CBC and single blocks. One CBC call with a zero initialisation vector needs only one key schedule
/// for the whole answer; XOR with the previous block of ciphertext then turns CBC into ECB.
package struct ECBCipher: Sendable {
    package static let blockLength = 16

    private let key: SymmetricKey
    private let zeroVector: AES._CBC.IV

    /// - Parameter key: 16, 24 or 32 bytes.
    package init(key: [UInt8]) throws(CodecError) {
        guard [16, 24, 32].contains(key.count) else { throw .impossibleLength(key.count) }
        do {
            zeroVector = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: Self.blockLength))
        } catch {
            throw .impossibleLength(Self.blockLength)
        }
        self.key = SymmetricKey(data: key)
    }

    /// The cipher with the one key that every TC66 and TC66C has (Docs/Protocols/TC66.md#the-answer).
    package static let tc66 = ECBCipher(fixedKey: [
        0x58, 0x21, 0xFA, 0x56, 0x01, 0xB2, 0xF0, 0x26, 0x87, 0xFF, 0x12, 0x04, 0x62, 0x2A, 0x4F, 0xB0,
        0x86, 0xF4, 0x02, 0x60, 0x81, 0x6F, 0x9A, 0x0B, 0xA7, 0xF1, 0x06, 0x61, 0x9A, 0xB8, 0x72, 0x88,
    ])

    /// A cipher whose key is fixed in this code.
    init(fixedKey key: [UInt8]) {
        do {
            try self.init(key: key)
        } catch {
            preconditionFailure("A fixed key of \(key.count) bytes: \(error)")
        }
    }

    /// Decrypts whole 16-byte blocks into `plain`, which is as long as `cipher`.
    ///
    /// - Returns: false if the lengths differ, are zero or are not a whole number of blocks; `plain` is then
    ///   unspecified.
    package func decrypt(_ cipher: UnsafeRawBufferPointer, into plain: UnsafeMutableRawBufferPointer) -> Bool {
        guard cipher.count == plain.count, !cipher.isEmpty, cipher.count % Self.blockLength == 0 else { return false }
        // It can only fail because of a length, and lengths were checked above and in `init`.
        guard let chained = try? AES._CBC.decrypt(cipher, using: key, iv: zeroVector, noPadding: true) else {
            return false
        }
        plain.copyBytes(from: chained)
        for offset in stride(from: Self.blockLength, to: cipher.count, by: 8) {
            let before = cipher.loadUnaligned(fromByteOffset: offset - Self.blockLength, as: UInt64.self)
            let mixed = plain.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            plain.storeBytes(of: mixed ^ before, toByteOffset: offset, as: UInt64.self)
        }
        return true
    }

    /// Decrypts whole 16-byte blocks.
    ///
    /// - Returns: nil if the length is zero or not a whole number of blocks.
    package func decrypted(_ cipher: [UInt8]) -> [UInt8]? {
        var plain = [UInt8](repeating: 0, count: cipher.count)
        let worked = cipher.withUnsafeBytes { source in plain.withUnsafeMutableBytes { decrypt(source, into: $0) } }
        return worked ? plain : nil
    }

    /// The first eight bytes of one decrypted 16-byte block, in memory order. Nil if there are fewer than 16 bytes.
    /// Used to search for the start of an answer among noise.
    package func beginning(of cipher: UnsafeRawBufferPointer) -> UInt64? {
        guard cipher.count >= Self.blockLength else { return nil }
        var block = InlineArray<16, UInt8>(copying: cipher)
        return withUnsafeMutableBytes(of: &block) { block in
            var bytes = block
            // It can only fail because of the length, and 16 is the right one.
            return (try? AES.inversePermute(&bytes, key: key)).map { bytes.loadUnaligned(as: UInt64.self) }
        }
    }

    /// Encrypts whole 16-byte blocks as the meter does; used by its simulator.
    ///
    /// - Returns: nil if the length is not a whole number of blocks.
    package func encrypt(_ plain: [UInt8]) -> [UInt8]? {
        guard plain.count % Self.blockLength == 0 else { return nil }
        var cipher: [UInt8] = []
        cipher.reserveCapacity(plain.count)
        for start in stride(from: 0, to: plain.count, by: Self.blockLength) {
            var block = Array(plain[start..<start + Self.blockLength])
            // It can only fail because of the length, and 16 is the right one.
            guard (try? AES.permute(&block, key: key)) != nil else { return nil }
            cipher += block
        }
        return cipher
    }
}
