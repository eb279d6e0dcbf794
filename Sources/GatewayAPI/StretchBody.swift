package import Domain

/// `GET /v1/meters/{meter}/stretch`: sums and ranges over a time span.
package struct StretchBody: Codable, Hashable, Sendable {
    package var meter: String
    /// Times of the first and last reading in the span, RFC 3339.
    @NullCodable package var from: String?
    @NullCodable package var to: String?
    /// Number of measurements; for a span longer than a day, of points with means.
    package var readings: Int
    /// Longest averaging interval in the data; 0 if all values are single readings.
    package var resolution_ms: Int64
    /// Time from the first to the last reading, gaps included.
    package var duration_ms: Int64
    package var gap_ms: Int64
    package var gap_count: Int
    /// Charge and energy, signed; integrated by the host.
    @NullCodable package var charge_mAh: Double?
    @NullCodable package var energy_Wh: Double?
    /// Cost of the energy at the meter's present tariff; absent without a tariff.
    package var cost: CostBody?
    /// Charge and energy by the meter's own counters, gaps included.
    @NullCodable package var meter_charge_mAh: Double?
    @NullCodable package var meter_energy_Wh: Double?
    /// Range of each quantity, by the keys of `meterctl watch --json`.
    package var quantities: [String: QuantitySpread]

    package init(meter: String, readings: Int, resolution_ms: Int64, quantities: [String: QuantitySpread]) {
        self.meter = meter
        self.readings = readings
        self.resolution_ms = resolution_ms
        self.quantities = quantities
        (duration_ms, gap_ms, gap_count) = (0, 0, 0)
    }
}

/// `POST /v1/meters/{meter}/recordings`: turns a past time span into a recording.
package struct StretchRecordingRequest: Codable, Hashable, Sendable {
    /// RFC 3339. The span includes `from` and excludes `to`.
    package var from: String
    package var to: String
    package var name: String?

    package init(from: String, to: String, name: String? = nil) {
        self.from = from
        self.to = to
        self.name = name
    }
}
