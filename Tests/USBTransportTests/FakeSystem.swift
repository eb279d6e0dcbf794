import Foundation
import MeterTestKit
import USBTransport

/// A /dev and a /sys in a folder. Terminals are links to /dev/null, which is a character device that everybody has.
final class FakeSystem {
    private let folder: TemporaryFolder
    private let files = FileManager.default

    var deviceFolder: String { folder.path + "/dev" }
    var sysfsFolder: String { folder.path + "/class" }

    init() throws {
        folder = try TemporaryFolder()
        for path in [deviceFolder, sysfsFolder] {
            try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
    }

    func scanner(
        devices: DeviceTable = .builtIn, awaitsRules: @escaping @Sendable (String) -> Bool = { _ in false }
    ) -> PortScanner {
        PortScanner(
            host: "pi", devices: devices, deviceFolder: deviceFolder, sysfsFolder: sysfsFolder, awaitsRules: awaitsRules
        )
    }

    func addNode(_ name: String, as device: String = "/dev/null") throws -> String {
        let path = "\(deviceFolder)/\(name)"
        try files.createSymbolicLink(atPath: path, withDestinationPath: device)
        return path
    }

    /// - Parameter depth: 1: the terminal belongs to the interface (ACM); 2: to a port of the interface (USB serial).
    ///   2 too where it is a raw HID device.
    /// - Parameter interface: of the device that the node belongs to.
    func addDevice(
        _ name: String, port: String, interface: Int = 0, depth: Int = 1, attributes: [String: String]
    ) throws {
        let device = "\(folder.path)/devices/usb1/\(port)"
        let leaf = "\(device)/\(port):1.\(interface)" + (depth == 2 ? "/\(name)" : "")
        let sysfsFolder = "\(sysfsFolder)/\(name.hasPrefix("hidraw") ? "hidraw" : "tty")"
        try files.createDirectory(atPath: leaf, withIntermediateDirectories: true)
        for (key, value) in attributes {
            try (value + "\n").write(toFile: "\(device)/\(key)", atomically: false, encoding: .utf8)
        }
        try files.createDirectory(atPath: "\(sysfsFolder)/\(name)", withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: "\(sysfsFolder)/\(name)/device", withDestinationPath: leaf)
    }

    /// Plugs a device in with all of its interfaces and the nodes that the kernel makes of them.
    ///
    /// - Parameters:
    ///   - number: of its nodes.
    ///   - deviceNumber: of its own node on the bus; nil: it has none.
    func plug(
        _ published: PublishedDevice, port: String, number: Int, busNumber: Int = 1, deviceNumber: Int? = nil
    ) throws {
        if let deviceNumber {
            let folder = "\(folder.path)/devices/usb1/\(port)"
            let node = String(format: "bus/usb/%03d/%03d", busNumber, deviceNumber)
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try files.createDirectory(
                atPath: "\(deviceFolder)/\(node.dropLast(4))", withIntermediateDirectories: true)
            try "\(busNumber)\n".write(toFile: "\(folder)/busnum", atomically: false, encoding: .utf8)
            try "\(deviceNumber)\n".write(toFile: "\(folder)/devnum", atomically: false, encoding: .utf8)
            _ = try addNode(node)
        }
        for (index, one) in published.classes.enumerated() {
            let interface = "\(folder.path)/devices/usb1/\(port)/\(port):1.\(index)"
            try files.createDirectory(atPath: interface, withIntermediateDirectories: true)
            let text = String(one, radix: 16)
            try ("0\(text)".suffix(2) + "\n").write(
                toFile: "\(interface)/bInterfaceClass", atomically: false, encoding: .utf8)
            let name = one == 0x02 ? "ttyACM\(number)" : one == 0x03 ? "hidraw\(number)" : nil
            guard let name else { continue }
            _ = try addNode(name)
            try addDevice(
                name, port: port, interface: index, depth: one == 0x03 ? 2 : 1, attributes: published.attributes)
        }
    }

    func remove(_ path: String) throws { try files.removeItem(atPath: path) }
}
