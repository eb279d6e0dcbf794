import Cryptography
package import Domain
import NIOCore
package import NIOSSL

package struct ServedCertificate: Sendable {
    /// Server configuration for HTTP/1.1 over TLS 1.2 or later.
    package let tlsConfiguration: TLSConfiguration
    /// TLS context made from `tlsConfiguration`. Closes a connection if the client does not answer the TLS shutdown
    /// within a second.
    package let context: NIOSSLContext
    /// SHA-256 of the server's own certificate, in the form of `openssl x509 -fingerprint` and browsers.
    package let fingerprint: String
    package let end: WallTime

    /// - Parameters:
    ///   - chainPEM: the server's own certificate, then the chain to an authority.
    ///   - keyPEM: unencrypted private key.
    package init(chainPEM: String, keyPEM: String) throws(CertificateError) {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(chainPEM.utf8)), let own = chain.first,
            let der = try? own.toDERBytes()
        else { throw CertificateError.plain("the certificate is not in PEM") }
        guard let key = try? NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem) else {
            throw CertificateError.plain("the key is not in PEM, or encrypted")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        tlsConfiguration = configuration
        configuration.shutdownTimeout = .seconds(1)
        guard let context = try? NIOSSLContext(configuration: configuration) else {
            throw CertificateError.plain("the certificate is not of this key")
        }
        self.context = context
        fingerprint = SHA256.digest(der).map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
        end = WallTime(millisecondsSince1970: Int64(own.notValidAfter) * 1000)
    }
}
