package import Domain
import LinuxIO
package import MeterCodec

/// Finds the present device nodes in one scan, and the meters among them.
///
/// Reads /sys directly, so the result does not depend on udevd. Hot-plug events (`UdevMonitor`) only start a scan, so a
/// lost or repeated event does no harm.
package struct PortScanner: Sendable {
    private let host: String
    private let devices: DeviceTable
    private let deviceFolder: String
    private let sysfsFolder: String
    private let awaitsRules: @Sendable (_ sysfsPath: String) -> Bool

    /// - Parameters:
    ///   - host: this host's id, which is part of ids by port.
    ///   - awaitsRules: whether udevd must still set a node's owner and mode (`Udev.awaitsRules`). Such a node counts
    ///     as missing.
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

    package func scan(declared: [DeclaredPort]) -> [Sighting] {
        var names = names
        return merge(self.declared(declared), plugged: Self.sightings(of: plugged(), &names))
    }

    var names: USBNames { USBNames(host: host) }

    /// Returns the declared ports that are present. An ESPHome node always counts as present, so that meterd keeps
    /// trying to connect to it.
    func declared(_ ports: [DeclaredPort]) -> [Sighting] {
        ports.filter { $0.link.transport == .network || FileTree.isCharacterDevice($0.path) }.map { port in
            Sighting(
                id: port.id ?? .port(host: host, path: port.path), model: port.model, name: port.name,
                link: port.link)
        }
    }

    /// Combines declared and plugged-in meters. A declaration takes precedence over USB ids.
    func merge(_ declared: [Sighting], plugged: [Sighting]) -> [Sighting] {
        let declaredNodes = Set(declared.compactMap { FileTree.canonical($0.link.stored) })
        guard !declaredNodes.isEmpty else { return declared + plugged }
        let others = plugged.filter { sighting in
            FileTree.canonical(sighting.link.stored).map { !declaredNodes.contains($0) } ?? true
        }
        return declared + others
    }

    func plugged() -> [PluggedMeter] {
        // Scan terminals first, because they take precedence: if a meter has both kinds of node, its terminal provides
        // all data. Of two terminals, the one of the first interface does (Docs/Protocols/PPK2.md#usb).
        var found: [(device: USBDevice, model: ModelName, link: LinkAddress)] = []
        for node in plugged(.tty) + plugged(.hidraw) {
            guard let place = found.firstIndex(where: { $0.device.port == node.device.port }) else {
                found.append(node)
                continue
            }
            let isSameKind = found[place].link.transport == node.link.transport
            if isSameKind, (node.device.interface ?? .max) < (found[place].device.interface ?? .max) {
                found[place] = node
            }
        }
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

    /// The meter's vendor-specific interface, for data that its serial port lacks; nil if there is none. The kernel
    /// creates this interface's node before the serial port, so callers report it only together with the serial port.
    private func makersLink(of device: USBDevice) -> LinkAddress? {
        guard let path = device.node.map({ "\(deviceFolder)/\($0)" }), FileTree.isCharacterDevice(path),
            devices.model(of: device.described, .usb) != nil, !awaitsRules("\(usbFolder)/\(device.port)")
        else { return nil }
        return .bulk(path: path)
    }

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

    package var transport: LinkAddress.Transport { link(to: "").transport }
}
