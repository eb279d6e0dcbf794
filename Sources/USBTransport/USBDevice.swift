package import Domain
import LinuxIO
package import MeterCodec

struct USBDevice: Hashable, Sendable {
    var described: USBSelfDescription
    var productID: UInt16
    /// Serial number; nil if missing or unusable in an id.
    var serial: String?
    /// Position in the kernel's notation: bus number, then port by port (`1-1.4`).
    var port: String
    /// Node of the device itself below `/dev`, such as `bus/usb/001/004`; nil if the kernel reports none.
    var node: String?
    /// Number of the interface to which the searched node belongs; nil if unknown.
    var interface: Int?

    /// Searches upwards from the node's device (a USB interface, or a driver's device below one) for the USB device.
    ///
    /// - Parameter classFolder: the kernel's folder of this kind of node, such as `/sys/class/tty`.
    /// - Returns: nil for a node that is not on USB.
    init?(behind name: String, in classFolder: String) {
        guard var folder = FileTree.canonical("\(classFolder)/\(name)/device") else { return nil }
        var interface: Int?
        // Check at most four folders: below the USB device are an interface and perhaps a port or a HID device.
        for _ in 0..<4 {
            if let device = USBDevice(folder: folder) {
                self = device
                self.interface = interface
                return
            }
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { return nil }
            // An interface's folder: 1-1.4:1.0.
            let name = folder[slash...]
            if name.contains(":"), let dot = name.lastIndex(of: ".") {
                interface = Int(name[name.index(after: dot)...])
            }
            folder = String(folder[..<slash])
        }
        return nil
    }

    private init?(folder: String) {
        guard let vendor = FileTree.text(at: "\(folder)/idVendor").flatMap({ UInt16($0, radix: 16) }),
            let product = FileTree.text(at: "\(folder)/idProduct").flatMap({ UInt16($0, radix: 16) })
        else { return nil }
        productID = product
        serial = FileTree.text(at: "\(folder)/serial").flatMap(Self.usable)
        let port = String(folder[folder.index(after: folder.lastIndex(of: "/") ?? folder.startIndex)...])
        self.port = port
        if let bus = Self.number("busnum", of: folder), let device = Self.number("devnum", of: folder) {
            node = "bus/usb/\(bus)/\(device)"
        }
        // An interface's folder is named by device, configuration and interface number: 1-1.4:1.0.
        let found = FileTree.names(in: folder).filter { $0.hasPrefix("\(port):") }.compactMap { name in
            let subclass = FileTree.text(at: "\(folder)/\(name)/bInterfaceSubClass").flatMap { UInt8($0, radix: 16) }
            return FileTree.text(at: "\(folder)/\(name)/bInterfaceClass").flatMap { UInt8($0, radix: 16) }
                .map { USBSelfDescription.Interface($0, subclass) }
        }
        described = USBSelfDescription(
            vendor: vendor, product: product, manufacturerText: FileTree.text(at: "\(folder)/manufacturer"),
            productText: FileTree.text(at: "\(folder)/product"), interfaces: found.isEmpty ? nil : found)
    }

    /// Returns the attribute's number with at least three digits, as in a node's name (udev's `usb_device` nodes,
    /// drivers/usb/core/usb.c).
    private static func number(_ attribute: String, of folder: String) -> String? {
        guard let number = FileTree.text(at: "\(folder)/\(attribute)").flatMap({ UInt16($0) }) else { return nil }
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    /// Returns the serial number if an id can contain it; otherwise nil. People type ids, so it must be printable ASCII
    /// without blanks. A colon would separate parts of an id.
    private static func usable(_ serial: String) -> String? {
        serial.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") } ? serial : nil
    }
}

extension DeviceTable {
    package func model(behind name: String, _ subsystem: USBIdentity.Subsystem, in classFolder: String) -> ModelName? {
        USBDevice(behind: name, in: classFolder).flatMap { model(of: $0.described, subsystem) }
    }
}
