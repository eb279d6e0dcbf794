package import Domain
package import Logging
package import NIOSSL
import Synchronization

/// The certificate with which a listener serves TLS. It is read again when its files change, and a broken one does not
/// replace the one in use.
package final class TLSKeeper: Sendable {
    /// Where the certificate comes from.
    package enum Source: Sendable {
        /// Somebody else keeps it, for example an ACME client.
        case given
        /// The server makes and renews it. `more` are names for a new one, as `CertificateFiles.own` takes them.
        case own(CertificateTerms, names: @Sendable () -> (Set<String>, more: Set<String>))
    }

    /// How it stands.
    package struct Report: Hashable, Sendable {
        package var isOwn: Bool
        /// SHA-256 of the certificate in use; nil if there is none.
        package var fingerprint: String?
        /// When the certificate in use ends.
        package var end: WallTime?
        /// Why the files are not in use.
        package var error: String?

        package init(isOwn: Bool, fingerprint: String? = nil) { (self.isOwn, self.fingerprint) = (isOwn, fingerprint) }
    }

    private struct State {
        var context: NIOSSLContext?
        var report: Report
        /// Of the files that were read last; nil before that.
        var stamp: [Int64]?
        /// When to renew a certificate of our own.
        var renewal = WallTime(millisecondsSince1970: .max)
    }

    /// How long a renewal that failed waits.
    private static let pause = Duration.seconds(3600)

    private let files: CertificateFiles
    private let source: Source
    private let wallNow: @Sendable () -> WallTime
    private let logger: Logger
    private let state: Mutex<State>

    package init(
        _ files: CertificateFiles, _ source: Source, wallNow: @escaping @Sendable () -> WallTime, logger: Logger
    ) {
        self.files = files
        self.source = source
        self.wallNow = wallNow
        self.logger = logger
        let isOwn = if case .own = source { true } else { false }
        state = Mutex(State(report: Report(isOwn: isOwn)))
    }

    /// For one more connection; nil while no certificate was ever good.
    package func context() -> NIOSSLContext? {
        state.withLock { state in
            look(&state)
            return state.context
        }
    }

    package func report() -> Report {
        state.withLock { state in
            look(&state)
            return state.report
        }
    }

    /// Costs two calls of the kernel while nothing changed.
    private func look(_ state: inout State) {
        let (now, stamp) = (wallNow(), files.stamp)
        guard state.stamp != stamp || now >= state.renewal else { return }
        do throws(CertificateError) {
            let (certificate, renewal) = try load(at: now)
            state.context = certificate.context
            (state.report.fingerprint, state.report.end) = (certificate.fingerprint, certificate.end)
            (state.report.error, state.renewal) = (nil, renewal ?? state.renewal)
            if state.stamp != nil {
                logger.notice("another certificate is in use", metadata: ["sha256": "\(certificate.fingerprint)"])
            }
        } catch {
            state.report.error = "\(error)"
            if now >= state.renewal { state.renewal = now + Self.pause }
            let consequence = state.context == nil ? "https is not served" : "the old certificate stays in use"
            logger.warning("\(consequence)", metadata: ["cause": "\(error)"])
        }
        // What was read of others' files may have changed meanwhile; our own were perhaps written just now.
        state.stamp = state.report.isOwn ? files.stamp : stamp
    }

    private func load(at now: WallTime) throws(CertificateError) -> (ServedCertificate, renewal: WallTime?) {
        switch source {
        case .given: return (try files.served(), nil)
        case .own(let terms, let names):
            let (needed, more) = names()
            _ = try files.own(terms, names: needed, more: more, at: now)
            let certificate = try files.served()
            return (certificate, terms.renewal(of: certificate))
        }
    }
}
