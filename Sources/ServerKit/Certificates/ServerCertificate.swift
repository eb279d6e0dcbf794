package import Domain
package import NIOSSL

package struct CertificateTerms: Sendable {
    /// Common name of both subject and issuer.
    package var commonName: String
    package var daysValid: Int64
    /// Days before expiry at which the certificate is renewed; nil to use it even after expiry.
    package var renewalDays: Int64?

    package init(commonName: String, daysValid: Int64, renewalDays: Int64? = nil) {
        self.commonName = commonName
        self.daysValid = daysValid
        self.renewalDays = renewalDays
    }
}

/// A self-signed P-256 certificate of a server. A renewal may keep the key, and with it the pin.
package struct ServerCertificate: Sendable {
    package let certificatePEM: String
    package let keyPEM: String
    /// A SubjectPublicKeyInfo in DER.
    package let publicKey: [UInt8]
    package let names: Set<String>

    /// - Parameters:
    ///   - names: DNS names and IP addresses of this server. Not empty.
    ///   - keyPEM: the previous certificate's key, which keeps the pin; nil to make a new key.
    ///   - now: validity starts one day before this time. Times before 2026, as on a machine without a battery for its
    ///     clock, count as the start of 2026.
    package static func make(
        _ terms: CertificateTerms, names: Set<String>, keyPEM: String? = nil, at now: WallTime
    ) throws(CertificateError) -> ServerCertificate {
        let key = if let keyPEM { try P256Key(pem: keyPEM) } else { try P256Key() }
        let start = max(now.millisecondsSince1970 / 1000, 1_767_225_600) - 86_400
        let certificate = try SelfSignedCertificate(
            commonName: terms.commonName, alternativeNames: names.sorted().map(alternativeName), key: key,
            start: start, end: start + terms.daysValid * 86_400)
        return ServerCertificate(
            certificatePEM: certificate.pem, keyPEM: try key.pem(), publicKey: certificate.publicKey, names: names)
    }

    package init(certificatePEM: String, keyPEM: String) throws(CertificateError) {
        let publicKey = try P256Key(pem: keyPEM).publicKey()
        let certificate = try SelfSignedCertificate(pem: certificatePEM)
        guard certificate.publicKey == publicKey else {
            throw CertificateError.plain("the certificate is not of this key")
        }
        self.init(
            certificatePEM: certificatePEM, keyPEM: keyPEM, publicKey: publicKey,
            names: Set(certificate.alternativeNames.compactMap(Self.text)))
    }

    private init(certificatePEM: String, keyPEM: String, publicKey: [UInt8], names: Set<String>) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.publicKey = publicKey
        self.names = names
    }

    package func tlsConfiguration() throws(CertificateError) -> TLSConfiguration {
        try ServedCertificate(chainPEM: certificatePEM, keyPEM: keyPEM).tlsConfiguration
    }

    private static func alternativeName(_ name: String) -> SelfSignedCertificate.AlternativeName {
        IPAddress.bytes(of: name).map { .address($0) } ?? .dns(name)
    }

    private static func text(of name: SelfSignedCertificate.AlternativeName) -> String? {
        switch name {
        case .dns(let name): name
        case .address(let bytes): IPAddress.text(of: bytes)
        }
    }
}
