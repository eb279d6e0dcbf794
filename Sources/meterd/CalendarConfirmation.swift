import CloudClient
import Domain
import LinuxIO
import ServerKit
import Synchronization

/// Confirmation of this machine's wall clock by the kernel's time service or by a cloud on another machine.
final class CalendarConfirmation: Sendable {
    /// Maximum offset from another machine's clock that still confirms this machine's clock.
    static let offsetMax = Duration.seconds(60)

    private let others = Mutex<(@Sendable () async -> Bool)?>(nil)

    /// Sets a second check of the wall clock.
    ///
    /// - Parameter other: check used if the kernel's time service does not confirm the clock.
    func ask(_ other: @escaping @Sendable () async -> Bool) { others.withLock { $0 = other } }

    var isGiven: Bool {
        get async {
            if LinuxClock.isSynchronised == true { return true }
            let other = others.withLock { $0 }
            return await other?() ?? false
        }
    }

    /// Returns whether a cloud at this URL runs on this machine, and therefore uses the same clock.
    static func isThisMachine(_ url: String) -> Bool {
        guard let host = try? CloudAddress(url).host else { return true }
        let own = [HostName.system, "\(HostName.system).local"] + IPAddress.ofThisMachine()
        return IPAddress.isLoopback(host) || own.contains(host)
    }
}
