import LinuxIO
import MeterCodec

/// A USB device with a serial port or a raw HID node that is not a supported meter.
package struct UnclaimedDevice: Hashable, Sendable {
    /// Names of its nodes, `ttyACM0`.
    package var nodes: [String]
    package var device: USBSelfDescription
    package var verdict: USBIdentification

    package init(nodes: [String], device: USBSelfDescription, verdict: USBIdentification) {
        self.nodes = nodes
        self.device = device
        self.verdict = verdict
    }
}

extension DeviceTable {
    /// Devices that are plugged in and not in this table, each with the reason. Those that do not resemble a meter are
    /// left out.
    ///
    /// - Parameter sysfsFolder: where the kernel lists nodes by kind.
    package func unclaimed(in sysfsFolder: String = "/sys/class") -> [UnclaimedDevice] {
        var found: [(device: USBDevice, nodes: [(USBIdentity.Subsystem, String)])] = []
        for subsystem in USBIdentity.Subsystem.ofInterfaces {
            let folder = "\(sysfsFolder)/\(subsystem.rawValue)"
            for name in FileTree.names(in: folder) {
                guard let device = USBDevice(behind: name, in: folder) else { continue }
                if let place = found.firstIndex(where: { $0.device.port == device.port }) {
                    found[place].nodes.append((subsystem, name))
                } else {
                    found.append((device, [(subsystem, name)]))
                }
            }
        }
        return found.compactMap { device, nodes in
            var description = device.described
            description.nodes = Set(nodes.map(\.0))
            let verdict = identify(description)
            switch verdict {
            case .meter, .none: return nil
            case .unread, .stranger, .unrecognised:
                return UnclaimedDevice(nodes: nodes.map(\.1), device: description, verdict: verdict)
            }
        }
    }
}
