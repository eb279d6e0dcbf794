package import Domain
package import Logging

extension Announcement.State {
    /// Logs the network announcement of services, or the reason for its absence. Programs work without it.
    package func log(to logger: Logger) {
        if case .established(let name) = self {
            logger.notice("service announced by mDNS", metadata: ["name": "\(name)"])
        } else if let fault {
            logger.notice(
                "service not announced by mDNS", metadata: ["cause": "\(fault.message)", "next": "\(fault.next)"])
        }
    }
}
