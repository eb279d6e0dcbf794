import Glibc
import LinuxIO

/// Whether this machine has a Bluetooth adapter that this program may use.
enum RadioAccess: Hashable {
    case none
    /// An adapter exists, but this program lacks the capability to manage it.
    case forbidden
    case usable

    /// CAP_NET_ADMIN, which managing an adapter requires (linux/capability.h; Docs/RadiosAndPlugs.md).
    private static let netAdmin: UInt64 = 1 << 12

    static var present: Self {
        look(
            adapters: FileTree.names(in: "/sys/class/bluetooth"),
            status: FileTree.text(at: "/proc/self/status", bytesMax: 8192) ?? "")
    }

    /// - Parameters:
    ///   - adapters: names in /sys/class/bluetooth, which also contains links such as `hci0:256`.
    ///   - status: text of /proc/self/status, whose line `CapEff` has the effective capabilities in hex
    ///     (proc_pid_status(5)).
    static func look(adapters: [String], status: String) -> Self {
        guard adapters.contains(where: { $0.hasPrefix("hci") && !$0.contains(":") }) else { return .none }
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let digits = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).last
        let capabilities = digits.flatMap { UInt64($0, radix: 16) } ?? 0
        return capabilities & netAdmin != 0 ? .usable : .forbidden
    }
}
