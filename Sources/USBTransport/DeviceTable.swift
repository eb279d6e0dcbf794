package import MeterModel

/// Which USB device is which meter. `udev/devices.tsv` is the one list; `DeviceTable.builtIn` is that list for the
/// program, and a test keeps the two alike.
package struct DeviceTable: Hashable, Sendable {
    package var rows: [Row]

    package init(rows: [Row]) { self.rows = rows }

    package struct Row: Hashable, Sendable {
        package var vendor: UInt16
        /// nil: any product of that vendor.
        package var product: UInt16?
        package var subsystem: Subsystem
        /// What the manufacturer's or the product's text must hold, in any case; nil: anything.
        package var match: String?
        package var model: ModelName

        package init(
            _ vendor: UInt16, _ product: UInt16?, _ subsystem: Subsystem, match: String? = nil, _ model: ModelName
        ) {
            self.vendor = vendor
            self.product = product
            self.subsystem = subsystem
            self.match = match
            self.model = model
        }
    }

    /// The kind of device node that the meter is talked to over.
    package enum Subsystem: String, Sendable {
        case tty, hidraw
    }

    /// Vendor ids that many other things carry (ST's boards, CH340 adapters): the number alone claims nothing
    /// (protocols.md 5).
    package static let ambiguousVendors: Set<UInt16> = [0x0483, 0x1A86]

    /// The model of a device, or nil for what is no meter, or cannot be told to be one.
    ///
    /// - Parameter texts: what the device says of its manufacturer and product.
    package func model(vendor: UInt16, product: UInt16, subsystem: Subsystem, texts: [String]) -> ModelName? {
        rows.first { row in
            guard row.vendor == vendor, row.subsystem == subsystem else { return false }
            guard row.product == nil || row.product == product else { return false }
            guard let match = row.match?.lowercased() else { return !Self.ambiguousVendors.contains(vendor) }
            return texts.contains { $0.lowercased().contains(match) }
        }?.model
    }

    /// Whether a device may be a meter at all, as far as its ids tell.
    package func lists(vendor: UInt16, product: UInt16, subsystem: Subsystem) -> Bool {
        rows.contains { row in
            row.vendor == vendor && row.subsystem == subsystem && (row.product ?? product) == product
        }
    }

    /// Sources: protocols.md 2.1, 3.1, 4.1 and 5.
    package static let builtIn = DeviceTable(rows: [
        Row(0x28E9, nil, .tty, match: "RuiDeng", .tc66),
        Row(0x5FC9, 0x0063, .tty, .km003c),
        Row(0x5FC9, 0x0061, .tty, .km002c),
        Row(0x0483, 0x003A, .hidraw, match: "FNB48", .fnb48),
        Row(0x0483, 0x003B, .hidraw, match: "C1", .c1),
        Row(0x2E3C, 0x0049, .hidraw, .fnb48s),
        Row(0x2E3C, 0x5558, .hidraw, .fnb58),
        Row(0x2E3C, 0x5555, .hidraw, .fnb58),
    ])
}

extension DeviceTable {
    /// Reads the form of `udev/devices.tsv`: tab-separated columns, `#` starts a comment line, `*` any product, `-` no
    /// text to match.
    ///
    /// - Returns: nil where a line is not of that form.
    package init?(tsv: String) {
        var rows: [Row] = []
        for line in tsv.split(separator: "\n") where !line.hasPrefix("#") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 6, let vendor = UInt16(columns[0], radix: 16),
                let subsystem = Subsystem(rawValue: columns[2]), let model = ModelName(columns[4])
            else { return nil }
            let product = UInt16(columns[1], radix: 16)
            guard product != nil || columns[1] == "*" else { return nil }
            rows.append(Row(vendor, product, subsystem, match: columns[3] == "-" ? nil : columns[3], model))
        }
        self.init(rows: rows)
    }
}
