package import MeterModel

/// What a USB device is taken for, by its ids, texts and interfaces.
package enum USBIdentification: Hashable, Sendable {
    /// A meter that is read, over this kind of node.
    case meter(ModelName, DeviceTable.Subsystem)
    /// A known meter that cannot be read here, or perhaps one of several things with its ids.
    case unread(KnownUSBDevice)
    /// Its ids are those of a known thing that is no meter.
    case stranger(KnownUSBDevice)
    /// Its ids are of a vendor whose meters are known, and nothing says which it is.
    case unrecognised(MeterMaker?)
    /// Nothing about it is a meter's.
    case none
}

/// A device as it describes itself.
package struct USBSelfDescription: Hashable, Sendable {
    package var vendor: UInt16
    /// nil where it is not known.
    package var product: UInt16?
    package var manufacturerText: String?
    package var productText: String?
    /// Class and subclass of each interface; nil where they are not known.
    package var interfaces: [Interface]?
    /// The kinds of node that it has; both where that is not known.
    package var nodes: Set<DeviceTable.Subsystem>

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
        interfaces: [Interface]? = nil, nodes: Set<DeviceTable.Subsystem> = Set(DeviceTable.Subsystem.ofInterfaces)
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
    /// What a device is: a known stranger, a meter, a known meter that nobody here reads, or something to report.
    package func identify(_ device: USBSelfDescription) -> USBIdentification {
        if let stranger = KnownUSBDevice.strangers.first(where: { $0.fits(device) }) { return .stranger(stranger) }
        for subsystem in Subsystem.ofInterfaces where device.nodes.contains(subsystem) {
            let model = self.model(
                vendor: device.vendor, product: device.product, subsystem: subsystem, texts: device.texts,
                classes: device.classes)
            if let model { return .meter(model, subsystem) }
        }
        if let known = KnownUSBDevice.unread.first(where: { $0.fits(device) }) { return .unread(known) }
        // The other node of a meter that is read over one, as an FNB58's serial port, is nothing to report.
        let isMeterElsewhere = rows.contains { row in
            row.vendor == device.vendor && row.product != nil && row.product == device.product
                && Self.tells(vendor: row.vendor, product: row.product)
        }
        guard !isMeterElsewhere else { return .none }
        let isNamed = device.texts.contains { $0.lowercased().contains("fnirsi") }
        switch device.vendor {
        case 0x5FC9: return .unrecognised(.chargerlab)
        // Makers of controllers that are in other things as well.
        case 0x28E9, 0x2E3C: return .unrecognised(isNamed ? .fnirsi : nil)
        // ST's number is on countless boards: the maker's own word is needed as well.
        case 0x0483 where isNamed: return .unrecognised(.fnirsi)
        default: return .none
        }
    }
}

extension USBSelfDescription.Interface {
    /// The kind of node that Linux makes of it; nil for another class (USB-IF, Defined Class Codes).
    package var node: DeviceTable.Subsystem? {
        switch interfaceClass {
        case 0x02, 0x0A: .tty
        case 0x03: .hidraw
        default: nil
        }
    }
}

extension USBSelfDescription {
    /// The interfaces in a configuration descriptor (USB 2.0, 9.6.5), each once, whatever its alternate settings. What is cut
    /// short ends the list.
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
