import LinuxIO

extension MachineReader {
    func readBoard(into facts: inout MachineFacts) {
        facts.boardModel = FileTree.text(at: "\(root)/proc/device-tree/model").map { $0.filter { $0 != "\0" } }
        facts.wirelessFrequency = facts.wirelessInterface.flatMap { wirelessFrequency($0) }
        facts.isUnderVoltage = underVoltage
        if facts.boardModel?.contains("Raspberry Pi") == true { facts.radioSwitchedOff = radioSwitchedOff }
    }

    /// Name of the operating system, from the first existing file of os-release(5).
    var systemName: String? {
        for file in ["/etc/os-release", "/usr/lib/os-release"] {
            guard let text = FileTree.contents(at: root + file, atMost: 64 * 1024) else { continue }
            let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("PRETTY_NAME=") }
            return line.map { $0.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" && $0 != "'" } }
        }
        return nil
    }

    /// Whether the under-voltage alarm is set (Linux drivers/hwmon/raspberrypi-hwmon.c, `rpi_volt`, HWMON_I_LCRIT_ALARM
    /// of channel 0); nil without a sensor.
    private var underVoltage: Bool? {
        let folder = "\(root)/sys/class/hwmon"
        let sensor = FileTree.names(in: folder).first { FileTree.text(at: "\(folder)/\($0)/name") == "rpi_volt" }
        return sensor.flatMap { FileTree.text(at: "\(folder)/\($0)/in0_lcrit_alarm") }.map { $0 == "1" }
    }

    /// Line that switches off the radio. Raspberry Pi OS has used the first path since Debian 12, and the second
    /// before. The overlay's older name is an alias (raspberrypi/linux, arch/arm/boot/dts/overlays).
    private var radioSwitchedOff: MachineFacts.Line? {
        for file in ["/boot/firmware/config.txt", "/boot/config.txt"] {
            guard let text = FileTree.contents(at: root + file, atMost: 64 * 1024) else { continue }
            for line in text.split(whereSeparator: \.isNewline) {
                let words = line.filter { $0 != " " && $0 != "\t" }
                if Self.radioOffLines.contains(where: { words == $0 || words.hasPrefix("\($0),") }) {
                    return MachineFacts.Line(file: file, text: words)
                }
            }
        }
        return nil
    }

    private static let radioOffLines = ["dtoverlay=disable-bt", "dtoverlay=pi3-disable-bt"]

    /// Returns the name of the adapter's parent if that is a serial device, whose bus is `serial` (Linux
    /// drivers/tty/serdev/core.c); otherwise nil.
    func serialDevice(below path: String) -> String? {
        guard let bus = FileTree.canonical("\(path)/subsystem"), bus.hasSuffix("/bus/serial"),
            let device = FileTree.canonical(path), let slash = device.lastIndex(of: "/")
        else { return nil }
        return String(device[device.index(after: slash)...])
    }
}

/// Parser of log lines such as `Bluetooth: hci0: command 0x0c03 tx timeout` (Linux net/bluetooth/hci_core.c,
/// `hci_cmd_timeout`). Older kernels have no colon after the adapter.
enum CommandTimeoutLines {
    static func count(in log: String) -> [MachineFacts.CommandTimeouts] {
        var found: [MachineFacts.CommandTimeouts] = []
        for line in log.split(separator: "\n") {
            guard let (adapter, opcode) = parse(line) else { continue }
            if let place = found.firstIndex(where: { $0.adapter == adapter }) {
                found[place].count += 1
                found[place].opcode = opcode
            } else if found.count < 16 {
                found.append(MachineFacts.CommandTimeouts(adapter: adapter, count: 1, opcode: opcode))
            }
        }
        return found
    }

    private static func parse(_ line: Substring) -> (adapter: String, opcode: UInt16)? {
        let words = line.split(separator: " ")
        guard words.suffix(2) == ["tx", "timeout"], let place = words.lastIndex(of: "command"), place > 0,
            place + 1 < words.count, words.contains(where: { $0.hasSuffix("Bluetooth:") }),
            words[place + 1].hasPrefix("0x"), let opcode = UInt16(words[place + 1].dropFirst(2), radix: 16)
        else { return nil }
        let adapter = words[place - 1].last == ":" ? words[place - 1].dropLast() : words[place - 1]
        guard adapter.hasPrefix("hci"), UInt16(adapter.dropFirst(3)) != nil else { return nil }
        return (String(adapter), opcode)
    }
}
