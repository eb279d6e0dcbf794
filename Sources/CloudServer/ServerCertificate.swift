package import CloudAPI
import Crypto
import FoundationEssentials
package import MeterModel
package import NIOSSL
import ServerKit
import SwiftASN1
import X509

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
        do {
            let key =
                if let keyPEM { try P256.Signing.PrivateKey(pemRepresentation: keyPEM) } else {
                    P256.Signing.PrivateKey()
                }
            let start = max(Double(now.millisecondsSince1970) / 1000, 1_767_225_600) - 86_400
            let subject = try DistinguishedName {
                CommonName("metercloud")
            }
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(),
                publicKey: Certificate.PublicKey(key.publicKey),
                notValidBefore: Date(timeIntervalSince1970: start),
                notValidAfter: Date(timeIntervalSince1970: start + 20 * 365.25 * 86_400),
                issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    Critical(KeyUsage(digitalSignature: true, keyCertSign: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames(names.sorted().map(generalName))
                },
                issuerPrivateKey: Certificate.PrivateKey(key))
            return ServerCertificate(
                certificatePEM: try certificate.serializeAsPEM().pemString, keyPEM: key.pemRepresentation,
                pin: try pin(of: key), names: names)
        } catch {
            throw CloudSetupError("the certificate cannot be made: \(error)")
        }
    }

    /// Reads the result of `make`.
    package init(certificatePEM: String, keyPEM: String) throws(CloudSetupError) {
        do {
            let key = try P256.Signing.PrivateKey(pemRepresentation: keyPEM)
            let certificate = try Certificate(pemEncoded: certificatePEM)
            guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
                throw CloudSetupError("the certificate is not of this key")
            }
            let alternatives = try certificate.extensions.subjectAlternativeNames
            self.init(
                certificatePEM: certificatePEM, keyPEM: keyPEM, pin: try Self.pin(of: key),
                names: Set((alternatives ?? SubjectAlternativeNames([])).compactMap(Self.text)))
        } catch let error as CloudSetupError {
            throw error
        } catch {
            throw CloudSetupError("the certificate or its key cannot be read: \(error)")
        }
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

    private static func pin(of key: P256.Signing.PrivateKey) throws -> CertificatePin {
        guard let pin = CertificatePin(digest: SHA256.hash(data: key.publicKey.derRepresentation)) else {
            throw CloudSetupError("SHA-256 gave no 32 bytes")
        }
        return pin
    }

    private static func generalName(_ name: String) -> GeneralName {
        guard let bytes = IPAddress.bytes(of: name) else { return .dnsName(name) }
        return .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
    }

    private static func text(of name: GeneralName) -> String? {
        switch name {
        case .dnsName(let name): name
        case .ipAddress(let address): IPAddress.text(of: Array(address.bytes))
        default: nil
        }
    }
}

/// Why the cloud's folder or its certificate cannot be created, read or used.
package struct CloudSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
