/// `GET /v1/meters/{meter}/series`: readings for a graph. All lists have the same length.
package struct SeriesBody: Codable, Hashable, Sendable {
    package var meter: String
    /// Origin of `t_ms`, RFC 3339.
    package var start: String
    /// Milliseconds that one point covers.
    package var width_ms: Int64
    /// Resolution: `raw` (single readings, or seconds where those are deleted), `1 min` or `1 h`.
    package var tier: String
    /// Longest unmarked gap in milliseconds. A longer one is marked by a point with null in all lists.
    package var gap_ms: Int64
    /// Times of the points' first measurements in milliseconds since `start`, rising.
    package var t_ms: [Int64]
    /// Columns by key of a reading, such as `voltage_V`. Quantities without values are absent.
    package var series: [String: Column]

    /// Values of each point; null where unknown.
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
