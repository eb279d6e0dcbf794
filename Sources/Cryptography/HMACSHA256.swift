import COpenSSL

/// Keyed hash of a message (RFC 2104).
package enum HMACSHA256 {
    package static func code(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.length) { code, count in
            let made = EVP_Q_mac(
                OpenSSLContext.shared.pointer, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count,
                code.baseAddress, SHA256.length, &count)
            precondition(made != nil && count == SHA256.length, "No memory for HMAC")
        }
    }

    /// Returns whether `code` authenticates the message. Compares in constant time.
    package static func isCode(_ code: [UInt8], for message: [UInt8], key: [UInt8]) -> Bool {
        let right = self.code(for: message, key: key)
        return code.count == right.count && CRYPTO_memcmp(code, right, right.count) == 0
    }
}
