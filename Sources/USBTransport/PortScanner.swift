package import Gateway
import LinuxIO
import MeterModel

/// Looks once at what serial ports are there and which of them are meters.
package struct PortScanner: Sendable {
    private let host: String
    private let devices: DeviceTable
    private let deviceFolder: String
    private let sysfsFolder: String

    /// - Parameters:
    ///   - host: this host's name, part of the ids that only it knows.
    ///   - deviceFolder: where device nodes are.
    ///   - sysfsFolder: where the kernel describes terminals.
    package init(
        host: String, devices: DeviceTable = .builtIn, deviceFolder: String = "/dev",
        sysfsFolder: String = "/sys/class/tty"
    ) {
        self.host = host
        self.devices = devices
        self.deviceFolder = deviceFolder
        self.sysfsFolder = sysfsFolder
    }

    /// The meters that are there: declared ports in their order, then those that tell by their USB ids, by name.
    package func scan(declared: [DeclaredPort]) -> [Sighting] {
        let present = declared.filter { FileTree.isCharacterDevice($0.path) }
        let declaredNodes = Set(present.compactMap { FileTree.canonical($0.path) })
        let declaredSightings = present.map { port in
            Sighting(
                id: port.id ?? .port(host: host, path: port.path), model: port.model, name: port.name,
                link: .serial(path: port.path))
        }
        let found = FileTree.names(in: deviceFolder).compactMap { name -> Sighting? in
            guard name.hasPrefix("ttyACM") || name.hasPrefix("ttyUSB") else { return nil }
            let path = "\(deviceFolder)/\(name)"
            guard FileTree.isCharacterDevice(path) else { return nil }
            // A person's word on a port counts for more than what its ids say.
            if let node = FileTree.canonical(path), declaredNodes.contains(node) { return nil }
            return sighting(of: name, path: path)
        }
        return declaredSightings + found
    }

    private func sighting(of name: String, path: String) -> Sighting? {
        guard let device = USBDevice(ofTerminal: name, in: sysfsFolder) else { return nil }
        let texts = [device.manufacturer, device.product].compactMap { $0 }
        guard
            let model = devices.model(
                vendor: device.vendorID, product: device.productID, subsystem: .tty, texts: texts)
        else { return nil }
        let id: MeterID =
            if let serial = device.serial {
                .usb(vendor: device.vendorID, product: device.productID, serial: serial)
            } else {
                .usbPort(vendor: device.vendorID, product: device.productID, host: host, path: device.port)
            }
        return Sighting(id: id, model: model, name: device.product, link: .serial(path: path))
    }
}
