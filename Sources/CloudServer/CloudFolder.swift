package import Cloud
import CloudAPI
package import Domain
import LinuxIO
package import ServerKit

package struct CloudFolder: Hashable, Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package var consoleSocketPath: String { "\(path)/console.sock" }
    /// File with the token with which hosts join the zone `home`.
    package var enrolmentTokenPath: String { "\(path)/enrolment.token" }
    package var certificatePath: String { "\(path)/certificate.pem" }
    package var keyPath: String { "\(path)/key.pem" }

    package static let firstZone = "home"

    /// Creates a missing certificate. Renews one that does not cover all names, with the same key and therefore the
    /// same pin.
    package func certificate(names: Set<String>, at now: WallTime) throws(CloudSetupError) -> ServerCertificate {
        do throws(CertificateError) {
            return try CertificateFiles(certificatePath: certificatePath, keyPath: keyPath)
                .own(.cloud, names: names, at: now)
        } catch {
            throw CloudSetupError("\(error)")
        }
    }

    /// Creates whatever the store lacks: the first zone, and a token to join it.
    ///
    /// Writes the file before the store gets its token, so that a crash cannot leave a valid token without a file. A
    /// removed file is not created again: `token create` issues another token.
    ///
    /// - Returns: whether the file exists and holds a valid token.
    package func prepareFirstZone(
        of service: CloudService, makeToken: () -> BearerToken
    ) async throws -> Bool {
        let zone = Self.firstZone
        if !(try await service.zones().contains { $0.name == zone }) {
            _ = try await service.createZone(zone, terms: .standard)
        }
        let known = try await service.credentials(in: zone).filter { $0.kind == .enrolment }
        guard let token = try read(enrolmentTokenPath).flatMap({ BearerToken(text: $0.trimmed) }) else {
            guard known.isEmpty else { return false }
            let token = makeToken()
            try write(token.text + "\n", to: enrolmentTokenPath)
            _ = try await service.addCredential(.enrolment, label: "first", hash: token.hash, in: zone)
            return true
        }
        if let credential = known.first(where: { $0.hash == token.hash }) { return credential.revokedAt == nil }
        guard known.isEmpty else { return false }
        _ = try await service.addCredential(.enrolment, label: "first", hash: token.hash, in: zone)
        return true
    }

    private func read(_ path: String) throws(CloudSetupError) -> String? {
        do throws(Errno) {
            return try WholeFile.text(path)
        } catch {
            throw CloudSetupError("\(path) cannot be read: \(error.words)")
        }
    }

    /// Writes a file that only its owner can read, completely or not at all.
    private func write(_ text: String, to path: String) throws(CloudSetupError) {
        do throws(Errno) {
            try WholeFile.replace(path, with: Array(text.utf8))
        } catch {
            throw CloudSetupError("\(path) cannot be written: \(error.words)")
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(decoding: Array(utf8).trimmingBlanks(), as: UTF8.self)
    }
}
