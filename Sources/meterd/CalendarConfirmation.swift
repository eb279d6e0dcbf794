import CloudClient
import LinuxIO
import MeterModel
import ServerKit
import Synchronization

/// Whether something besides this machine's own clock says that its calendar is right: the kernel, which a time service
/// keeps synchronised, or a cloud on another machine.
final class CalendarConfirmation: Sendable {
    /// A calendar that differs by no more from another machine's is confirmed by it.
    static let offsetMax = Duration.seconds(60)

    private let others = Mutex<(@Sendable () async -> Bool)?>(nil)

    /// - Parameter other: who may confirm it besides the kernel.
    func ask(_ other: @escaping @Sendable () async -> Bool) { others.withLock { $0 = other } }

    var isGiven: Bool {
        get async {
            if LinuxClock.isSynchronised == true { return true }
            let other = others.withLock { $0 }
            return await other?() ?? false
        }
    }

    /// Whether a cloud at that URL is on this machine: its clock is this one.
    static func isThisMachine(_ url: String) -> Bool {
        guard let host = try? CloudAddress(url).host else { return true }
        let own = [HostName.system, "\(HostName.system).local"] + IPAddress.ofThisMachine()
        return IPAddress.isLoopback(host) || own.contains(host)
    }
}
