package import CloudAPI
import Cryptography
package import ServerKit

extension CertificateTerms {
    /// Terms for twenty years, five of them leap years. Hosts recognise the certificate by its pin, whatever its dates.
    package static let cloud = CertificateTerms(commonName: "metercloud", daysValid: 20 * 365 + 5)
}

extension ServerCertificate {
    package var pin: CertificatePin {
        guard let pin = CertificatePin(digest: SHA256.digest(publicKey)) else {
            preconditionFailure("A pin is a digest of SHA-256")
        }
        return pin
    }
}

package struct CloudSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
