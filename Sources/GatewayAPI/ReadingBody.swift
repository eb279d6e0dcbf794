package import Domain

/// A reading in JSON. Keys name quantities and end with their units. `null` means that the model has the quantity, but
/// its value is unknown.
package struct ReadingBody: Codable, Hashable, Sendable {
    package var reading: Reading

    package init(_ reading: Reading) { self.reading = reading }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        reading = Reading()
        for quantity in Quantity.allCases where container.contains(TextKey(quantity.key)) {
            reading[quantity] = try container.decode(Double?.self, forKey: TextKey(quantity.key))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try encode(into: &container)
    }

    func encode(into container: inout KeyedEncodingContainer<TextKey>) throws {
        for quantity in Quantity.allCases where reading.supported.contains(quantity) {
            try container.encode(reading[quantity], forKey: TextKey(quantity.key))
        }
    }
}

package struct TextKey: CodingKey, Hashable, Sendable {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ text: String) { stringValue = text }
    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { nil }
}

/// One line of output of `watch`.
package struct ReadingLine: Codable, Hashable, Sendable {
    /// RFC 3339 with milliseconds, UTC.
    package var time: String
    package var values: ReadingBody
    /// Readings dropped before this one because the client was too slow; absent if none.
    package var missed: Int?
    /// Name of the measuring host; absent if it is this host.
    package var measured_by: String?
    /// The meter's data besides readings. Checked once a second; absent if unchanged.
    package var told: TelemetryBody?
    /// Measurements averaged into this line; absent for a single one.
    package var count: Int?
    package var least: ReadingBody?
    package var greatest: ReadingBody?
    /// Only in an export: marks at this reading; absent if the exported period has none.
    package var marks: [String]?

    package init(time: String, values: ReadingBody, missed: Int? = nil) {
        self.time = time
        self.values = values
        self.missed = missed
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        time = try container.decode(String.self, forKey: TextKey("time"))
        missed = try container.decodeIfPresent(Int.self, forKey: TextKey("missed"))
        measured_by = try container.decodeIfPresent(String.self, forKey: TextKey("measured_by"))
        told = try container.decodeIfPresent(TelemetryBody.self, forKey: TextKey("told"))
        count = try container.decodeIfPresent(Int.self, forKey: TextKey("count"))
        least = try container.decodeIfPresent(ReadingBody.self, forKey: TextKey("least"))
        greatest = try container.decodeIfPresent(ReadingBody.self, forKey: TextKey("greatest"))
        marks = try container.decodeIfPresent([String].self, forKey: TextKey("marks"))
        values = try ReadingBody(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(time, forKey: TextKey("time"))
        try container.encodeIfPresent(missed, forKey: TextKey("missed"))
        try container.encodeIfPresent(measured_by, forKey: TextKey("measured_by"))
        try container.encodeIfPresent(told, forKey: TextKey("told"))
        try container.encodeIfPresent(count, forKey: TextKey("count"))
        try container.encodeIfPresent(least, forKey: TextKey("least"))
        try container.encodeIfPresent(greatest, forKey: TextKey("greatest"))
        try container.encodeIfPresent(marks, forKey: TextKey("marks"))
        try values.encode(into: &container)
    }
}
