/// A log in the meter's own memory, in `GET /v1/meters/{meter}/logs`.
package struct MeterLogBody: Codable, Hashable, Sendable {
    /// Name on the meter's display; null if it is not plain text.
    @NullCodable package var name: String?
    package var samples: Int
    package var interval_ms: Int
    package var duration_s: Int
    /// Charge with the sign of the current.
    package var charge_mAh: Double
    package var energy_Wh: Double

    package init(
        name: String?, samples: Int, interval_ms: Int, duration_s: Int, charge_mAh: Double, energy_Wh: Double
    ) {
        self.name = name
        self.samples = samples
        self.interval_ms = interval_ms
        self.duration_s = duration_s
        self.charge_mAh = charge_mAh
        self.energy_Wh = energy_Wh
    }
}

/// A line of `GET /v1/meters/{meter}/logs/{name}`.
package struct MeterLogSampleLine: Codable, Hashable, Sendable {
    /// Seconds since the log began; the meter records no date.
    package var t: Double
    package var values: ReadingBody

    package init(t: Double, values: ReadingBody) {
        self.t = t
        self.values = values
    }
}
