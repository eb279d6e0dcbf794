/// Writes readings of one meter in InfluxDB's line protocol
/// (<https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>), with times in milliseconds. Field keys
/// of the meter's own counters begin with `own_`, because these are not totals.
package struct PointWriter: Sendable {
    /// Measurement name and tags, with a trailing space.
    private let head: [UInt8]

    /// - Parameters:
    ///   - measurement: not empty.
    ///   - tags: nil values are omitted, because the protocol does not allow empty ones.
    package init(measurement: String, tags: [(key: String, value: String?)]) {
        var head = Self.escaped(measurement, Self.inMeasurement)
        // InfluxDB's documentation advises sorting by key.
        for (key, value) in tags.sorted(by: { $0.key < $1.key }) {
            guard let value, case let text = Self.escaped(value, Self.inTag), !text.isEmpty else { continue }
            head += [UInt8(ascii: ",")] + Self.escaped(key, Self.inTag) + [UInt8(ascii: "=")] + text
        }
        self.head = head + [UInt8(ascii: " ")]
    }

    /// Returns false, and appends nothing, if no value of the reading is known.
    @discardableResult
    package func append(_ time: WallTime, _ reading: Reading, to bytes: inout [UInt8]) -> Bool {
        guard !reading.known.isEmpty else { return false }
        bytes += head
        var isFirst = true
        func field(_ key: String, _ value: Double?) {
            guard let value else { return }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            // These keys need no escaping. A number without a suffix is a float, also with an exponent.
            bytes += key.utf8
            bytes.append(UInt8(ascii: "="))
            bytes += value.description.utf8
        }
        let published = reading.published
        published.known.forEach { field($0.key, published[$0]) }
        field("own_energy_Wh", reading[.energy])
        field("own_charge_mAh", reading[.charge])
        bytes.append(UInt8(ascii: " "))
        bytes += time.millisecondsSince1970.description.utf8
        bytes.append(UInt8(ascii: "\n"))
        return true
    }

    private static let inMeasurement = Set(", ".utf8)
    private static let inTag = Set(",= ".utf8)

    /// Escapes text. Control characters become spaces, because a line end would end the point. A backslash would escape
    /// the next character, so it becomes a slash.
    private static func escaped(_ text: String, _ special: Set<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case ..<0x20, 0x7F: bytes += [UInt8(ascii: "\\"), UInt8(ascii: " ")]
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "/"))
            case _ where special.contains(byte): bytes += [UInt8(ascii: "\\"), byte]
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
