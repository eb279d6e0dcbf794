package import MeterModel

/// Which USB device is which meter. `udev/devices.tsv` is the authoritative list; `DeviceTable.builtIn` holds the same
/// list for the program, which a test checks.
package struct DeviceTable: Hashable, Sendable {
    package var rows: [Row]

    package init(rows: [Row]) { self.rows = rows }

    package struct Row: Hashable, Sendable {
        package var vendor: UInt16
        /// Nil for any product of the vendor.
        package var product: UInt16?
        package var subsystem: Subsystem
        /// Interfaces that the device must have, and must not have. Empty if they do not matter.
        package var layout: Layout
        /// What the manufacturer's or the product's text must contain, in upper or lower case. Nil for any text.
        package var match: String?
        package var model: ModelName

        package init(
            _ vendor: UInt16, _ product: UInt16?, _ subsystem: Subsystem, layout: Layout = Layout(),
            match: String? = nil, _ model: ModelName
        ) {
            self.vendor = vendor
            self.product = product
            self.subsystem = subsystem
            self.layout = layout
            self.match = match
            self.model = model
        }
    }

    /// The kind of device node over which the meter is used.
    package enum Subsystem: String, Sendable {
        case tty, hidraw
        /// The device itself, for an interface that no kernel driver makes a node for.
        case usb

        /// The kinds of node that the kernel makes for an interface, by which meters are recognised.
        package static let ofInterfaces: [Subsystem] = [.tty, .hidraw]
    }

    /// Classes of interfaces (USB-IF, Defined Class Codes) in which devices with the same ids differ. Never numbers of
    /// interfaces: those differ between otherwise equal models.
    package struct Layout: Hashable, Sendable {
        package var has: Set<UInt8>
        package var lacks: Set<UInt8>

        package init(has: Set<UInt8> = [], lacks: Set<UInt8> = []) {
            self.has = has
            self.lacks = lacks
        }

        package var isEmpty: Bool { has.isEmpty && lacks.isEmpty }

        /// - Parameter classes: those of all interfaces. If nil (unknown), only a layout without requirements fits.
        package func fits(_ classes: Set<UInt8>?) -> Bool {
            guard !isEmpty else { return true }
            guard let classes else { return false }
            return has.isSubset(of: classes) && lacks.isDisjoint(with: classes)
        }
    }

    /// Vendor ids that many other things have (ST's boards, CH340 adapters): the number alone proves nothing
    /// (Docs/Identities.md#over-usb).
    package static let ambiguousVendors: Set<UInt16> = [0x0483, 0x1A86]

    /// Products of those vendors that only meters have, as far as anybody has published: they need no text, and the one
    /// they have (`USB Tester`) proves nothing.
    package static let metersOwnProducts: [UInt16: Set<UInt16>] = [0x0483: [0x003A, 0x003B]]

    /// Whether the ids alone prove that the device is a meter.
    package static func tells(vendor: UInt16, product: UInt16?) -> Bool {
        guard ambiguousVendors.contains(vendor) else { return true }
        return product.map { metersOwnProducts[vendor, default: []].contains($0) } ?? false
    }

    /// The model of a device. Nil if it is not a meter, or cannot be told to be one. Of two matching rows, the one with
    /// a layout takes precedence.
    ///
    /// - Parameters:
    ///   - product: nil if unknown.
    ///   - texts: the manufacturer's and the product's, as the device reports them.
    ///   - classes: those of all its interfaces; nil if unknown.
    package func model(
        vendor: UInt16, product: UInt16?, subsystem: Subsystem, texts: [String], classes: Set<UInt8>? = nil
    ) -> ModelName? {
        let fitting = rows.filter { row in
            guard row.vendor == vendor, row.subsystem == subsystem, row.layout.fits(classes) else { return false }
            guard row.product == nil || row.product == product else { return false }
            guard let match = row.match?.lowercased() else { return Self.tells(vendor: vendor, product: row.product) }
            return texts.contains { $0.lowercased().contains(match) }
        }
        return (fitting.first { !$0.layout.isEmpty } ?? fitting.first)?.model
    }

    /// Whether a device may be a meter at all, by its ids.
    package func lists(vendor: UInt16, product: UInt16, subsystem: Subsystem) -> Bool {
        rows.contains { row in
            row.vendor == vendor && row.subsystem == subsystem && (row.product ?? product) == product
        }
    }

    /// The texts that each device reports are in Docs/Identities.md.
    package static let builtIn = DeviceTable(rows: [
        Row(0x28E9, nil, .tty, match: "RuiDeng", .tc66),
        Row(0x5FC9, 0x0063, .tty, .km003c),
        Row(0x5FC9, 0x0061, .tty, .km002c),
        Row(0x5FC9, 0x0063, .usb, layout: Layout(has: [0xFF]), .km003c),
        Row(0x5FC9, 0x0061, .usb, layout: Layout(has: [0xFF]), .km002c),
        Row(0x0483, 0x003A, .hidraw, .fnb48),
        Row(0x0483, 0x003B, .hidraw, .c1),
        Row(0x2E3C, 0x0049, .hidraw, .fnb48s),
        Row(0x2E3C, 0x5558, .hidraw, .fnb58),
        Row(0x2E3C, 0x5558, .hidraw, layout: Layout(has: [0x02], lacks: [0x08]), .fnbC2),
        Row(0x2E3C, 0x5555, .hidraw, .fnb58),
        Row(0x0483, 0x0039, .hidraw, match: "FNB-38", .fnb38),
    ])
}

extension DeviceTable {
    /// Reads the format of `udev/devices.tsv`: tab-separated columns, `#` starts a comment line, `*` is any product,
    /// `-` no text to match. The third column is the kind of node, then classes of interfaces that the device must
    /// have, and after `!` must not have.
    ///
    /// - Returns: nil if a line is malformed.
    package init?(tsv: String) {
        var rows: [Row] = []
        for line in tsv.split(separator: "\n") where !line.hasPrefix("#") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 6, let vendor = UInt16(columns[0], radix: 16),
                let kind = Self.kind(columns[2]), let model = ModelName(columns[4])
            else { return nil }
            let product = UInt16(columns[1], radix: 16)
            guard product != nil || columns[1] == "*" else { return nil }
            let match = columns[3] == "-" ? nil : columns[3]
            rows.append(Row(vendor, product, kind.subsystem, layout: kind.layout, match: match, model))
        }
        self.init(rows: rows)
    }

    private static func kind(_ text: String) -> (subsystem: Subsystem, layout: Layout)? {
        let words = text.split(separator: " ")
        guard let subsystem = words.first.flatMap({ Subsystem(rawValue: String($0)) }) else { return nil }
        var layout = Layout()
        for word in words.dropFirst() {
            let isLacking = word.hasPrefix("!")
            guard let number = UInt8(isLacking ? word.dropFirst() : word, radix: 16) else { return nil }
            if isLacking { layout.lacks.insert(number) } else { layout.has.insert(number) }
        }
        return (subsystem, layout)
    }
}
