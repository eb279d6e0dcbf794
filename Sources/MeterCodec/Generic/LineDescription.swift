package import Domain

/// What the lines of a board look like, and how it is asked: what a person writes of it (Docs/Meters/GENERIC.md).
package struct LineDescription: Hashable, Sendable {
    package enum Format: String, CaseIterable, Sendable {
        /// `V=5.02;A=0.31`.
        case pairs
        /// `5.02,0.31`.
        case columns
        /// `{"V":5.02,"A":0.31}`: one object a line, without objects or lists in it.
        case json
    }

    /// What proves a line: `*` and hexadecimal digits at its end, over all bytes before the `*`.
    package enum Check: String, CaseIterable, Sendable {
        /// The XOR of the bytes in two digits, as NMEA 0183 has it behind its `$` (gpsd.gitlab.io/gpsd/NMEA.html).
        case xor
        /// CRC-16/MODBUS in four digits: what avr-libc's `_crc16_update` makes of an initial FFFF (avr-libc util/crc16.h).
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
    /// Between two fields. A blank stands for any number of them. Of no meaning in JSON.
    package var separator: UInt8
    /// Between the name and value of a pair.
    package var assignment: UInt8
    /// What a line begins with that says nothing; empty if there is none.
    package var comment: [UInt8]
    package var check: Check?
    /// 1 to `fieldsMax`, each of another quantity.
    package var fields: [LineField]
    /// Number of columns in a line; of no meaning in other formats.
    package var columns: Int
    /// Bits per second.
    package var baudRate: Int
    /// What makes the board send a line; empty for one that sends by itself.
    package var request: [UInt8]
    /// How often it is asked, or how often it sends.
    package var interval: Duration
    /// How long it is left alone after the port was opened, before it is asked.
    package var settle: Duration

    /// As many fields as a frame has room for.
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
        // Where opening the port resets a board, its boot loader listens first: half a second on a Nano, whose data sheet
        // asks for a second of waiting (Arduino A000005, "Automatic (Software) Reset"); 1.5 s were measured on another
        // board (astroscopic.com/blog/disable-arduinos-auto-reset-connection).
        settle = .seconds(2)
    }

    /// What needs no description: pairs whose names are units, `V=5.02;A=0.31;W=1.56;C=24.5`, in any order, not all of
    /// which have to be there.
    package static let usual = LineDescription(
        fields: [("V", .voltage), ("A", .current), ("W", .power), ("C", .temperature)].map { name, quantity in
            var field = LineField(quantity, name: Array(name.utf8))
            field.isOptional = true
            return field
        })

    /// What is made of the sensors of an ESPHome node: a flat object of those that it has, by their quantities. An interval
    /// is what ESPHome's components have where nobody sets another (`update_interval: 60s`).
    package static let node: LineDescription = {
        var description = LineDescription(
            format: .json,
            fields: Quantity.ofNodes.map { quantity in
                var field = LineField(quantity, name: Array(quantity.word.utf8))
                field.isOptional = true
                return field
            })
        description.interval = .seconds(60)
        return description
    }()
}

/// A field of a line: which quantity it holds, and how its number becomes one.
package struct LineField: Hashable, Sendable {
    package var quantity: Quantity
    /// Its name in pairs and JSON.
    package var name: [UInt8]
    /// Its column, from 0.
    package var column: Int
    /// The quantity is the field's number times this, plus `offset`.
    package var factor = 1.0
    /// In the quantity's unit.
    package var offset = 0.0
    /// Values of the quantity that the board can measure, in its unit. A line with another one is refused.
    package var range = -valueMax...valueMax
    /// What stands behind the number, `mA`; empty if nothing does.
    package var unit: [UInt8] = []
    /// Whether a line may lack the field.
    package var isOptional = false

    /// No quantity has a larger number.
    package static let valueMax = 1e9

    package init(_ quantity: Quantity, name: [UInt8] = [], column: Int = 0) {
        self.quantity = quantity
        self.name = name
        self.column = column
    }
}
