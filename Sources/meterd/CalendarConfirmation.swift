import CloudClient
import Domain
import LinuxIO
import ServerKit
import Synchronization

/// Whether something besides this machine's own clock confirms its calendar: the kernel, if a time service keeps it
/// synchronised, or a cloud on another machine.
final class CalendarConfirmation: Sendable {
    /// Greatest difference from another machine's calendar that still counts as confirmed by it.
    static let offsetMax = Duration.seconds(60)

    private let others = Mutex<(@Sendable () async -> Bool)?>(nil)

    /// - Parameter other: what may confirm it besides the kernel.
    func ask(_ other: @escaping @Sendable () async -> Bool) { others.withLock { $0 = other } }

    var isGiven: Bool {
        get async {
            if LinuxClock.isSynchronised == true { return true }
            let other = others.withLock { $0 }
            return await other?() ?? false
        }
    }

    /// Whether a cloud at this URL is on this machine, and so uses the same clock.
    static func isThisMachine(_ url: String) -> Bool {
        guard let host = try? CloudAddress(url).host else { return true }
        let own = [HostName.system, "\(HostName.system).local"] + IPAddress.ofThisMachine()
        return IPAddress.isLoopback(host) || own.contains(host)
    }
}
