package import AsyncHTTPClient
package import CloudAPI
import Cryptography
import NIOCore
import NIOSSL

package struct WrongCertificate: Error, CustomStringConvertible {
    package var found: CertificatePin?

    package var description: String { "its pin is \(found.map { "\($0)" } ?? "none"), which is another" }
}

extension HTTPClient.Configuration {
    /// Returns the configuration for connections to the cloud and between its replicas.
    ///
    /// With a pin, only the certificate's key matters, so the usual verification is off. No request is sent before the
    /// handshake has proved that the server has the pinned key.
    package static func cloud(pin: CertificatePin?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(10)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Longer than any heartbeat interval, so that a lease renewal needs no new handshake. Shorter than the cloud's
        // own timeout, which could close a connection during a request.
        configuration.connectionPool.idleTimeout = .seconds(310)
        // Each watched meter has its own endless stream, which must not delay other requests.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 512
        // The cloud sends a ping every 15 s, so a stream without data for two pings is broken.
        configuration.timeout.read = .seconds(40)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        guard let pin else { return configuration }
        configuration.tlsConfiguration?.certificateVerification = .none
        configuration.http1_1ConnectionDebugInitializer = { channel in
            let checked = channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
                let found = try certificate.flatMap { try CertificatePin(of: $0) }
                guard found == pin else { throw WrongCertificate(found: found) }
            }
            // If this check fails, the library drops the connection without closing it. Close it after the library has
            // handled the failure.
            checked.whenFailure { _ in channel.eventLoop.execute { channel.close(promise: nil) } }
            return checked
        }
        return configuration
    }
}

extension CertificatePin {
    init?(of certificate: NIOSSLCertificate) throws {
        self.init(digest: SHA256.digest(try certificate.extractPublicKey().toSPKIBytes()))
    }
}
