import Domain
import USBTransport

extension Checkup {
    var ports: [Finding] {
        guard !machine.ports.isEmpty else {
            return [
                Finding(
                    "ports", .note, "there is no serial port, and no raw HID node of a meter",
                    next: "plug in a meter with USB")
            ]
        }
        return machine.ports.map { port in
            let path = port.path + (port.model.map { " (\($0.displayName))" } ?? "")
            if port.isOpen { return Finding("ports", .ok, "\(path) is open to \(machine.user)") }
            let mode = String(port.mode, radix: 8)
            let next =
                port.group == "root"
                ? "install the udev rules (udev/README.md) and plug it in again"
                : "sudo usermod -aG \(port.group) \(machine.user), then restart meterd"
            return Finding(
                "ports", .problem, "\(path) is closed to \(machine.user) (group \(port.group), mode \(mode))",
                next: next)
        }
    }

    /// Findings about unidentified devices that may be meters, and about meters that meterd cannot read. `scan --all`
    /// lists further devices.
    var unclaimed: [Finding] {
        machine.unclaimed.compactMap { one in
            let nodes = one.nodes.map { "/dev/\($0)" }.joined(separator: ", ")
            let words = one.verdict.sentence(of: one.device)
            switch one.verdict {
            case .unrecognised: return Finding("unrecognised", .note, "\(nodes) \(words)", next: Self.reporting)
            case .unread(let known) where known.maker != nil:
                return Finding("unread", .note, "\(nodes) (\(one.device.words)) is a \(words)")
            case .unread, .stranger, .meter, .none:
                return nil
            }
        }
    }

    /// Findings about meters that share a serial number, so that only their ports distinguish them.
    var sharedSerials: [Finding] {
        machine.sharedSerials.map { one in
            let ports = one.ports.joined(separator: ", ")
            return Finding(
                "serial", .note,
                one.ports.count > 1
                    ? "the meters in \(ports) (\(one.device.words)) have one serial number, \(one.serial)"
                    : "the meter in \(ports) (\(one.device.words)) has the serial number \(one.serial), as others have",
                next: "leave it in its port, by which meterd knows it; in another one it may be another meter")
        }
    }

    private static let reporting =
        "if it is a FNIRSI meter, try it as [[port]] hidraw with a model; send the output of lsusb -v"

    var rules: [Finding] {
        guard machine.udevRules.isEmpty else {
            return [Finding("udev rules", .ok, machine.udevRules.joined(separator: ", "))]
        }
        guard machine.ports.contains(where: { !$0.isOpen && $0.model != nil }) || machine.runsModemManager else {
            return [Finding("udev rules", .ok, "none of this project's are installed, and none are needed just now")]
        }
        return [
            Finding(
                "udev rules", .problem, "none of this project's are installed",
                next: "install them (udev/README.md): they open meters to the group plugdev and keep ModemManager away")
        ]
    }

    var drivers: [Finding] {
        var all: [Finding] = []
        if machine.runsModemManager, machine.udevRules.isEmpty {
            all.append(
                Finding(
                    "modems", .note, "ModemManager runs, and talks to each new serial port for some seconds",
                    next: "install the udev rules, or without a modem: sudo systemctl disable --now ModemManager"
                ))
        }
        if !machine.powerzInterfaces.isEmpty {
            let interfaces = machine.powerzInterfaces.joined(separator: ", ")
            all.append(
                Finding(
                    "powerz", .ok,
                    "the kernel's powerz driver has \(interfaces); meterd uses the meter's serial port beside it"))
        }
        return all
    }
}
