import CloudClient
import Domain
import LinuxIO
import ServerKit
import Synchronization

/// Whether this machine's system clock is confirmed by the kernel's time service or by a cloud on another machine.
final class CalendarConfirmation: Sendable {
    /// Maximum offset from the cloud's clock for a confirmation.
    static let offsetMax = Duration.seconds(60)

    private let others = Mutex<(@Sendable () async -> Bool)?>(nil)

    /// Sets the check to use if the kernel's time service does not confirm the system clock.
    func ask(_ other: @escaping @Sendable () async -> Bool) { others.withLock { $0 = other } }

    var isGiven: Bool {
        get async {
            if LinuxClock.isSynchronised == true { return true }
            let other = others.withLock { $0 }
            return await other?() ?? false
        }
    }

    /// Returns whether a cloud at this URL runs on this machine, and so has the same system clock. True for an invalid
    /// URL.
    static func isThisMachine(_ url: String) -> Bool {
        guard let host = try? CloudAddress(url).host else { return true }
        let own = [HostName.system, "\(HostName.system).local"] + IPAddress.ofThisMachine()
        return IPAddress.isLoopback(host) || own.contains(host)
    }
}
