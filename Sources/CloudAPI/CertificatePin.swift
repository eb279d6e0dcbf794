import Domain

/// Fingerprint by which a host recognises its cloud: SHA-256 of the certificate's public key (DER of its
/// SubjectPublicKeyInfo), so a renewed certificate with the same key matches. Text: `sha256:` and 64 hex digits.
///
/// A host with a pin checks neither names nor dates, so it reaches its cloud even if its clock is wrong.
package struct CertificatePin: Hashable, Sendable {
    /// 32 bytes.
    package let digest: [UInt8]

    package init?(digest: some Sequence<UInt8>) {
        self.digest = Array(digest)
        guard self.digest.count == 32 else { return nil }
    }

    /// Decodes the form of `description`, in upper or lower case, with or without surrounding blanks.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":" as Character, maxSplits: 1)
        guard parts.count == 2, String(parts[0].filter { $0 != " " }).lowercased() == "sha256",
            let bytes = Hex.decode(parts[1])
        else { return nil }
        self.init(digest: bytes)
    }
}

extension CertificatePin: CustomStringConvertible {
    package var description: String { "sha256:" + Hex.encode(digest) }
}
