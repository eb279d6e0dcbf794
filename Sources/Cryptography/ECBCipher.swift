import COpenSSL

/// AES in ECB mode without padding. It does not hide patterns.
///
/// Only for meters that use it with known keys: a TC66's answers and a KM003C's memory
/// (Docs/Protocols/TC66.md#the-answer and Docs/Protocols/KM003C.md#logs).
package struct ECBCipher: Sendable {
    package static let blockLength = 16

    private let encrypting: Schedule
    private let decrypting: Schedule

    /// Nil unless the key has 16, 24 or 32 bytes.
    package init?(key: [UInt8]) {
        guard [16, 24, 32].contains(key.count) else { return nil }
        encrypting = Schedule(key: key, encrypts: true)
        decrypting = Schedule(key: key, encrypts: false)
    }

    /// For a key that is a constant of this code. Traps if its length is invalid.
    package init(fixedKey key: [UInt8]) {
        guard let cipher = ECBCipher(key: key) else { preconditionFailure("A fixed key of \(key.count) bytes") }
        self = cipher
    }

    /// Decrypts whole 16-byte blocks into `plain`, which is as long as `cipher` and does not overlap it.
    ///
    /// - Returns: false if the lengths differ, are zero or are not a whole number of blocks; `plain` is then
    ///   unspecified.
    package func decrypt(_ cipher: UnsafeRawBufferPointer, into plain: UnsafeMutableRawBufferPointer) -> Bool {
        decrypting.applied(to: cipher, into: plain)
    }

    /// Nil unless the length is a whole number of 16-byte blocks, at least one.
    package func decrypted(_ cipher: [UInt8]) -> [UInt8]? { decrypting.applied(to: cipher) }

    /// Returns the first eight bytes of a decrypted 16-byte block, in memory order, for finding the start of an answer
    /// in noise. Nil for fewer than 16 bytes.
    package func beginning(of cipher: UnsafeRawBufferPointer) -> UInt64? {
        guard cipher.count >= Self.blockLength else { return nil }
        var block = InlineArray<16, UInt8>(repeating: 0)
        return withUnsafeMutableBytes(of: &block) { block in
            guard decrypt(UnsafeRawBufferPointer(rebasing: cipher.prefix(Self.blockLength)), into: block) else {
                return nil
            }
            return block.loadUnaligned(as: UInt64.self)
        }
    }

    /// Nil unless the length is a whole number of 16-byte blocks, at least one.
    package func encrypt(_ plain: [UInt8]) -> [UInt8]? { encrypting.applied(to: plain) }
}

/// Immutable key schedule. Each use works on a copy, so any thread may use it.
private final class Schedule: @unchecked Sendable {
    private let context: OpaquePointer

    init(key: [UInt8], encrypts: Bool) {
        let algorithm = EVP_CIPHER_fetch(OpenSSLContext.shared.pointer, "AES-\(key.count * 8)-ECB", nil)
        defer { EVP_CIPHER_free(algorithm) }
        // Fails only for lack of memory, because every OpenSSL has this algorithm.
        guard let algorithm, let context = EVP_CIPHER_CTX_new(),
            EVP_CipherInit_ex2(context, algorithm, key, nil, encrypts ? 1 : 0, nil) == 1,
            EVP_CIPHER_CTX_set_padding(context, 0) == 1
        else { preconditionFailure("No memory for AES") }
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    func applied(to input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        guard input.count == output.count, !input.isEmpty, input.count % ECBCipher.blockLength == 0,
            let length = Int32(exactly: input.count)
        else { return false }
        guard let copy = EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_copy(copy, context) == 1 else {
            preconditionFailure("No memory for AES")
        }
        defer { EVP_CIPHER_CTX_free(copy) }
        var written: Int32 = 0
        let isDone = EVP_CipherUpdate(
            copy, output.bindMemory(to: UInt8.self).baseAddress, &written, input.bindMemory(to: UInt8.self).baseAddress,
            length)
        return isDone == 1 && written == length
    }

    func applied(to input: [UInt8]) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: input.count)
        let isDone = input.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { applied(to: input, into: $0) }
        }
        return isDone ? output : nil
    }
}
