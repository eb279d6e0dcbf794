import COpenSSL

/// Hash function of FIPS 180-4.
package enum SHA256 {
    package static let length = 32

    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { digest, count in
            let isMade = EVP_Q_digest(
                OpenSSLContext.shared.pointer, "SHA256", nil, bytes, bytes.count, digest.baseAddress, &count)
            precondition(isMade == 1 && count == length, "No memory for SHA-256")
        }
    }
}
