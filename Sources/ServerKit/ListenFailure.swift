import Domain
import Glibc
import NIOCore

/// Why nothing can be served at an address, in words for people.
package struct ListenFailure: Hashable, Sendable {
    /// What is wrong, with who has the port, where that is known.
    package let message: String
    /// What to do.
    package let next: String

    /// - Parameters:
    ///   - cause: what a server threw.
    ///   - address: as people write it.
    ///   - setting: where another address can be given: "[web] listen in meterd.toml".
    ///   - holder: the program that listens there, in words; nil where it is not known.
    package init(_ cause: any Error, at address: String, setting: String, holder: () -> String?) {
        let code = (cause as? IOError)?.errnoCode
        let why = words(for: cause) { _ in code.map { String(cString: strerror($0)) } }
        let said = "nothing can be served on \(address): \(why)"
        switch code {
        case EADDRINUSE:
            if let holder = holder() {
                message = "\(said), by \(holder)"
                next = "end that one, or choose another port with \(setting)"
            } else {
                message = said
                next = "see who has the port with sudo ss -ltnp, or choose another with \(setting)"
            }
        case EACCES:
            message = said
            next = "ports below 1024 are for root; choose another with \(setting)"
        case EADDRNOTAVAIL:
            message = said
            next = "this machine has no such address at present; choose another with \(setting)"
        default:
            message = said
            next = "choose another address with \(setting)"
        }
    }
}
