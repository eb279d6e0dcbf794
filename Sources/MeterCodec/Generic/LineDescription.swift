package import Domain

/// A user's description of a board's lines and of how to request them (Docs/Meters/GENERIC.md).
package struct LineDescription: Hashable, Sendable {
    package enum Format: String, CaseIterable, Sendable {
        /// Pairs of name and value: `V=5.02;A=0.31`.
        case pairs
        /// Values in a fixed order: `5.02,0.31`.
        case columns
        /// `{"V":5.02,"A":0.31}`: one object per line, without objects or lists in it.
        case json
    }

    /// Checksum at the end of a line: `*` and hexadecimal digits, over all bytes before the `*`.
    package enum Check: String, CaseIterable, Sendable {
        /// XOR of the bytes in two digits, as in NMEA 0183 for the bytes after `$` (gpsd.gitlab.io/gpsd/NMEA.html).
        case xor
        /// CRC-16/MODBUS in four digits: avr-libc's `_crc16_update` with an initial FFFF (avr-libc util/crc16.h).
        case crc16

        package var digits: Int { self == .xor ? 2 : 4 }

        package func value(over bytes: UnsafeRawBufferPointer) -> UInt32 {
            switch self {
            case .xor: UInt32(bytes.reduce(0, ^))
            case .crc16: UInt32(Checksum.crc16Modbus(bytes))
            }
        }
    }

    package var format: Format
    /// Character between two fields. A blank matches any number of blanks. Unused in JSON.
    package var separator: UInt8
    /// Character between the name and value of a pair.
    package var assignment: UInt8
    /// Start of a comment line; empty if the format has no comments.
    package var comment: [UInt8]
    package var check: Check?
    /// 1 to `fieldsMax`, each with a different quantity.
    package var fields: [LineField]
    /// Number of columns; unused in other formats.
    package var columns: Int
    package var baudRate: Int
    /// Bytes that make the board send a line; empty for a board that sends by itself.
    package var request: [UInt8]
    /// Time between two requests, or between two lines of a board that sends by itself.
    package var interval: Duration
    /// Minimum of the interval that a user may set for requests.
    package var shortestInterval: Duration
    /// Time between opening the port and the first request.
    package var settle: Duration

    /// Range of each field's quantity.
    var ranges: [Quantity: ClosedRange<Double>] {
        Dictionary(fields.map { ($0.quantity, $0.range) }, uniquingKeysWith: { first, _ in first })
    }

    static let fieldsMax = 12

    package init(format: Format = .pairs, fields: [LineField]) {
        self.format = format
        separator = UInt8(ascii: format == .columns ? "," : ";")
        assignment = UInt8(ascii: "=")
        comment = Array("#".utf8)
        self.fields = fields
        columns = (fields.map(\.column).max() ?? -1) + 1
        baudRate = 115_200
        request = []
        interval = .seconds(1)
        shortestInterval = .milliseconds(100)
        // Opening the port resets some boards, whose boot loader then waits for an upload: 0.5 s on a Nano (its data
        // sheet recommends 1 s: Arduino A000005, "Automatic (Software) Reset"), 1.5 s on another board
        // (astroscopic.com/blog/disable-arduinos-auto-reset-connection).
        settle = .seconds(2)
    }

    /// Model `generic`: pairs named by their units, `V=5.02;A=0.31;W=1.56;C=24.5`. All are optional, in any order.
    package static let usual = LineDescription(
        fields: [("V", .voltage), ("A", .current), ("W", .power), ("C", .temperature)].map { name, quantity in
            var field = LineField(quantity, name: Array(name.utf8))
            field.isOptional = true
            return field
        })

    /// Description of the model `esphome`. The interval is the default of ESPHome's components
    /// (`update_interval: 60s`).
    package static let node = named(Quantity.ofNodes, each: .seconds(60))

    /// Description of a meter computed by a formula. With this interval, its readings count as stale after three
    /// minutes (Docs/Meters/COMPUTED.md).
    package static let computed = named(Formula.quantities + [.ratio], each: .seconds(60))

    /// Returns the description of a flat JSON object with values named by quantity.
    static func named(_ quantities: [Quantity], each interval: Duration) -> LineDescription {
        var description = LineDescription(
            format: .json,
            fields: quantities.map { quantity in
                var field = LineField(quantity, name: Array(quantity.word.utf8))
                field.isOptional = true
                return field
            })
        description.interval = interval
        return description
    }
}

package struct LineField: Hashable, Sendable {
    package var quantity: Quantity
    /// Name in a line; unused in the format `columns`.
    package var name: [UInt8]
    /// Index of the column, from 0. Unused in pairs and JSON.
    package var column: Int
    /// Quantity = number in the line × `factor` + `offset`.
    package var factor = 1.0
    /// In the quantity's unit.
    package var offset = 0.0
    /// In the quantity's unit. A line with any other value is rejected.
    package var range = -valueMax...valueMax
    /// Text after the number, such as `mA`; may be empty.
    package var unit: [UInt8] = []
    package var isOptional = false

    package static let valueMax = 1e9

    package init(_ quantity: Quantity, name: [UInt8] = [], column: Int = 0) {
        self.quantity = quantity
        self.name = name
        self.column = column
    }
}
