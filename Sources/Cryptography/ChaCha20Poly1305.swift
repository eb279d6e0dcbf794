import COpenSSL

/// Authenticated encryption (RFC 8439).
package enum ChaCha20Poly1305 {
    package static let keyLength = 32
    package static let nonceLength = 12
    /// Number of bytes that sealing adds to a message.
    package static let tagLength = 16

    /// Returns the encrypted message and its tag. Never use a nonce twice with one key.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes.
    ///   - additional: authenticated, but not sent.
    /// - Returns: nil if key or nonce have another length.
    package static func seal(
        _ plain: [UInt8], key: [UInt8], nonce: [UInt8], authenticating additional: [UInt8] = []
    ) -> [UInt8]? {
        guard let cipher = Cipher(key: key, nonce: nonce, encrypts: true), cipher.authenticate(additional),
            var sealed = cipher.apply(to: plain[...]), cipher.isFinished()
        else { return nil }
        let tag = [UInt8](unsafeUninitializedCapacity: tagLength) { bytes, count in
            let isMade = EVP_CIPHER_CTX_ctrl(
                cipher.context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), bytes.baseAddress)
            count = isMade == 1 ? tagLength : 0
        }
        guard tag.count == tagLength else { return nil }
        sealed += tag
        return sealed
    }

    /// Returns the plain message; nil if it is too short, or was not sealed with this key, nonce and additional data.
    package static func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], authenticating additional: [UInt8] = []
    ) -> [UInt8]? {
        guard sealed.count >= tagLength, let cipher = Cipher(key: key, nonce: nonce, encrypts: false),
            cipher.authenticate(additional), let plain = cipher.apply(to: sealed.dropLast(tagLength))
        else { return nil }
        var tag = Array(sealed.suffix(tagLength))
        guard EVP_CIPHER_CTX_ctrl(cipher.context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1,
            cipher.isFinished()
        else { return nil }
        return plain
    }
}

private struct Cipher: ~Copyable {
    let context: OpaquePointer

    init?(key: [UInt8], nonce: [UInt8], encrypts: Bool) {
        guard key.count == ChaCha20Poly1305.keyLength, nonce.count == ChaCha20Poly1305.nonceLength else { return nil }
        context = Self.prepare(key, nonce, encrypts)
    }

    private static func prepare(_ key: [UInt8], _ nonce: [UInt8], _ encrypts: Bool) -> OpaquePointer {
        let algorithm = EVP_CIPHER_fetch(OpenSSLContext.shared.pointer, "ChaCha20-Poly1305", nil)
        defer { EVP_CIPHER_free(algorithm) }
        // Fails only for lack of memory, because every OpenSSL has this algorithm.
        guard let algorithm, let context = EVP_CIPHER_CTX_new(),
            EVP_CipherInit_ex2(context, algorithm, key, nonce, encrypts ? 1 : 0, nil) == 1
        else { preconditionFailure("No memory for ChaCha20-Poly1305") }
        return context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    func authenticate(_ additional: [UInt8]) -> Bool {
        guard !additional.isEmpty else { return true }
        var count: Int32 = 0
        return EVP_CipherUpdate(context, nil, &count, additional, Int32(clamping: additional.count)) == 1
    }

    func apply(to input: ArraySlice<UInt8>) -> [UInt8]? {
        guard let length = Int32(exactly: input.count) else { return nil }
        var written: Int32 = 0
        let output = [UInt8](unsafeUninitializedCapacity: max(1, input.count)) { output, count in
            let isDone = input.withUnsafeBufferPointer {
                EVP_CipherUpdate(context, output.baseAddress, &written, $0.baseAddress, length)
            }
            count = isDone == 1 ? Int(written) : 0
        }
        return output.count == input.count ? output : nil
    }

    /// Finishes the encryption or decryption. Returns false for a wrong tag.
    func isFinished() -> Bool {
        var (rest, count): ([UInt8], Int32) = ([UInt8](repeating: 0, count: 16), 0)
        return EVP_CipherFinal_ex(context, &rest, &count) == 1
    }
}
