import Glibc
import LinuxIO

/// Reads `MachineFacts` from the kernel's files.
struct MachineReader {
    /// In front of every path; empty but in tests.
    var root = ""

    /// - Parameters:
    ///   - user: who runs meterd.
    ///   - folder: where its store is.
    func facts(user: uid_t, storeFolder folder: String?) -> MachineFacts {
        let account = Account(user)
        var facts = MachineFacts(user: account.name)
        facts.kernel = FileTree.text(at: "\(root)/proc/sys/kernel/osrelease")
        facts.ports = FileTree.names(in: "\(root)/dev")
            .filter { name in ["ttyACM", "ttyUSB", "rfcomm"].contains { name.hasPrefix($0) } }
            .compactMap { port("\(root)/dev/\($0)", for: account) }
        facts.adapters = FileTree.names(in: "\(root)/sys/class/bluetooth").filter { !$0.contains(":") }
        facts.bluetoothSwitches = FileTree.names(in: "\(root)/sys/class/rfkill").compactMap { radioSwitch($0) }
        facts.powerzInterfaces = FileTree.names(in: "\(root)/sys/bus/usb/drivers/powerz").filter { $0.contains(":") }
        facts.runsModemManager = FileTree.names(in: "\(root)/proc").contains { name in
            name.first?.isNumber == true && FileTree.text(at: "\(root)/proc/\(name)/comm") == "ModemManager"
        }
        facts.hasHardwareClock = !FileTree.names(in: "\(root)/sys/class/rtc").isEmpty
        facts.isClockSynchronised = LinuxClock.isSynchronised
        facts.freeSpace = folder.flatMap { Self.freeSpace(in: $0) }
        return facts
    }

    private func port(_ path: String, for account: Account) -> MachineFacts.Node? {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        let mode = info.st_mode & 0o777
        return MachineFacts.Node(
            path: path, group: Account.groupName(info.st_gid), mode: mode,
            isOpen: account.isMe
                ? access(path, R_OK | W_OK) == 0 : account.mayUse(owner: info.st_uid, group: info.st_gid, mode: mode))
    }

    private func radioSwitch(_ name: String) -> MachineFacts.RadioSwitch? {
        let folder = "\(root)/sys/class/rfkill/\(name)"
        guard FileTree.text(at: "\(folder)/type") == "bluetooth" else { return nil }
        return MachineFacts.RadioSwitch(
            name: FileTree.text(at: "\(folder)/name") ?? name,
            isOffBySoftware: FileTree.text(at: "\(folder)/soft") == "1",
            isOffByHardware: FileTree.text(at: "\(folder)/hard") == "1")
    }

    private static func freeSpace(in folder: String) -> MachineFacts.FreeSpace? {
        var info = statvfs()
        guard statvfs(folder, &info) == 0 else { return nil }
        let (bytes, isHuge) = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
        return MachineFacts.FreeSpace(folder: folder, bytes: isHuge ? .max : Int64(clamping: bytes))
    }
}

/// A user, and what groups it is in.
private struct Account {
    let id: uid_t
    let name: String
    private let groups: Swift.Set<gid_t>

    init(_ id: uid_t) {
        self.id = id
        guard let record = getpwuid(id)?.pointee, let text = record.pw_name else {
            (name, groups) = ("\(id)", [])
            return
        }
        name = String(cString: text)
        var all = [gid_t](repeating: 0, count: 256)
        var count = Int32(all.count)
        // -1: more than that. The first ones are filled in all the same.
        _ = getgrouplist(text, record.pw_gid, &all, &count)
        groups = Swift.Set(all.prefix(Int(max(0, min(count, 256)))))
    }

    var isMe: Bool { id == geteuid() }

    /// By the mode alone. Access lists, as logind's, are not seen.
    func mayUse(owner: uid_t, group: gid_t, mode: UInt32) -> Bool {
        if id == 0 { return true }
        let bits = owner == id ? mode >> 6 : groups.contains(group) ? mode >> 3 : mode
        return bits & 0o6 == 0o6
    }

    static func groupName(_ id: gid_t) -> String {
        guard let name = getgrgid(id)?.pointee.gr_name else { return "\(id)" }
        return String(cString: name)
    }
}
