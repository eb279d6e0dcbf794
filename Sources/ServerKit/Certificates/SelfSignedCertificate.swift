import COpenSSL
import Cryptography

/// A self-signed X.509 server certificate (RFC 5280).
package struct SelfSignedCertificate: Hashable, Sendable {
    package let pem: String
    /// A SubjectPublicKeyInfo in DER.
    package let publicKey: [UInt8]
    let alternativeNames: [AlternativeName]

    package enum AlternativeName: Hashable, Sendable {
        case dns(String)
        /// An IP address of 4 or 16 bytes.
        case address([UInt8])
    }

    /// Makes a certificate, signed with SHA-256.
    ///
    /// - Parameters:
    ///   - commonName: name of both subject and issuer.
    ///   - start: seconds since 1970, like `end`.
    package init(
        commonName: String, alternativeNames: [AlternativeName], key: P256Key, start: Int64, end: Int64
    ) throws(CertificateError) {
        let step = "a certificate cannot be made"
        let certificate = try made(X509_new_ex(OpenSSLContext.shared.pointer, nil), step)
        defer { X509_free(certificate) }
        // The encoding counts from 0, so 2 means version 3.
        try succeeded(X509_set_version(certificate, 2), step)
        try Self.setSerialNumber(of: certificate, step)
        _ = try made(ASN1_TIME_set(X509_getm_notBefore(certificate), Int(start)), step)
        _ = try made(ASN1_TIME_set(X509_getm_notAfter(certificate), Int(end)), step)
        let name = try made(X509_get_subject_name(certificate), step)
        let text = Array(commonName.utf8)
        try succeeded(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, Int32(text.count), -1, 0), step)
        try succeeded(X509_set_issuer_name(certificate, name), step)
        try succeeded(X509_set_pubkey(certificate, key.pointer), step)
        try Self.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", to: certificate, step)
        try Self.add(NID_key_usage, "critical,digitalSignature,keyCertSign", to: certificate, step)
        try Self.add(NID_ext_key_usage, "serverAuth", to: certificate, step)
        try Self.add(alternativeNames, to: certificate, step)
        try succeeded(X509_sign(certificate, key.pointer, EVP_sha256()), step)

        pem = try PEM.text(step) { PEM_write_bio_X509($0, certificate) }
        publicKey = try key.publicKey()
        self.alternativeNames = alternativeNames
    }

    /// Reads a certificate. Skips names that are neither DNS names nor addresses.
    package init(pem: String) throws(CertificateError) {
        let step = "the certificate cannot be read"
        // OpenSSL binds the certificate to this library context.
        var read = X509_new_ex(OpenSSLContext.shared.pointer, nil)
        defer { X509_free(read) }
        let certificate = try PEM.value(of: pem, step) { PEM_read_bio_X509($0, &read, PEM.noPassword, nil) }
        self.pem = pem
        publicKey = try DER.bytes(step) { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }
        alternativeNames = Self.alternativeNames(of: certificate)
    }

    // MARK: Parts

    /// Sets a serial number of 16 random bytes: positive and at most 20 bytes (RFC 5280, 4.1.2.2).
    private static func setSerialNumber(of certificate: OpaquePointer, _ step: String) throws(CertificateError) {
        var bytes = [UInt8](repeating: 0, count: 16)
        try succeeded(RAND_bytes_ex(OpenSSLContext.shared.pointer, &bytes, bytes.count, 0), step)
        bytes[0] = bytes[0] & 0x3F | 0x40
        let number = try made(BN_bin2bn(bytes, Int32(bytes.count), nil), step)
        defer { BN_free(number) }
        _ = try made(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)), step)
    }

    /// - Parameter value: the extension's value in the form of x509v3_config(5).
    private static func add(
        _ extensionID: Int32, _ value: String, to certificate: OpaquePointer, _ step: String
    ) throws(CertificateError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, certificate, certificate, nil, nil, 0)
        let made = try made(X509V3_EXT_conf_nid(nil, &context, extensionID, value), step)
        defer { X509_EXTENSION_free(made) }
        try succeeded(X509_add_ext(certificate, made, -1), step)
    }

    /// Adds names one by one, because a comma in the text form of x509v3_config(5) would begin another name.
    private static func add(
        _ names: [AlternativeName], to certificate: OpaquePointer, _ step: String
    ) throws(CertificateError) {
        let list = try made(OPENSSL_sk_new_null(), step)
        defer { GENERAL_NAMES_free(list) }
        for name in names {
            let entry = try made(GENERAL_NAME_new(), step)
            guard OPENSSL_sk_push(list, entry) > 0 else {
                GENERAL_NAME_free(entry)
                throw CertificateError(step)
            }
            let (kind, type, bytes) =
                switch name {
                case .dns(let name): (GEN_DNS, V_ASN1_IA5STRING, Array(name.utf8))
                case .address(let bytes): (GEN_IPADD, V_ASN1_OCTET_STRING, bytes)
                }
            let string = try made(ASN1_STRING_type_new(type), step)
            // From here on, the entry owns the string.
            GENERAL_NAME_set0_value(entry, kind, string)
            try succeeded(ASN1_STRING_set(string, bytes, Int32(bytes.count)), step)
        }
        try succeeded(
            X509_add1_ext_i2d(certificate, NID_subject_alt_name, UnsafeMutableRawPointer(list), 0, 0), step)
    }

    private static func alternativeNames(of certificate: OpaquePointer) -> [AlternativeName] {
        guard let extensionValue = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let list = OpaquePointer(extensionValue)
        defer { GENERAL_NAMES_free(list) }
        return (0..<OPENSSL_sk_num(list)).compactMap { index in
            guard let entry = OPENSSL_sk_value(list, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else {
                return nil
            }
            var kind: Int32 = 0
            guard let value = GENERAL_NAME_get0_value(entry, &kind), kind == GEN_DNS || kind == GEN_IPADD else {
                return nil
            }
            let string = value.assumingMemoryBound(to: ASN1_STRING.self)
            let bytes = Array(
                UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
            return kind == GEN_DNS ? .dns(String(decoding: bytes, as: UTF8.self)) : .address(bytes)
        }
    }
}
