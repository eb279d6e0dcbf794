import Domain
import FoundationEssentials
import GatewayAPI
import LinuxIO
import USBTransport

/// A USB device's description of itself, as in the rows of Tests/Identities.
struct USBRow: Codable, Hashable {
    var bus = "usb"
    var vid: String
    var pid: String
    /// Device release in BCD: `0200` is 2.00.
    var bcd_device: String?
    var manufacturer: String?
    var product: String?
    /// Configuration descriptors: all interfaces and endpoints, without texts and serial number.
    var config_descriptor_hex: String?
    var interfaces: [Interface]
    var taken_for: TakenFor?

    struct Interface: Codable, Hashable {
        var number: String?
        var `class`: String
        var subclass: String?
        var `protocol`: String?
        /// Kernel driver; null if there is none.
        var driver: String?
    }
}

extension USBRow {
    /// Returns only devices that are or may be meters: others are private.
    ///
    /// - Parameter root: prefix of every path; empty except in tests.
    static func meters(root: String) -> [USBRow] {
        let folder = "\(root)/sys/bus/usb/devices"
        return FileTree.names(in: folder).compactMap { USBRow(folder: "\(folder)/\($0)", port: $0) }
            .filter { $0.isOfInterest }
    }

    /// - Returns: nil if the folder belongs to no device, but for example to an interface.
    private init?(folder: String, port: String) {
        guard let vendor = FileTree.text(at: "\(folder)/idVendor"),
            let product = FileTree.text(at: "\(folder)/idProduct")
        else { return nil }
        vid = vendor.uppercased()
        pid = product.uppercased()
        bcd_device = FileTree.text(at: "\(folder)/bcdDevice")
        manufacturer = FileTree.text(at: "\(folder)/manufacturer")
        self.product = FileTree.text(at: "\(folder)/product")
        // Skip the device descriptor, which comes first and has 18 bytes (USB 2.0, 9.6.1).
        let descriptors = FileTree.bytes(at: "\(folder)/descriptors", atMost: 4096) ?? []
        config_descriptor_hex = descriptors.count > 18 ? Hex.encode(descriptors.dropFirst(18)) : nil
        interfaces = FileTree.names(in: folder).filter { $0.hasPrefix("\(port):") }.compactMap { name in
            let path = "\(folder)/\(name)"
            guard let interfaceClass = FileTree.text(at: "\(path)/bInterfaceClass") else { return nil }
            let driver = FileTree.canonical("\(path)/driver").flatMap { $0.split(separator: "/").last }
            return Interface(
                number: FileTree.text(at: "\(path)/bInterfaceNumber"), class: interfaceClass.uppercased(),
                subclass: FileTree.text(at: "\(path)/bInterfaceSubClass")?.uppercased(),
                protocol: FileTree.text(at: "\(path)/bInterfaceProtocol")?.uppercased(),
                driver: driver.map { String($0) })
        }
    }

    private var isOfInterest: Bool {
        guard let vendor = UInt16(vid, radix: 16), let product = UInt16(pid, radix: 16) else { return false }
        let description = USBSelfDescription(
            vendor: vendor, product: product, manufacturerText: manufacturer, productText: self.product,
            interfaces: interfaces.compactMap { one in
                UInt8(one.class, radix: 16).map {
                    USBSelfDescription.Interface($0, one.subclass.flatMap { UInt8($0, radix: 16) })
                }
            })
        return switch DeviceTable.builtIn.identify(description) {
        case .meter, .unread, .unrecognised: true
        // Include a meter's boot loader, but no other device with a known id, such as a printer.
        case .stranger(let known): known.maker != nil
        case .none: false
        }
    }
}

/// A radio device's description of itself, as in the rows of Tests/Identities.
struct RadioRow: Codable, Hashable {
    /// Kind of link: `ble` or `classic`.
    var bus: String
    var name: String?
    var address: String
    var address_type: String?
    var rssi: Int?
    var adv_hex: String?
    /// Scan response or other broadcast data.
    var scan_response_hex: String?
    var gatt: [Service]?
    var taken_for: TakenFor?

    struct Service: Codable, Hashable {
        var service: String
        var handle: Int
        var characteristics: [Characteristic]

        struct Characteristic: Codable, Hashable {
            var uuid: String
            var handle: Int
            var properties: [String]
            var cccd: Bool?
        }
    }
}
