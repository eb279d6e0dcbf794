import COpenSSL
import Cryptography

/// An immutable private key on the curve P-256. Any thread may use it.
package final class P256Key: @unchecked Sendable {
    private static let curve = "prime256v1"

    /// OpenSSL's EVP_PKEY.
    let pointer: OpaquePointer

    package init() throws(CertificateError) {
        let step = "a key cannot be made"
        let context = try made(EVP_PKEY_CTX_new_from_name(OpenSSLContext.shared.pointer, "EC", nil), step)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        try succeeded(EVP_PKEY_keygen_init(context), step)
        try succeeded(EVP_PKEY_CTX_set_group_name(context, Self.curve), step)
        try succeeded(EVP_PKEY_generate(context, &key), step)
        pointer = try made(key, step)
    }

    /// - Parameter pem: unencrypted PKCS #8 or SEC 1.
    package init(pem: String) throws(CertificateError) {
        pointer = try PEM.value(of: pem, "the key cannot be read") {
            PEM_read_bio_PrivateKey_ex($0, nil, PEM.noPassword, nil, OpenSSLContext.shared.pointer, nil)
        }
        var name = [CChar](repeating: 0, count: 32)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1,
            Self.curve.utf8.elementsEqual(name.prefix { $0 != 0 }.lazy.map { UInt8(bitPattern: $0) })
        else { throw CertificateError("the key is not of the curve P-256") }
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Returns unencrypted PKCS #8: `-----BEGIN PRIVATE KEY-----`.
    package func pem() throws(CertificateError) -> String {
        try PEM.text("the key cannot be written") {
            PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil)
        }
    }

    /// Returns a SubjectPublicKeyInfo in DER, as in certificates.
    package func publicKey() throws(CertificateError) -> [UInt8] {
        try DER.bytes("the public key cannot be written") { i2d_PUBKEY(pointer, $0) }
    }
}
