import LinuxIO
import MeterCodec

/// A USB device that has a serial port or a raw HID node, but is no supported meter.
package struct UnclaimedDevice: Hashable, Sendable {
    /// Names such as `ttyACM0`.
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
    /// Returns plugged-in devices that meterd does not read, but that have ids of a meter or of a meter's vendor.
    package func unclaimed(in sysfsFolder: String = "/sys/class") -> [UnclaimedDevice] {
        pluggedDevices(in: sysfsFolder).compactMap { device, nodes in
            let description = device.described(with: nodes)
            let verdict = identify(description)
            switch verdict {
            case .meter, .none: return nil
            case .unread, .stranger, .unrecognised:
                return UnclaimedDevice(nodes: nodes.map(\.1), device: description, verdict: verdict)
            }
        }
    }

    /// Returns the serial numbers of plugged-in meters that other meters, plugged in or not, also have.
    package func sharedSerials(in sysfsFolder: String = "/sys/class") -> [SharedSerial] {
        let meters = pluggedDevices(in: sysfsFolder).compactMap { device, nodes -> SharedSerial? in
            let description = device.described(with: nodes)
            guard case .meter = identify(description), let serial = device.serial else { return nil }
            return SharedSerial(
                device: description, serial: serial, ports: [device.port], isKnown: sharesSerial(device))
        }
        return meters.reduce(into: []) { found, one in
            let place = found.firstIndex { ($0.device, $0.serial) == (one.device, one.serial) }
            if let place { found[place].ports += one.ports } else { found.append(one) }
        }.filter { $0.isKnown || $0.ports.count > 1 }
    }

    private func pluggedDevices(
        in sysfsFolder: String
    ) -> [(device: USBDevice, nodes: [(USBIdentity.Subsystem, String)])] {
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
        return found
    }
}

package struct SharedSerial: Hashable, Sendable {
    package var device: USBSelfDescription
    package var serial: String
    package var ports: [String]
    package var isKnown: Bool

    package init(device: USBSelfDescription, serial: String, ports: [String], isKnown: Bool) {
        self.device = device
        self.serial = serial
        self.ports = ports
        self.isKnown = isKnown
    }
}

extension USBDevice {
    fileprivate func described(with nodes: [(USBIdentity.Subsystem, String)]) -> USBSelfDescription {
        var description = described
        description.nodes = Set(nodes.map(\.0))
        return description
    }
}
