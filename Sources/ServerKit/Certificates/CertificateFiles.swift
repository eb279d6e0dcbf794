package import Domain
import Glibc
import LinuxIO

package struct CertificateFiles: Hashable, Sendable {
    package let certificatePath: String
    package let keyPath: String

    package init(certificatePath: String, keyPath: String) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
    }

    /// Returns this server's own certificate. Creates a missing one; renews one that expires soon or lacks a name of
    /// `names`. A renewal keeps the key, and so the pin.
    ///
    /// - Parameter more: further names for a new certificate. Their absence causes no renewal.
    package func own(
        _ terms: CertificateTerms, names: Set<String>, more: Set<String> = [], at now: WallTime
    ) throws(CertificateError) -> ServerCertificate {
        let key = try Self.read(keyPath)
        if let key, let text = try Self.read(certificatePath) {
            let certificate = try ServerCertificate(certificatePEM: text, keyPEM: key)
            let renewal = try terms.renewal(of: ServedCertificate(chainPEM: text, keyPEM: key))
            if names.isSubset(of: certificate.names), renewal.map({ now < $0 }) ?? true { return certificate }
        }
        let certificate = try ServerCertificate.make(terms, names: names.union(more), keyPEM: key, at: now)
        if key == nil { try Self.write(certificate.keyPEM, to: keyPath) }
        try Self.write(certificate.certificatePEM, to: certificatePath)
        return certificate
    }

    /// Reads the certificate and key that another program maintains in these files.
    package func served() throws(CertificateError) -> ServedCertificate {
        guard let chain = try Self.read(certificatePath) else {
            throw CertificateError.plain("\(certificatePath) is missing")
        }
        guard let key = try Self.read(keyPath) else { throw CertificateError.plain("\(keyPath) is missing") }
        do throws(CertificateError) {
            return try ServedCertificate(chainPEM: chain, keyPEM: key)
        } catch {
            throw CertificateError.plain("\(certificatePath) with \(keyPath): \(error)")
        }
    }

    /// Inode, size and modification time of both files, to detect a change. A missing file adds no values.
    var stamp: [Int64] { [certificatePath, keyPath].flatMap(Self.stamp) }

    private static func stamp(of path: String) -> [Int64] {
        var status = stat()
        guard stat(path, &status) == 0 else { return [] }
        return [
            Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size), Int64(status.st_mtim.tv_sec),
            Int64(status.st_mtim.tv_nsec),
        ]
    }

    private static func read(_ path: String) throws(CertificateError) -> String? {
        do throws(Errno) {
            return try WholeFile.text(path)
        } catch {
            throw CertificateError.plain("\(path) cannot be read: \(error.words)")
        }
    }

    private static func write(_ text: String, to path: String) throws(CertificateError) {
        do throws(Errno) {
            try WholeFile.replace(path, with: Array(text.utf8))
        } catch {
            throw CertificateError.plain("\(path) cannot be written: \(error.words)")
        }
    }
}

extension CertificateTerms {
    /// Returns the time of renewal; nil if the certificate is never renewed.
    func renewal(of certificate: ServedCertificate) -> WallTime? {
        renewalDays.map { certificate.end + .seconds(-86_400 * $0) }
    }
}
