package import Domain

/// `GET /v1/meters/{meter}/stretch`: what the readings of a stretch of time come to. Unknown is null.
package struct StretchBody: Codable, Hashable, Sendable {
    package var meter: String
    /// RFC 3339: its first and its last reading; null where there is none.
    @NullCodable package var from: String?
    @NullCodable package var to: String?
    /// Measurements; of a stretch longer than a day, the points that were summed up instead.
    package var readings: Int
    /// The longest time of which only a mean is left; 0 where all are single readings.
    package var resolution_ms: Int64
    /// From the first to the last reading, gaps included.
    package var duration_ms: Int64
    package var gap_ms: Int64
    package var gap_count: Int
    /// What flowed, integrated by the host, with its sign.
    @NullCodable package var charge_mAh: Double?
    @NullCodable package var energy_Wh: Double?
    /// What that energy costs at the meter's present tariff; absent without one.
    package var cost: CostBody?
    /// How far the meter's own counters advanced, gaps included.
    @NullCodable package var meter_charge_mAh: Double?
    @NullCodable package var meter_energy_Wh: Double?
    /// By quantity, under the keys of `meterctl watch --json`.
    package var quantities: [String: QuantitySpread]

    package init(meter: String, readings: Int, resolution_ms: Int64, quantities: [String: QuantitySpread]) {
        self.meter = meter
        self.readings = readings
        self.resolution_ms = resolution_ms
        self.quantities = quantities
        (duration_ms, gap_ms, gap_count) = (0, 0, 0)
    }
}

/// `POST /v1/meters/{meter}/recordings`: makes a recording of a stretch that is over.
package struct StretchRecordingRequest: Codable, Hashable, Sendable {
    /// RFC 3339. From this moment on, and before `to`.
    package var from: String
    package var to: String
    /// Null or absent for none.
    package var name: String?

    package init(from: String, to: String, name: String? = nil) {
        self.from = from
        self.to = to
        self.name = name
    }
}
