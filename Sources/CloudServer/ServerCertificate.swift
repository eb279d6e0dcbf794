package import CloudAPI
import Cryptography
package import Domain
package import NIOSSL
import ServerKit

/// The certificate that the cloud makes for itself at its first start: P-256, self-signed, valid for twenty years.
///
/// Hosts recognise it by its pin, which is of the public key. So the certificate may be renewed for other names, and
/// the pin stays as long as the key does.
package struct ServerCertificate: Sendable {
    package let certificatePEM: String
    package let keyPEM: String
    package let pin: CertificatePin
    /// The names and addresses that it covers, sorted, in the form in which they were given.
    package let names: Set<String>

    /// - Parameters:
    ///   - names: DNS names and IP addresses under which hosts reach this server. Not empty.
    ///   - keyPEM: the key of the previous certificate, so that the pin stays; nil makes a key.
    ///   - now: it is valid from the day before, or from the start of 2026 if this clock is behind that, as one without
    ///     a battery is.
    package static func make(
        names: Set<String>, keyPEM: String? = nil, at now: WallTime
    ) throws(CloudSetupError) -> ServerCertificate {
        do throws(CertificateError) {
            let key = if let keyPEM { try P256Key(pem: keyPEM) } else { try P256Key() }
            let start = max(now.millisecondsSince1970 / 1000, 1_767_225_600) - 86_400
            let certificate = try SelfSignedCertificate(
                commonName: "metercloud", alternativeNames: names.sorted().map(alternativeName), key: key, start: start,
                end: start + daysValid * 86_400)
            return ServerCertificate(
                certificatePEM: certificate.pem, keyPEM: try key.pem(), pin: pin(of: certificate.publicKey),
                names: names)
        } catch {
            throw CloudSetupError("the certificate cannot be made: \(error)")
        }
    }

    /// Twenty years, five of them leap years.
    private static let daysValid: Int64 = 20 * 365 + 5

    /// Reads the result of `make`.
    package init(certificatePEM: String, keyPEM: String) throws(CloudSetupError) {
        let publicKey: [UInt8]
        let certificate: SelfSignedCertificate
        do throws(CertificateError) {
            publicKey = try P256Key(pem: keyPEM).publicKey()
            certificate = try SelfSignedCertificate(pem: certificatePEM)
        } catch {
            throw CloudSetupError("the certificate or its key cannot be read: \(error)")
        }
        guard certificate.publicKey == publicKey else { throw CloudSetupError("the certificate is not of this key") }
        self.init(
            certificatePEM: certificatePEM, keyPEM: keyPEM, pin: Self.pin(of: publicKey),
            names: Set(certificate.alternativeNames.compactMap(Self.text)))
    }

    private init(certificatePEM: String, keyPEM: String, pin: CertificatePin, names: Set<String>) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.pin = pin
        self.names = names
    }

    /// For a server that speaks HTTP/1.1 over TLS 1.2 or later.
    package func tlsConfiguration() throws(CloudSetupError) -> TLSConfiguration {
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return configuration
        } catch {
            throw CloudSetupError("the certificate or its key cannot be used: \(error)")
        }
    }

    private static func pin(of publicKey: [UInt8]) -> CertificatePin {
        guard let pin = CertificatePin(digest: SHA256.digest(publicKey)) else {
            preconditionFailure("A pin is a digest of SHA-256")
        }
        return pin
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

/// Why the cloud's folder or its certificate cannot be created, read or used.
package struct CloudSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
