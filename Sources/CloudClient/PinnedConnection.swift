import AsyncHTTPClient
import CloudAPI
import Crypto
import NIOCore
import NIOSSL

/// The certificate that answered is another one than was pinned.
struct WrongCertificate: Error {
    var found: CertificatePin?
}

extension HTTPClient.Configuration {
    /// How the cloud is spoken to.
    ///
    /// With a pin, the certificate's names, dates and issuer mean nothing, so the usual verification is off; each new
    /// connection is held back until its certificate's key was compared, before a byte of a request is sent on it. The
    /// handshake has proved by then that the other side has that key.
    static func cloud(pin: CertificatePin?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(10)
        // Whoever asked knows better when to try again, and should hear why it failed.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Longer than any heartbeat, so that a renewal need not say hello anew; shorter than the cloud's own patience,
        // which would close a connection under a request.
        configuration.connectionPool.idleTimeout = .seconds(310)
        // The cloud sends a ping each 15 s, so a stream that is silent for longer than two of them is dead.
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
            // The library forgets a connection that fails here without closing it. It has to hear of the failure first,
            // so the closing comes in the loop's next turn.
            checked.whenFailure { _ in channel.eventLoop.execute { channel.close(promise: nil) } }
            return checked
        }
        return configuration
    }
}

extension CertificatePin {
    /// The pin that fits a certificate.
    init?(of certificate: NIOSSLCertificate) throws {
        self.init(digest: SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes()))
    }
}
