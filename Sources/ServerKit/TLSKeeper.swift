package import Domain
package import Logging
package import NIOSSL
import Synchronization

/// Maintains a listener's TLS certificate. Reloads it when its files change. An invalid new certificate does not
/// replace the one in use.
package final class TLSKeeper: Sendable {
    package enum Source: Sendable {
        /// Another program maintains the files, for example an ACME client.
        case given
        /// The server makes and renews the certificate, with names as in `CertificateFiles.own`.
        case own(CertificateTerms, names: @Sendable () -> (Set<String>, more: Set<String>))
    }

    package struct Report: Hashable, Sendable {
        package var isOwn: Bool
        package var fingerprint: String?
        package var end: WallTime?
        /// Reason why the certificate's files could not be used; nil if they are in use.
        package var error: String?

        package init(isOwn: Bool, fingerprint: String? = nil) { (self.isOwn, self.fingerprint) = (isOwn, fingerprint) }
    }

    private struct State {
        var context: NIOSSLContext?
        var report: Report
        /// `CertificateFiles.stamp` of the loaded files; nil before the first load.
        var stamp: [Int64]?
        var renewal = WallTime(millisecondsSince1970: .max)
    }

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

    /// Returns the TLS context for a new connection; nil until a valid certificate has been loaded.
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

    /// Loads the files if they have changed or the certificate is due for renewal. Otherwise costs two system calls.
    private func look(_ state: inout State) {
        let (now, stamp) = (wallNow(), files.stamp)
        guard state.stamp != stamp || now >= state.renewal else { return }
        do throws(CertificateError) {
            let (certificate, renewal) = try load(at: now)
            state.context = certificate.context
            (state.report.fingerprint, state.report.end) = (certificate.fingerprint, certificate.end)
            (state.report.error, state.renewal) = (nil, renewal ?? state.renewal)
            if state.stamp != nil {
                logger.notice("certificate replaced", metadata: ["sha256": "\(certificate.fingerprint)"])
            }
        } catch {
            state.report.error = "\(error)"
            if now >= state.renewal { state.renewal = now + Self.pause }
            let message: Logger.Message =
                state.context == nil ? "https not started" : "old certificate stays in use"
            logger.warning(message, metadata: ["cause": "\(error)"])
        }
        // If this server wrote the files, read their new stamp. Otherwise keep the stamp from before loading, so that
        // files that another program changed meanwhile are loaded again.
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
