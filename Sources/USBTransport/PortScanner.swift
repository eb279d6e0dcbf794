package import Domain
import LinuxIO
package import MeterCodec

/// Finds, in one look, which device nodes are there and which of them are meters.
///
/// It reads /sys itself, so its result does not depend on udevd. Hot-plug events (`UdevMonitor`) only say when to look:
/// a lost or repeated event changes nothing.
package struct PortScanner: Sendable {
    private let host: String
    private let devices: DeviceTable
    private let deviceFolder: String
    private let sysfsFolder: String
    private let awaitsRules: @Sendable (_ sysfsPath: String) -> Bool

    /// - Parameters:
    ///   - host: this host's id, which is part of ids that only it uses.
    ///   - deviceFolder: the folder of device nodes.
    ///   - sysfsFolder: where the kernel lists nodes by kind.
    ///   - awaitsRules: whether a device's node still has to get its owner and mode, so that opening it might fail
    ///     (`Udev.awaitsRules`). Until then it counts as missing.
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

    /// The meters that are there: declared ports in their order, then those recognised by their USB ids.
    package func scan(declared: [DeclaredPort]) -> [Sighting] {
        var names = names
        return merge(self.declared(declared), plugged: Self.sightings(of: plugged(), &names))
    }

    /// No meter has been met yet.
    var names: USBNames { USBNames(host: host) }

    /// Those of the declared ports that are there. A board in the network is tried again and again.
    func declared(_ ports: [DeclaredPort]) -> [Sighting] {
        ports.filter { $0.link.transport == .network || FileTree.isCharacterDevice($0.path) }.map { port in
            Sighting(
                id: port.id ?? .port(host: host, path: port.path), model: port.model, name: port.name,
                link: port.link)
        }
    }

    /// A person's declaration of a port takes precedence over its ids.
    func merge(_ declared: [Sighting], plugged: [Sighting]) -> [Sighting] {
        let declaredNodes = Set(declared.compactMap { FileTree.canonical($0.link.stored) })
        guard !declaredNodes.isEmpty else { return declared + plugged }
        let others = plugged.filter { sighting in
            FileTree.canonical(sighting.link.stored).map { !declaredNodes.contains($0) } ?? true
        }
        return declared + others
    }

    /// Devices recognised as meters by their ids, with one node each.
    func plugged() -> [PluggedMeter] {
        var taken: Set<String> = []
        // Terminals first: if a meter has both kinds of node, the terminal carries everything.
        let found = (plugged(.tty) + plugged(.hidraw)).filter { taken.insert($0.device.port).inserted }
        return found.map { device, model, link in
            PluggedMeter(
                vendor: device.described.vendor, product: device.productID,
                plug: USBPlug(port: device.port, serial: device.serial), sharesSerial: devices.sharesSerial(device),
                model: model, name: device.described.productText,
                links: [link, makersLink(of: device)].compactMap { $0 })
        }
    }

    static func sightings(of meters: [PluggedMeter], _ names: inout USBNames) -> [Sighting] {
        zip(meters, names.ids(of: meters)).flatMap { meter, id in
            meter.links.map { Sighting(id: id, model: meter.model, name: meter.name, link: $0, plug: meter.plug) }
        }
    }

    /// The meter's vendor-specific interface beside its terminal, for what the terminal does not give. Never alone: the
    /// kernel makes the device's node before the terminal's, which takes precedence.
    private func makersLink(of device: USBDevice) -> LinkAddress? {
        guard let path = device.node.map({ "\(deviceFolder)/\($0)" }), FileTree.isCharacterDevice(path),
            devices.model(of: device.described, .usb) != nil, !awaitsRules("\(usbFolder)/\(device.port)")
        else { return nil }
        return .bulk(path: path)
    }

    /// Where the kernel lists USB devices by their ports, beside the kinds: `/sys/bus/usb/devices`.
    private var usbFolder: String { "\(sysfsFolder)/../bus/usb/devices" }

    private func plugged(
        _ subsystem: USBIdentity.Subsystem
    ) -> [(device: USBDevice, model: ModelName, link: LinkAddress)] {
        let classFolder = "\(sysfsFolder)/\(subsystem.rawValue)"
        return FileTree.names(in: deviceFolder).compactMap { name in
            guard subsystem.nodePrefixes.contains(where: { name.hasPrefix($0) }) else { return nil }
            let path = "\(deviceFolder)/\(name)"
            guard FileTree.isCharacterDevice(path), let device = USBDevice(behind: name, in: classFolder) else {
                return nil
            }
            guard let model = devices.model(of: device.described, subsystem),
                !awaitsRules("\(classFolder)/\(name)")
            else { return nil }
            return (device, model, subsystem.link(to: path))
        }
    }
}

extension USBIdentity.Subsystem {
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
