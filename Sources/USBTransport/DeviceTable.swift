package import Domain
package import MeterCodec

/// Known USB devices and their meters. `udev/devices.tsv` is the same list for udev's rules; a test compares the two.
package struct DeviceTable: Hashable, Sendable {
    package var rows: [USBIdentity]
    private let makers: [USBMaker]

    package init(rows: [USBIdentity], of catalogue: MeterCatalogue = .standard) {
        self.rows = rows
        makers = catalogue.families.compactMap(\.usbMaker)
    }

    package init(of catalogue: MeterCatalogue) {
        self.init(rows: catalogue.families.flatMap(\.usbDevices), of: catalogue)
    }

    /// Devices of all supported meters. Docs/Identities.md has the source for each.
    package static let builtIn = DeviceTable(of: .standard)

    /// Vendor ids that many other devices have (ST's boards, CH340 adapters), so they do not identify a meter
    /// (Docs/Identities.md#over-usb).
    package static let ambiguousVendors: Set<UInt16> = [0x0483, 0x1A86]

    package func tells(vendor: UInt16, product: UInt16?) -> Bool {
        guard Self.ambiguousVendors.contains(vendor) else { return true }
        return product.map { metersOwnProducts(of: vendor).contains($0) } ?? false
    }

    /// Whether a device's serial number may not be unique: its maker repeats serial numbers, or the number comes from
    /// example code.
    func sharesSerial(_ device: USBDevice) -> Bool {
        makers.contains { $0.sharesSerials && $0.vendors.contains(device.described.vendor) }
            || device.serial.map { Self.exampleSerials.contains($0) } ?? false
    }

    /// Serial numbers in example code, which some makers leave unchanged. Sources: Keil's USB library
    /// (ARM-software/CMSIS_5 CMSIS/DAP/Firmware/Examples/LPC-Link-II/RTE/USB/USBD_Config_0.c) and ST's virtual serial
    /// port (das-labor/legacy microcontroller/src-stm32f4xx/serialUSB/usbd_desc.c).
    private static let exampleSerials: Set<String> = ["0001A0000000", "00000000050B", "00000000050C"]

    /// Returns the product ids of an ambiguous vendor that only meters have (`USBMaker.ownProducts`).
    package func metersOwnProducts(of vendor: UInt16) -> Set<UInt16> {
        makers.reduce(into: []) { $0.formUnion($1.ownProducts[vendor, default: []]) }
    }

    /// Returns the maker of a device that the table does not list. The outer nil means that the device is probably no
    /// meter, the inner nil that its maker is unknown.
    func unrecognisedMaker(vendor: UInt16, texts: [String]) -> MeterMaker?? {
        if let own = makers.first(where: { $0.vendors.contains(vendor) }) { return .some(own.maker) }
        let named = makers.first { maker in
            maker.word.map { word in texts.contains { $0.lowercased().contains(word) } } ?? false
        }
        if Self.controllerVendors.contains(vendor) { return .some(named?.maker) }
        // Very many boards have ST's vendor id, so require the maker's name.
        return vendor == 0x0483 ? named.map { .some($0.maker) } : nil
    }

    private static let controllerVendors: Set<UInt16> = [0x28E9, 0x2E3C]

    /// Returns the model of a device; nil if it is unknown or not a meter. The most specific matching row wins:
    /// conditions on interface classes rank highest, then a text, then a product id.
    ///
    /// - Parameters:
    ///   - product: product id; nil if unknown.
    ///   - texts: texts of the manufacturer and the product.
    ///   - classes: classes of all interfaces; nil if unknown.
    package func model(
        vendor: UInt16, product: UInt16?, subsystem: USBIdentity.Subsystem, texts: [String], classes: Set<UInt8>? = nil
    ) -> ModelName? {
        let fitting = rows.filter { row in
            guard row.vendor == vendor, row.subsystem == subsystem, row.layout.fits(classes) else { return false }
            guard row.product == nil || row.product == product else { return false }
            guard let match = row.match?.lowercased() else { return tells(vendor: vendor, product: row.product) }
            return texts.contains { $0.lowercased().contains(match) }
        }
        return fitting.max { $0.precision < $1.precision }?.model
    }

    package func lists(vendor: UInt16, product: UInt16, subsystem: USBIdentity.Subsystem) -> Bool {
        rows.contains { row in
            row.vendor == vendor && row.subsystem == subsystem && (row.product ?? product) == product
        }
    }
}

extension USBIdentity {
    fileprivate var precision: Int {
        (layout.isEmpty ? 0 : 4) + (match == nil ? 0 : 2) + (product == nil ? 0 : 1)
    }
}

extension DeviceTable {
    /// Parses a line of `udev/devices.tsv`: tab-separated columns. `#` starts a comment line, `*` means any product,
    /// `-` no text to match. The third column is the kind of node, then interface classes: required ones, and excluded
    /// ones with a leading `!`.
    ///
    /// - Returns: nil for a malformed line.
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
