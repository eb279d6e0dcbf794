package import Domain
package import MeterCodec

/// Which USB device is which meter, by what their families say. `udev/devices.tsv` is the list of all for udev's rules,
/// and a test keeps the two alike.
package struct DeviceTable: Hashable, Sendable {
    package var rows: [USBIdentity]
    private let makers: [USBMaker]

    /// - Parameter catalogue: tells of makers what their rows do not.
    package init(rows: [USBIdentity], of catalogue: MeterCatalogue = .standard) {
        self.rows = rows
        makers = catalogue.families.compactMap(\.usbMaker)
    }

    /// The devices of all families of a catalogue.
    package init(of catalogue: MeterCatalogue) {
        self.init(rows: catalogue.families.flatMap(\.usbDevices), of: catalogue)
    }

    /// Docs/Identities.md has each device's own words.
    package static let builtIn = DeviceTable(of: .standard)

    /// Vendor ids that many other things have (ST's boards, CH340 adapters): the number alone proves nothing
    /// (Docs/Identities.md#over-usb).
    package static let ambiguousVendors: Set<UInt16> = [0x0483, 0x1A86]

    /// The ids alone say that it is a meter.
    package func tells(vendor: UInt16, product: UInt16?) -> Bool {
        guard Self.ambiguousVendors.contains(vendor) else { return true }
        return product.map { metersOwnProducts(of: vendor).contains($0) } ?? false
    }

    /// Whether a device's serial number names no device: it is of a batch, or of a development kit's example.
    func sharesSerial(_ device: USBDevice) -> Bool {
        makers.contains { $0.sharesSerials && $0.vendors.contains(device.described.vendor) }
            || device.serial.map { Self.exampleSerials.contains($0) } ?? false
    }

    /// Serial numbers that every device has until its maker sets another: the default value of Keil's USB library
    /// (ARM-software/CMSIS_5 CMSIS/DAP/Firmware/Examples/LPC-Link-II/RTE/USB/USBD_Config_0.c), and those of ST's virtual serial
    /// port (das-labor/legacy microcontroller/src-stm32f4xx/serialUSB/usbd_desc.c).
    private static let exampleSerials: Set<String> = ["0001A0000000", "00000000050B", "00000000050C"]

    /// Products of such a vendor that nothing but meters has (`USBMaker.ownProducts`).
    package func metersOwnProducts(of vendor: UInt16) -> Set<UInt16> {
        makers.reduce(into: []) { $0.formUnion($1.ownProducts[vendor, default: []]) }
    }

    /// Whose device it is that no row has; nil where its ids and texts are nothing to report. The maker is nil where a
    /// vendor's controllers are in meters as in other things.
    func unrecognisedMaker(vendor: UInt16, texts: [String]) -> MeterMaker?? {
        if let own = makers.first(where: { $0.vendors.contains(vendor) }) { return .some(own.maker) }
        let named = makers.first { maker in
            maker.word.map { word in texts.contains { $0.lowercased().contains(word) } } ?? false
        }
        if Self.controllerVendors.contains(vendor) { return .some(named?.maker) }
        // ST's number is on countless boards: the maker's own word is needed as well.
        return vendor == 0x0483 ? named.map { .some($0.maker) } : nil
    }

    /// Makers of controllers that are in meters and in other things as well.
    private static let controllerVendors: Set<UInt16> = [0x28E9, 0x2E3C]

    /// The model of a device. Nil if it is not a meter, or cannot be recognised as one. Where several rows match, the one
    /// that asks for most decides: for a layout, then for a text, then for a product.
    ///
    /// - Parameters:
    ///   - product: nil if unknown.
    ///   - texts: the manufacturer's and the product's, as the device reports them.
    ///   - classes: those of all its interfaces; nil if unknown.
    package func model(
        vendor: UInt16, product: UInt16?, subsystem: USBIdentity.Subsystem, texts: [String], classes: Set<UInt8>? = nil
    ) -> ModelName? {
        let fitting = rows.filter { row in
            guard row.vendor == vendor, row.subsystem == subsystem, row.layout.fits(classes) else { return false }
            guard row.product == nil || row.product == product else { return false }
            guard let match = row.match?.lowercased() else { return tells(vendor: vendor, product: row.product) }
            return texts.contains { $0.lowercased().contains(match) }
        }
        // Of rows that ask for as much, the first.
        return fitting.max { $0.precision < $1.precision }?.model
    }

    /// Whether a device may be a meter at all, as far as its ids tell.
    package func lists(vendor: UInt16, product: UInt16, subsystem: USBIdentity.Subsystem) -> Bool {
        rows.contains { row in
            row.vendor == vendor && row.subsystem == subsystem && (row.product ?? product) == product
        }
    }
}

extension USBIdentity {
    /// Greater for a row that asks for more.
    fileprivate var precision: Int {
        (layout.isEmpty ? 0 : 4) + (match == nil ? 0 : 2) + (product == nil ? 0 : 1)
    }
}

extension DeviceTable {
    /// Reads the format of `udev/devices.tsv`: tab-separated columns, `#` starts a comment line, `*` is any product,
    /// `-` no text to match. The third column is the kind of node, then classes of interfaces that the device must
    /// have, and after `!` must not have.
    ///
    /// - Returns: nil where a line is not of that form.
    package init?(tsv: String, of catalogue: MeterCatalogue = .standard) {
        var rows: [USBIdentity] = []
        for line in tsv.split(separator: "\n") where !line.hasPrefix("#") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 6, let vendor = UInt16(columns[0], radix: 16),
                let kind = Self.kind(columns[2]), let model = catalogue.model(named: columns[4])
            else { return nil }
            let product = UInt16(columns[1], radix: 16)
            guard product != nil || columns[1] == "*" else { return nil }
            let match = columns[3] == "-" ? nil : columns[3]
            rows.append(USBIdentity(vendor, product, kind.subsystem, layout: kind.layout, match: match, model))
        }
        self.init(rows: rows, of: catalogue)
    }

    private static func kind(_ text: String) -> (subsystem: USBIdentity.Subsystem, layout: USBIdentity.Layout)? {
        let words = text.split(separator: " ")
        guard let subsystem = words.first.flatMap({ USBIdentity.Subsystem(rawValue: String($0)) }) else { return nil }
        var layout = USBIdentity.Layout()
        for word in words.dropFirst() {
            let isLacking = word.hasPrefix("!")
            guard let number = UInt8(isLacking ? word.dropFirst() : word, radix: 16) else { return nil }
            if isLacking { layout.lacks.insert(number) } else { layout.has.insert(number) }
        }
        return (subsystem, layout)
    }
}
