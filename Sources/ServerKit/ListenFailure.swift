import Domain
import Glibc
import NIOCore

/// Message for people about a server that cannot listen at its address.
package struct ListenFailure: Hashable, Sendable {
    package let message: String
    package let next: String

    /// - Parameters:
    ///   - address: the address as people write it.
    ///   - setting: setting that changes the address: "[web] listen in meterd.toml".
    ///   - holder: returns a description of the program that uses the address; nil if unknown.
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
