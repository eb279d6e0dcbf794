import COpenSSL

/// Diffie-Hellman function of RFC 7748.
package enum X25519 {
    /// Length of each key and secret in bytes.
    package static let length = 32

    /// Nil if the private key is not 32 bytes long.
    package static func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
        guard let key = Key(private: privateKey) else { return nil }
        var count = length
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { bytes, made in
            made = EVP_PKEY_get_raw_public_key(key.pointer, bytes.baseAddress, &count) == 1 ? count : 0
        }
        return bytes.count == length ? bytes : nil
    }

    /// Nil if a key is not 32 bytes long, or if the public key would make the secret all zeros (RFC 7748, 6.1).
    package static func sharedSecret(_ privateKey: [UInt8], with publicKey: [UInt8]) -> [UInt8]? {
        guard let own = Key(private: privateKey), let other = Key(public: publicKey),
            let context = EVP_PKEY_CTX_new_from_pkey(OpenSSLContext.shared.pointer, own.pointer, nil)
        else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        // Remove OpenSSL's error about a bad key from this thread's error queue.
        defer { ERR_clear_error() }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, other.pointer) == 1 else {
            return nil
        }
        var count = length
        let secret = [UInt8](unsafeUninitializedCapacity: length) { bytes, made in
            made = EVP_PKEY_derive(context, bytes.baseAddress, &count) == 1 ? count : 0
        }
        return secret.count == length ? secret : nil
    }
}

private struct Key: ~Copyable {
    let pointer: OpaquePointer

    init?(private bytes: [UInt8]) {
        guard bytes.count == X25519.length,
            let key = EVP_PKEY_new_raw_private_key_ex(
                OpenSSLContext.shared.pointer, "X25519", nil, bytes, bytes.count)
        else { return nil }
        pointer = key
    }

    init?(public bytes: [UInt8]) {
        guard bytes.count == X25519.length,
            let key = EVP_PKEY_new_raw_public_key_ex(OpenSSLContext.shared.pointer, "X25519", nil, bytes, bytes.count)
        else { return nil }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }
}
