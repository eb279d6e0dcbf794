import Glibc
import LinuxIO
import MeterCodec
import USBTransport

struct MachineReader {
    /// Prefix of every path; empty except in tests.
    var root = ""
    var wirelessFrequency: (_ interface: String) -> Int? = { WirelessLink.frequency(of: $0) }

    /// - Parameter user: the user that runs meterd.
    func facts(user: uid_t, storeFolder folder: String?) -> MachineFacts {
        let account = Account(user)
        var facts = MachineFacts(user: account.name)
        facts.kernel = FileTree.text(at: "\(root)/proc/sys/kernel/osrelease")
        facts.system = systemName
        let nodes = FileTree.names(in: "\(root)/dev")
        facts.ports =
            nodes.filter { name in ["ttyACM", "ttyUSB", "rfcomm"].contains { name.hasPrefix($0) } }
            .compactMap { port("\(root)/dev/\($0)", for: account) }
            + nodes.filter { $0.hasPrefix("hidraw") }.compactMap { hidNode($0, for: account) }
        facts.unclaimed = DeviceTable.builtIn.unclaimed(in: "\(root)/sys/class")
        facts.sharedSerials = DeviceTable.builtIn.sharedSerials(in: "\(root)/sys/class")
        readRadios(into: &facts)
        facts.udevRules = Self.rulesFiles.filter { file in
            Self.rulesFolders.contains { FileTree.text(at: "\(root)\($0)/\(file)") != nil }
        }
        readBoard(into: &facts)
        facts.commandTimeouts = KernelLog.read(root: root).map { CommandTimeoutLines.count(in: $0) }
        facts.bluetoothSwitches = FileTree.names(in: "\(root)/sys/class/rfkill").compactMap { radioSwitch($0) }
        facts.powerzInterfaces = FileTree.names(in: "\(root)/sys/bus/usb/drivers/powerz").filter { $0.contains(":") }
        let programs = runningPrograms
        facts.runsModemManager = programs.contains("ModemManager")
        if programs.contains("bluetoothd") { facts.bluetoothDaemon = BluetoothDaemon.version(root: root) ?? "" }
        facts.hasHardwareClock = !FileTree.names(in: "\(root)/sys/class/rtc").isEmpty
        facts.isClockSynchronised = LinuxClock.isSynchronised
        facts.freeSpace = folder.flatMap { Self.freeSpace(in: $0) }
        return facts
    }

    private static let rulesFiles = ["60-meter-gateway.rules", "61-meter-gateway-access.rules"]
    private static let rulesFolders = [
        "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d",
    ]

    private func readRadios(into facts: inout MachineFacts) {
        let folder = "\(root)/sys/class/bluetooth"
        facts.adapters = FileTree.names(in: folder).filter { !$0.contains(":") }.sorted().map { name in
            MachineFacts.Adapter(
                name: name, usb: usbIdentity(below: "\(folder)/\(name)/device"),
                serialDevice: serialDevice(below: "\(folder)/\(name)/device"))
        }
        facts.hasBluetooth = !facts.adapters.isEmpty || !FileTree.names(in: "\(root)/sys/module/bluetooth").isEmpty
        facts.wirelessInterface = FileTree.names(in: "\(root)/sys/class/net").sorted().first { name in
            !FileTree.names(in: "\(root)/sys/class/net/\(name)/wireless").isEmpty
                && FileTree.text(at: "\(root)/sys/class/net/\(name)/operstate") == "up"
        }
    }

    private var runningPrograms: Swift.Set<String> {
        let processes = FileTree.names(in: "\(root)/proc").filter { $0.first?.isNumber == true }
        return Swift.Set(processes.compactMap { FileTree.text(at: "\(root)/proc/\($0)/comm") })
    }

    private func usbIdentity(below path: String) -> MachineFacts.USBIdentity? {
        // The adapter is the USB interface; its parent is the device with the ids.
        for folder in [path, "\(path)/.."] {
            if let vendor = FileTree.text(at: "\(folder)/idVendor").flatMap({ UInt16($0, radix: 16) }),
                let product = FileTree.text(at: "\(folder)/idProduct").flatMap({ UInt16($0, radix: 16) })
            {
                return MachineFacts.USBIdentity(vendor: vendor, product: product)
            }
        }
        return nil
    }

    /// Returns only meters: other devices, such as keyboards, have raw HID nodes too.
    private func hidNode(_ name: String, for account: Account) -> MachineFacts.Node? {
        guard let model = DeviceTable.builtIn.model(behind: name, .hidraw, in: "\(root)/sys/class/hidraw") else {
            return nil
        }
        var node = port("\(root)/dev/\(name)", for: account)
        node?.model = model
        return node
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
        // -1 means that there are more groups: ignore them.
        _ = getgrouplist(text, record.pw_gid, &all, &count)
        groups = Swift.Set(all.prefix(Int(max(0, min(count, 256)))))
    }

    var isMe: Bool { id == geteuid() }

    /// Returns whether the account may read and write a file, without regard to access control lists.
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

private enum BluetoothDaemon {
    private static let paths = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]

    /// Returns the version of the installed `bluetoothd`, such as `5.66`; nil if it is not found.
    static func version(root: String) -> String? {
        guard let path = paths.map({ root + $0 }).first(where: { access($0, X_OK) == 0 }),
            let pipe = popen("'\(path)' --version 2>/dev/null", "r")
        else { return nil }
        defer { pclose(pipe) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, Int32(line.count), pipe) != nil else { return nil }
        return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
