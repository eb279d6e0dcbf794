package import Domain
package import Logging

extension Announcement.State {
    /// Logs the announcement of services, or why there is none. Programs work without it.
    package func log(to logger: Logger) {
        if case .established(let name) = self {
            logger.notice("announced in the network", metadata: ["name": "\(name)"])
        } else if let fault {
            logger.notice(
                "not announced in the network", metadata: ["cause": "\(fault.message)", "next": "\(fault.next)"])
        }
    }
}
