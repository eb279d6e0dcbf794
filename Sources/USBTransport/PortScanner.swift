package import IOPorts
import LinuxIO
package import MeterModel

/// Looks once at what device nodes are there and which of them are meters.
///
/// It reads /sys itself, so that it finds the same with and without udevd. Hot-plug events (`UdevMonitor`) only say when
/// to look: an event that is lost or comes twice changes nothing.
package struct PortScanner: Sendable {
    private let host: String
    private let devices: DeviceTable
    private let deviceFolder: String
    private let sysfsFolder: String
    private let awaitsRules: @Sendable (_ sysfsPath: String) -> Bool

    /// - Parameters:
    ///   - host: this host's id, part of the ids that only it knows.
    ///   - deviceFolder: where device nodes are.
    ///   - sysfsFolder: where the kernel lists them by kind.
    ///   - awaitsRules: whether a device's node is still about to get its owner and mode, so that opening it might fail
    ///     (`Udev.awaitsRules`). It is not there until then.
    package init(
        host: String, devices: DeviceTable = .builtIn, deviceFolder: String = "/dev",
        sysfsFolder: String = "/sys/class",
        awaitsRules: @escaping @Sendable (_ sysfsPath: String) -> Bool = { _ in false }
    ) {
        self.host = host
        self.devices = devices
        self.deviceFolder = deviceFolder
        self.sysfsFolder = sysfsFolder
        self.awaitsRules = awaitsRules
    }

    /// The meters that are there: declared ports in their order, then those that tell by their USB ids.
    package func scan(declared: [DeclaredPort]) -> [Sighting] {
        merge(self.declared(declared), plugged: plugged())
    }

    /// Of the ports that a person declared, those that are there.
    func declared(_ ports: [DeclaredPort]) -> [Sighting] {
        ports.filter { FileTree.isCharacterDevice($0.path) }.map { port in
            Sighting(
                id: port.id ?? .port(host: host, path: port.path), model: port.model, name: port.name,
                link: port.link)
        }
    }

    /// A person's word on a port takes precedence than what its ids say.
    func merge(_ declared: [Sighting], plugged: [Sighting]) -> [Sighting] {
        let declaredNodes = Set(declared.compactMap { FileTree.canonical($0.link.stored) })
        guard !declaredNodes.isEmpty else { return plugged }
        let others = plugged.filter { sighting in
            FileTree.canonical(sighting.link.stored).map { !declaredNodes.contains($0) } ?? true
        }
        return declared + others
    }

    /// The devices that tell by their ids that they are meters, by node; one node of each.
    func plugged() -> [Sighting] {
        var taken: Set<String> = []
        // Terminals first: where a meter has both kinds of node, the terminal carries all that it can say.
        let found = (plugged(.tty) + plugged(.hidraw)).filter { taken.insert($0.device.port).inserted }
        // Makers that give every device the same serial are known.
        let serials = found.compactMap { $0.device.serial == nil ? nil : id(of: $0.device) }
        let counts = Dictionary(serials.map { ($0, 1) }, uniquingKeysWith: +)
        return found.flatMap { device, model, link in
            var device = device
            if counts[id(of: device), default: 0] > 1 { device.serial = nil }
            return [link, makersLink(of: device)].compactMap { $0 }.map { link in
                Sighting(id: id(of: device), model: model, name: device.product, link: link)
            }
        }
    }

    /// The meter's own interface beside its terminal, for what that does not give. Never alone: the kernel makes the
    /// device's node before it has made the terminal's, and that comes first.
    private func makersLink(of device: USBDevice) -> LinkAddress? {
        guard let path = device.node.map({ "\(deviceFolder)/\($0)" }), FileTree.isCharacterDevice(path),
            devices.model(of: device, .usb) != nil, !awaitsRules("\(usbFolder)/\(device.port)")
        else { return nil }
        return .bulk(path: path)
    }

    /// Where the kernel lists USB devices by their ports: beside the kinds, `/sys/bus/usb/devices`.
    private var usbFolder: String { "\(sysfsFolder)/../bus/usb/devices" }

    private func plugged(
        _ subsystem: DeviceTable.Subsystem
    ) -> [(device: USBDevice, model: ModelName, link: LinkAddress)] {
        let classFolder = "\(sysfsFolder)/\(subsystem.rawValue)"
        return FileTree.names(in: deviceFolder).compactMap { name in
            guard subsystem.nodePrefixes.contains(where: { name.hasPrefix($0) }) else { return nil }
            let path = "\(deviceFolder)/\(name)"
            guard FileTree.isCharacterDevice(path), let device = USBDevice(behind: name, in: classFolder) else {
                return nil
            }
            guard let model = devices.model(of: device, subsystem), !awaitsRules("\(classFolder)/\(name)") else {
                return nil
            }
            return (device, model, subsystem.link(to: path))
        }
    }

    private func id(of device: USBDevice) -> MeterID {
        if let serial = device.serial {
            .usb(vendor: device.vendorID, product: device.productID, serial: serial)
        } else {
            .usbPort(vendor: device.vendorID, product: device.productID, host: host, path: device.port)
        }
    }
}

extension DeviceTable.Subsystem {
    /// How the nodes are named that meters can be behind.
    fileprivate var nodePrefixes: [String] {
        switch self {
        case .tty: ["ttyACM", "ttyUSB"]
        case .hidraw: ["hidraw"]
        case .usb: []
        }
    }

    func link(to path: String) -> LinkAddress {
        switch self {
        case .tty: .serial(path: path)
        case .hidraw: .hid(path: path)
        case .usb: .bulk(path: path)
        }
    }

    /// The kind of link over such a node.
    package var transport: LinkAddress.Transport { link(to: "").transport }
}
