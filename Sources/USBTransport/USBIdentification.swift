package import Domain
package import MeterCodec

package enum USBIdentification: Hashable, Sendable {
    case meter(ModelName, USBIdentity.Subsystem)
    /// A known meter that meterd does not read, or a device with ambiguous ids.
    case unread(KnownUSBDevice)
    case stranger(KnownUSBDevice)
    /// An unidentified device with the ids of a vendor of meters. Its maker is nil if unknown.
    case unrecognised(MeterMaker?)
    case none
}

package struct USBSelfDescription: Hashable, Sendable {
    package var vendor: UInt16
    package var product: UInt16?
    package var manufacturerText: String?
    package var productText: String?
    /// Class and subclass of each interface; nil if unknown.
    package var interfaces: [Interface]?
    /// Kinds of device node that the device has; both kinds if unknown.
    package var nodes: Set<USBIdentity.Subsystem>

    package struct Interface: Hashable, Sendable {
        package var interfaceClass: UInt8
        package var subclass: UInt8?

        package init(_ interfaceClass: UInt8, _ subclass: UInt8? = nil) {
            self.interfaceClass = interfaceClass
            self.subclass = subclass
        }
    }

    package init(
        vendor: UInt16, product: UInt16?, manufacturerText: String? = nil, productText: String? = nil,
        interfaces: [Interface]? = nil, nodes: Set<USBIdentity.Subsystem> = Set(USBIdentity.Subsystem.ofInterfaces)
    ) {
        self.vendor = vendor
        self.product = product
        self.manufacturerText = manufacturerText
        self.productText = productText
        self.interfaces = interfaces
        self.nodes = nodes
    }

    package var texts: [String] { [manufacturerText, productText].compactMap { $0 } }
    package var classes: Set<UInt8>? { interfaces.map { Set($0.map(\.interfaceClass)) } }
}

extension DeviceTable {
    package func identify(_ device: USBSelfDescription) -> USBIdentification {
        if let stranger = KnownUSBDevice.strangers.first(where: { $0.fits(device) }) { return .stranger(stranger) }
        for subsystem in USBIdentity.Subsystem.ofInterfaces where device.nodes.contains(subsystem) {
            if let model = model(of: device, subsystem) { return .meter(model, subsystem) }
        }
        if let known = KnownUSBDevice.unread.first(where: { $0.fits(device) }) { return .unread(known) }
        // Do not report a second node of a meter, such as an FNB58's serial port.
        let isMeterElsewhere = rows.contains { row in
            row.vendor == device.vendor && row.product != nil && row.product == device.product
                && tells(vendor: row.vendor, product: row.product)
        }
        guard !isMeterElsewhere else { return .none }
        return unrecognisedMaker(vendor: device.vendor, texts: device.texts).map { .unrecognised($0) } ?? .none
    }

    func model(of device: USBSelfDescription, _ subsystem: USBIdentity.Subsystem) -> ModelName? {
        model(
            vendor: device.vendor, product: device.product, subsystem: subsystem, texts: device.texts,
            classes: device.classes)
    }
}

extension USBSelfDescription.Interface {
    /// Kind of device node that Linux creates for the interface; nil for another class (USB-IF, Defined Class Codes).
    package var node: USBIdentity.Subsystem? {
        switch interfaceClass {
        case 0x02, 0x0A: .tty
        case 0x03: .hidraw
        default: nil
        }
    }
}

extension USBSelfDescription {
    /// Returns the interfaces in a configuration descriptor (USB 2.0, 9.6.5), without alternate settings. The list ends
    /// where the descriptor is truncated.
    package static func interfaces(inConfiguration bytes: [UInt8]) -> [Interface] {
        var found: [Interface] = []
        var numbers: Set<UInt8> = []
        for (type, one) in USBDescriptors(bytes)
        where type == 4 && one.count >= 9 && numbers.insert(one[2]).inserted {
            found.append(Interface(one[5], one[6]))
        }
        return found
    }
}
