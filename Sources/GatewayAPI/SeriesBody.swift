/// `GET /v1/meters/{meter}/series`: readings over time, ready to be drawn. All lists are of one length.
package struct SeriesBody: Codable, Hashable, Sendable {
    package var meter: String
    /// What `t_ms` counts from, RFC 3339.
    package var start: String
    /// How long a point is, in milliseconds.
    package var width_ms: Int64
    /// What it was made of: `raw` (single readings, seconds where they are gone), `1 min` or `1 h`.
    package var tier: String
    /// Silence longer than this has a point with null in all lists.
    package var gap_ms: Int64
    /// When the first thing at each point was measured, in milliseconds since `start`, rising.
    package var t_ms: [Int64]
    /// By the key of a reading, such as `voltage_V`. A quantity that has no value in the whole time is absent.
    package var series: [String: Column]

    /// The least, the greatest and the mean of each point; null where nothing is known.
    package struct Column: Codable, Hashable, Sendable {
        package var min: [Double?]
        package var max: [Double?]
        package var mean: [Double?]

        package init(min: [Double?], max: [Double?], mean: [Double?]) {
            self.min = min
            self.max = max
            self.mean = mean
        }
    }

    package init(
        meter: String, start: String, width_ms: Int64, tier: String, gap_ms: Int64, t_ms: [Int64],
        series: [String: Column]
    ) {
        self.meter = meter
        self.start = start
        self.width_ms = width_ms
        self.tier = tier
        self.gap_ms = gap_ms
        self.t_ms = t_ms
        self.series = series
    }
}
