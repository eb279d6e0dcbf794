package import Domain
package import Logging

extension Announcement.State {
    /// Logs that the services are announced, or why not. Programs work on without it.
    package func log(to logger: Logger) {
        if case .established(let name) = self {
            logger.notice("announced in the network", metadata: ["name": "\(name)"])
        } else if let fault {
            logger.notice(
                "not announced in the network", metadata: ["cause": "\(fault.message)", "next": "\(fault.next)"])
        }
    }
}
